// Owns: the proof for a watchdog that every loop of the server still runs its handlers.
// Must never: beat while a loop is stuck, or wait for the disk, which a new start would not mend.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace varve::serve {

/// At each tick the first loop looks whether the others have run a handler since the last tick. If so, it beats and asks
/// them again. All functions run on the thread of the first loop, or before the threads start.
class Heartbeat {
 public:
  /// Ticks four times in `time_max`. The loops must outlive this object. `beat` must not throw.
  Heartbeat(std::vector<boost::asio::io_context*> loops, std::chrono::microseconds time_max,
            std::function<void()> beat);

  /// Begins, or continues after a handler was lost for lack of memory. May throw std::bad_alloc.
  void resume();
  /// Ends, so that the first loop has no handler of this object.
  void end();

 private:
  void tick();

  const std::vector<boost::asio::io_context*> loops_;
  const std::chrono::microseconds interval_;
  const std::function<void()> beat_;
  boost::asio::steady_timer timer_;
  /// The loops that have not run their handler of the present round.
  std::atomic<std::size_t> missing_{0};
  bool has_ended_ = false;
};

}  // namespace varve::serve
