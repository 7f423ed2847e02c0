// SPDX-License-Identifier: Apache-2.0
// Owns: when a call is worth repeating.
// Must never: repeat what may have happened (kUnknown), or wait by itself: it has no clock.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "status.h"

#pragma GCC visibility push(default)

namespace varve {

/// Calls `operation`, which returns a Status or a Result, again as long as it answers kBusy, at most `attempts_max`
/// times in all and at least once; gives what the last call gave. `pause` is called before each repetition, with the
/// number of attempts made; it may sleep, or do nothing, since a busy call has waited WriteOptions::wait_max already.
///
/// Only kBusy is repeated: then nothing changed, and the cause ends by itself. Above all kUnknown is not: the commit
/// may have happened, and only reading after a reopen tells. What writes by insert_or_replace() or deletes if it exists
/// may be repeated then, as it is the same done once or twice. Nor is kConflict: what a transaction read has changed,
/// so that it is to be begun again, which Store::transact does.
template <typename Operation, typename Pause>
requires std::invocable<Pause&, std::uint32_t>
auto retry_busy(std::uint32_t attempts_max, Operation&& operation, Pause&& pause) {
  for (std::uint32_t attempt = 1;; ++attempt) {
    auto outcome = operation();
    if (outcome.code() != Code::kBusy || attempt >= attempts_max) return outcome;
    pause(attempt);
  }
}

template <typename Operation>
auto retry_busy(std::uint32_t attempts_max, Operation&& operation) {
  return retry_busy(attempts_max, std::forward<Operation>(operation), [](std::uint32_t) {});
}

}  // namespace varve

#pragma GCC visibility pop
