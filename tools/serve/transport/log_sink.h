// Owns: passing log lines from spdlog, which formats them, to a writer that never waits.
// Must never: write itself.
#pragma once

#include <mutex>

#include <spdlog/sinks/base_sink.h>

#include "tools/serve/transport/line_writer.h"

namespace varve::serve {

class LogSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  /// The writer must outlive the sink.
  explicit LogSink(LineWriter& writer) noexcept : writer_(writer) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    writer_.write({line.data(), line.size()});
  }
  void flush_() override {}

  LineWriter& writer_;
};

}  // namespace varve::serve
