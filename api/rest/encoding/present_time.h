// Owns: the time that the service's answers and rules use.
// Must never: be used by the core, whose clock is io's.
#pragma once

#include <chrono>
#include <cstdint>
#include <ratio>

#include "varve/types.h"

namespace varve::serve {

/// Returns the present time of the system's clock.
inline DateTime present_time() {
  using Ticks = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;
  constexpr std::int64_t kUnixTicks = 621'355'968'000'000'000;  // from 0001-01-01 to 1970-01-01
  const auto since_unix = std::chrono::duration_cast<Ticks>(std::chrono::system_clock::now().time_since_epoch());
  return DateTime{static_cast<std::uint64_t>(since_unix.count() + kUnixTicks)};
}

}  // namespace varve::serve
