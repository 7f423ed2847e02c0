#include "tools/serve/transport/request_log.h"

#include <string>
#include <utility>

#include <spdlog/logger.h>
#include <unistd.h>

#include "tools/serve/transport/log_sink.h"

namespace varve::serve {

struct AsyncLines::State {
  LineWriter writer{STDERR_FILENO};
  spdlog::logger logger{"requests", std::make_shared<LogSink>(writer)};
};

AsyncLines::AsyncLines() = default;

AsyncLines::~AsyncLines() = default;

AsyncLines::State& AsyncLines::state() {
  std::call_once(begun_, [this] {
    auto made = std::make_unique<State>();
    (*made).logger.set_pattern("[%Y-%m-%d %H:%M:%S.%e] %v");
    state_ = std::move(made);
    seen_ = state_.get();
  });
  return *state_;
}

void AsyncLines::write(std::string_view line, LogFormat format) {
  State& lines = state();
  if (format == LogFormat::kText) return lines.logger.info("{}", line);
  lines.writer.write(std::string(line).append("\n"));
}

std::uint64_t AsyncLines::lost() const {
  const State* const lines = seen_;
  return lines == nullptr ? 0 : lines->writer.lost();
}

}  // namespace varve::serve
