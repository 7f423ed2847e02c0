#include "tools/serve/transport/log.h"

#include <atomic>
#include <chrono>
#include <memory>

#include <spdlog/spdlog.h>
#include <unistd.h>

#include "tools/serve/transport/log_sink.h"

namespace varve::serve {
namespace {

/// Never destroyed, because threads that outlive main() may write a line.
struct Log {
  LineWriter writer{STDERR_FILENO};
  spdlog::logger logger{"varve", std::make_shared<LogSink>(writer)};
  std::atomic<LogFormat> format{LogFormat::kText};
};

Log& log() {
  static Log* const made = new Log;  // NOLINT(cppcoreguidelines-owning-memory): see above
  return *made;
}

void write_json(std::string_view level, std::string_view message, std::string_view request_id = {}) {
  log().writer.write(log_json(std::chrono::system_clock::now(), level, message, request_id).append("\n"));
}

}  // namespace

void log_failure(std::string_view request_id, const Status& status) {
  if (log().format == LogFormat::kJson) return write_json("error", status.to_string(), request_id);
  log().logger.error("request {} failed: {}", request_id, status.to_string());
}

void log_line(std::string_view line) {
  if (log().format == LogFormat::kJson) return write_json("info", line);
  log().logger.info("{}", line);
}

void log_problem(std::string_view line) {
  if (log().format == LogFormat::kJson) return write_json("error", line);
  log().logger.error("{}", line);
}

void set_log_format(LogFormat format) noexcept {
  log().format = format;
}

LogFormat log_format() noexcept {
  return log().format;
}

std::uint64_t lost_log_lines() noexcept {
  return log().writer.lost();
}

void finish_log() noexcept {
  log().writer.finish();
}

}  // namespace varve::serve
