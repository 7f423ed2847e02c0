// Owns: whether a store accepts writes, in words for its operator.
// Must never: access the store. The caller passes the figures.
#pragma once

#include <string>
#include <string_view>

#include "varve/result.h"
#include "varve/statistics.h"

namespace varve::serve {

struct StoreHealth {
  bool accepts_writes = true;
  /// "healthy", "write paused", "poisoned", "read only", "standby", "unknown".
  std::string_view state = "healthy";
  /// The reason why the store accepts no writes, and when it will accept them again.
  std::string reason{};
};

StoreHealth health_of(const Result<Statistics>& statistics);
/// Returns the state of a process that waits for its store.
StoreHealth standby_health();

}  // namespace varve::serve
