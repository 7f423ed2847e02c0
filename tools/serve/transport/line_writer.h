// Owns: writing lines to a descriptor that may be full, closed or stuck: standard output and standard error.
// Must never: make the writer of a line wait, or delay the end of the process.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace varve::serve {

/// Can be used by any thread. A background thread writes the lines. If lines arrive faster than the descriptor accepts
/// them, the oldest lines are lost and counted. Lines that cannot be written are lost and counted too.
class LineWriter {
 public:
  explicit LineWriter(int descriptor);
  /// Calls finish().
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  /// Queues a line. `text` ends with the line's end. If memory is lacking, the line is lost.
  void write(std::string_view text) noexcept;
  /// Waits until all lines are written, or until the descriptor has accepted nothing for a moment. The remaining lines
  /// are lost in the second case. Nothing is written afterwards.
  void finish() noexcept;
  std::uint64_t lost() const noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace varve::serve
