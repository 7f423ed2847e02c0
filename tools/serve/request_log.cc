#include "tools/serve/request_log.h"

#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/stdout_sinks.h>

namespace varve::serve {
namespace {

/// About two megabytes of lines.
constexpr std::size_t kLinesWaitingMax = 8192;

}  // namespace

struct AsyncLines::State {
  std::shared_ptr<spdlog::details::thread_pool> pool =
      std::make_shared<spdlog::details::thread_pool>(kLinesWaitingMax, std::size_t{1});
  std::shared_ptr<spdlog::async_logger> logger =
      std::make_shared<spdlog::async_logger>("requests", std::make_shared<spdlog::sinks::stderr_sink_mt>(), pool,
                                             spdlog::async_overflow_policy::overrun_oldest);
};

AsyncLines::AsyncLines() : state_(std::make_unique<State>()) {
  state_->logger->set_pattern("[%Y-%m-%d %H:%M:%S.%e] %v");
}

AsyncLines::~AsyncLines() = default;

void AsyncLines::write(std::string_view line) {
  state_->logger->info("{}", line);
}

std::uint64_t AsyncLines::lost() const {
  return state_->pool->overrun_counter();
}

}  // namespace varve::serve
