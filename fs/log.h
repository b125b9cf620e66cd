#pragma once

namespace onnxfs {

// Where the log goes: in the foreground to standard error, in the background to syslog, as "onnxfs". Before either is
// said, to standard error.
void log_to_terminal();
void log_to_syslog();

}  // namespace onnxfs
