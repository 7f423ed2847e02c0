#include "tools/serve/transport/heartbeat.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

namespace varve::serve {
namespace {

/// One late tick, and a loop that is busy for two more, are no reason to end a server.
constexpr int kTicks = 4;

}  // namespace

Heartbeat::Heartbeat(std::vector<boost::asio::io_context*> loops, std::chrono::microseconds time_max,
                     std::function<void()> beat)
    : loops_(std::move(loops)),
      interval_(std::max(time_max / kTicks, std::chrono::microseconds(1))),
      beat_(std::move(beat)),
      timer_(*loops_.front()) {}

void Heartbeat::resume() {
  if (has_ended_) return;
  timer_.expires_after(interval_);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) tick();
  });
}

void Heartbeat::end() {
  has_ended_ = true;
  timer_.cancel();
}

void Heartbeat::tick() {
  resume();
  if (missing_ != 0) return;
  beat_();
  for (boost::asio::io_context* const loop : loops_) {
    if (loop == loops_.front()) continue;
    ++missing_;
    try {
      boost::asio::post(*loop, [this] { --missing_; });
    } catch (...) {
      --missing_;
      throw;
    }
  }
}

}  // namespace varve::serve
