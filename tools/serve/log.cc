#include "tools/serve/log.h"

#include <memory>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace varve::serve {
namespace {

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> made = spdlog::stderr_logger_mt("varve");
  return *made;
}

}  // namespace

void log_failure(std::string_view request_id, const Status& status) {
  logger().error("request {} failed: {}", request_id, status.to_string());
}

void log_line(std::string_view line) {
  logger().info("{}", line);
}

}  // namespace varve::serve
