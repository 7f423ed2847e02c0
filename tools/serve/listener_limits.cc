// Owns: the derivation of limits (listener_limits.h).
// Must never: raise a limit of the user.
#include "tools/serve/listener_limits.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace varve::serve {

ConnectionLimits watch_limits(ConnectionLimits limits, std::uint64_t connections) {
  constexpr std::size_t kAddressShare = 4;
  constexpr std::size_t kAddressMin = 2;
  constexpr std::uint64_t kHeaderRoom = std::uint64_t{16} << 20;
  constexpr std::chrono::milliseconds kIdleTime{20'000};
  limits.connections_max = connections;
  limits.connections_per_address_max = std::max<std::size_t>(connections / kAddressShare, kAddressMin);
  limits.body_bytes_max = 0;
  limits.memory_max = kHeaderRoom;
  limits.idle_time_max = std::min(limits.idle_time_max, kIdleTime);
  return limits;
}

ConnectionLimits operator_limits(ConnectionLimits limits, std::uint64_t connections) {
  constexpr std::uint64_t kBodyRoom = std::uint64_t{32} << 20;
  constexpr std::chrono::milliseconds kIdleTime{60'000};
  limits.connections_max = connections;
  limits.connections_per_address_max = connections;
  limits.memory_max = kBodyRoom;
  limits.idle_time_max = kIdleTime;
  return limits;
}

ConnectionLimits limits_within(ConnectionLimits limits, std::uint64_t connections) {
  if (limits.connections_max <= connections) return limits;
  limits.connections_max = connections;
  limits.connections_per_address_max =
      std::min<std::size_t>(limits.connections_per_address_max, std::max<std::size_t>(connections / 2, 1));
  return limits;
}

}  // namespace varve::serve
