// Owns: lines about requests on the standard error stream.
// Must never: make a request wait: where lines come faster than they are taken, the oldest are lost, and counted.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace varve::serve {

/// Any thread. What was written is on the stream when the object is gone, if the stream takes it (LineWriter::finish).
class AsyncLines {
 public:
  AsyncLines();
  ~AsyncLines();
  AsyncLines(const AsyncLines&) = delete;
  AsyncLines& operator=(const AsyncLines&) = delete;

  void write(std::string_view line);
  std::uint64_t lost() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace varve::serve
