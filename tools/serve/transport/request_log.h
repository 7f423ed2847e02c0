// Owns: lines about requests on the standard error stream.
// Must never: make a request wait. If lines arrive faster than they are written, the oldest are lost and counted.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace varve::serve {

/// Can be used by any thread. The destructor waits until the lines are written, if the stream accepts them
/// (LineWriter::finish).
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
