// SPDX-License-Identifier: Apache-2.0
// Owns: the values of leases: rights to write a blob, or to delete a container, for one holder.
// Must never: judge a lease.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "types.h"

namespace varve {

/// State of a lease: a right to write for one holder. Source: BE-02.
enum class LeaseState : std::uint8_t {
  kAvailable,
  kLeased,
  kExpired,
  /// The holder keeps it until the end of the break period.
  kBreaking,
  kBroken,
};

/// The lease of a blob or a container.
struct LeaseInfo {
  LeaseState state = LeaseState::kAvailable;
  /// Whether it has no end. Has a meaning in kLeased alone.
  bool is_infinite = false;
};

/// A duration without an end, for a lease.
inline constexpr std::chrono::seconds kInfiniteLease{-1};

/// What a change of a lease asks for. Source: BE-01, BE-02.
struct LeaseRequest {
  enum class Action : std::uint8_t {
    kAcquire,
    kRenew,
    kChange,
    kRelease,
    kBreak,
  };
  Action action = Action::kAcquire;
  /// The id of the present lease. Used by kRenew, kChange and kRelease.
  Guid id{};
  /// The id of the new lease. Used by kChange; for kAcquire a new id is made if it is absent.
  std::optional<Guid> proposed{};
  /// Used by kAcquire: 15 to 60 s, or kInfiniteLease.
  std::chrono::seconds duration = kInfiniteLease;
  /// Used by kBreak: 0 to 60 s. If absent, the lease is broken at its end, and an infinite one at once.
  std::optional<std::chrono::seconds> break_period{};
};

/// What a change of a lease returns.
struct LeaseAnswer {
  /// The id of the lease. After kBreak and kRelease it has no meaning.
  Guid id{};
  /// After kBreak: the time until the lease ends. Else zero.
  std::chrono::seconds left{0};
};

}  // namespace varve
