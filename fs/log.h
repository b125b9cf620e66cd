#pragma once

#include <string>

namespace onnxfs {

// Where the log goes: in the foreground to standard error, in the background to syslog, as "onnxfs". Before either is
// said, to standard error.
void log_to_terminal();
void log_to_syslog();

// The last lines of the log, with their times: what a program that got no more than an errno was refused, and why.
std::string recent_log();

}  // namespace onnxfs
