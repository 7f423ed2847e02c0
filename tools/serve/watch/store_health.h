// Owns: whether a store accepts writes, in words for its operator.
// Must never: access the store. The caller passes the figures.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "varve/rados.h"
#include "varve/result.h"
#include "varve/statistics.h"

namespace varve::serve {

struct StoreHealth {
  bool accepts_writes = true;
  /// "healthy", "write paused", "poisoned", "read only", "standby", "waiting", "fenced", "unknown".
  std::string_view state = "healthy";
  /// The reason why the store accepts no writes, and when it will accept them again.
  std::string reason{};
};

StoreHealth health_of(const Result<Statistics>& statistics);
/// Returns the health of a store on a cluster. The cluster's troubles come before those of a full disk.
StoreHealth health_of(const Result<Statistics>& statistics, const std::optional<RadosFigures>& cluster);
/// Returns "fenced", "waiting" (the lease is late, or a change has waited for kChangeWaitMax), or "healthy".
StoreHealth health_of(const RadosFigures& cluster);
/// A change that waits longer than this makes the store one that accepts no writes now.
inline constexpr std::chrono::seconds kChangeWaitMax{5};
/// Returns the state of a process that waits for its store.
StoreHealth standby_health();

}  // namespace varve::serve
