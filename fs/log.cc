#include "fs/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>
#include <syslog.h>

namespace onnxfs {

void log_to_terminal() {
  spdlog::set_default_logger(spdlog::stderr_logger_mt("terminal"));
  spdlog::set_pattern("onnxfs: %l: %v");
}

void log_to_syslog() { spdlog::set_default_logger(spdlog::syslog_logger_mt("syslog", "onnxfs", LOG_PID)); }

}  // namespace onnxfs
