// Owns: how the wait of a C call ends early: when its store is being closed, or when the caller's stop asks.
// Must never: outlive the call.
#pragma once

#include <optional>
#include <stop_token>
#include <utility>

#include "api/c/call.h"
#include "api/c/gate.h"
#include "api/c/queues.h"
#include "varve/c.h"
#include "varve/result.h"

namespace varve::c {

/// Stops when the store is being closed, or when a caller requests it.
class WaitEnd {
 public:
  WaitEnd(std::stop_token closing, std::stop_token asked)
      : by_close_(std::move(closing), Stop{&either_}), by_caller_(std::move(asked), Stop{&either_}) {}
  std::stop_token token() const noexcept { return either_.get_token(); }

 private:
  struct Stop {
    std::stop_source* source;
    void operator()() const noexcept { source->request_stop(); }
  };
  std::stop_source either_;
  const std::stop_callback<Stop> by_close_;
  const std::stop_callback<Stop> by_caller_;
};

/// Returns the token of a stop, which may be NULL. Errors: those of a handle.
inline Result<std::stop_token> read_stop(const varve_stop* stop) {
  if (stop == nullptr) return std::stop_token();
  const Use<StopObject> use(stop);
  if (!use.ok()) return use.status();
  return use->source.get_token();
}

}  // namespace varve::c
