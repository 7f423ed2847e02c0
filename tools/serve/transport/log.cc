#include "tools/serve/transport/log.h"

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
};

Log& log() {
  static Log* const made = new Log;  // NOLINT(cppcoreguidelines-owning-memory): see above
  return *made;
}

}  // namespace

void log_failure(std::string_view request_id, const Status& status) {
  log().logger.error("request {} failed: {}", request_id, status.to_string());
}

void log_line(std::string_view line) {
  log().logger.info("{}", line);
}

std::uint64_t lost_log_lines() noexcept {
  return log().writer.lost();
}

void finish_log() noexcept {
  log().writer.finish();
}

}  // namespace varve::serve
