#include "tools/serve/transport/request_log.h"

#include <spdlog/logger.h>
#include <unistd.h>

#include "tools/serve/transport/log_sink.h"

namespace varve::serve {

struct AsyncLines::State {
  LineWriter writer{STDERR_FILENO};
  spdlog::logger logger{"requests", std::make_shared<LogSink>(writer)};
};

AsyncLines::AsyncLines() : state_(std::make_unique<State>()) {
  state_->logger.set_pattern("[%Y-%m-%d %H:%M:%S.%e] %v");
}

AsyncLines::~AsyncLines() = default;

void AsyncLines::write(std::string_view line) {
  state_->logger.info("{}", line);
}

std::uint64_t AsyncLines::lost() const {
  return state_->writer.lost();
}

}  // namespace varve::serve
