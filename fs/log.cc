#include "fs/log.h"

#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>
#include <syslog.h>

namespace onnxfs {

namespace {

constexpr size_t lines_kept = 200;

using RecentSink = spdlog::sinks::ringbuffer_sink_mt;

const std::shared_ptr<RecentSink>& recent_sink() {
  static const auto sink = [] {
    auto made = std::make_shared<RecentSink>(lines_kept);
    made->set_pattern("%Y-%m-%d %H:%M:%S %l: %v");
    return made;
  }();
  return sink;
}

void log_to(const spdlog::sink_ptr& sink) {
  const spdlog::sinks_init_list sinks{sink, recent_sink()};
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("onnxfs", sinks));
}

}  // namespace

void log_to_terminal() {
  const auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  sink->set_pattern("onnxfs: %l: %v");
  log_to(sink);
}

void log_to_syslog() { log_to(std::make_shared<spdlog::sinks::syslog_sink_mt>("onnxfs", LOG_PID, LOG_USER, false)); }

std::string recent_log() {
  std::string text;
  for (const std::string& line : recent_sink()->last_formatted()) text += line;
  return text;
}

}  // namespace onnxfs
