// Owns: whether a store takes writes, in the words of whoever watches it.
// Must never: touch the store; its figures are given.
#pragma once

#include <string>
#include <string_view>

#include "varve/result.h"
#include "varve/statistics.h"

namespace varve::serve {

struct StoreHealth {
  bool accepts_writes = true;
  /// "healthy", "write paused", "poisoned", "read only", "unknown".
  std::string_view state = "healthy";
  /// Why it takes no writes, and when that ends.
  std::string reason{};
};

StoreHealth health_of(const Result<Statistics>& statistics);

}  // namespace varve::serve
