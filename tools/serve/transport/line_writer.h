// Owns: lines on their way to a descriptor that may be full, closed or stuck: standard output and standard error.
// Must never: make who writes a line wait, or the end of the process.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace varve::serve {

/// Any thread. A thread of its own writes. Where lines come faster than they are taken, the oldest are lost, and
/// counted; so are those that cannot be written at all.
class LineWriter {
 public:
  explicit LineWriter(int descriptor);
  /// finish().
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  /// `text` ends with its line's end. Without memory it is lost.
  void write(std::string_view text) noexcept;
  /// Waits until all is written, or nothing has been taken for a moment: what is left then is lost. Nothing is written
  /// after that.
  void finish() noexcept;
  std::uint64_t lost() const noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace varve::serve
