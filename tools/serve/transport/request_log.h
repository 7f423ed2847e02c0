// Owns: lines about requests on the standard error stream.
// Must never: make a request wait. If lines arrive faster than they are written, the oldest are lost and counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "tools/serve/watch/log_text.h"

namespace varve::serve {

/// Can be used by any thread. The destructor waits until the lines are written, if the stream accepts them
/// (LineWriter::finish).
class AsyncLines {
 public:
  AsyncLines();
  ~AsyncLines();
  AsyncLines(const AsyncLines&) = delete;
  AsyncLines& operator=(const AsyncLines&) = delete;

  /// Writes a line without its end. A text gets its time; JSON is complete. The first line starts the thread.
  void write(std::string_view line, LogFormat format = LogFormat::kText);
  std::uint64_t lost() const;

 private:
  struct State;
  State& state();
  std::once_flag begun_;
  std::unique_ptr<State> state_;
  std::atomic<const State*> seen_{nullptr};
};

}  // namespace varve::serve
