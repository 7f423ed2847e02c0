#include "tools/varve/reach/rest_alive.h"

#include <chrono>
#include <utility>

namespace varve::tool {
namespace {

/// The server ends connections without requests after 60 s.
constexpr std::chrono::seconds kRequestInterval{15};
/// The most time of such a request. The end of the program may wait for it.
constexpr std::chrono::seconds kRequestTimeMax{5};

}  // namespace

AliveWire::AliveWire(std::shared_ptr<Wire> wire) : wire_(std::move(wire)), thread_([this] { keep_alive(); }) {}

AliveWire::~AliveWire() {
  {
    const std::lock_guard lock(mutex_);
    is_ended_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

Result<serve::HttpResponse> AliveWire::send(serve::HttpRequest request) {
  const std::lock_guard lock(mutex_);
  is_used_ = true;
  return wire_->send(std::move(request));
}

void AliveWire::keep_alive() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kRequestInterval, [this] { return is_ended_; })) {
    if (std::exchange(is_used_, false)) continue;
    (void)wire_->send(request_to("GET", "/_varve/store"), kRequestTimeMax);
  }
}

}  // namespace varve::tool
