// SPDX-License-Identifier: Apache-2.0
// Owns: the decision when a failed call is worth repeating.
// Must never: repeat a call that may have taken effect (kUnknown), or sleep by itself: it has no clock.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "status.h"

namespace varve {

/// Calls `operation`, which returns a Status or a Result, and repeats it as long as it returns kBusy. Makes at most
/// `attempts_max` calls and at least one. Returns the result of the last call. Before each repetition it calls `pause`
/// with the number of attempts made so far. `pause` may sleep or do nothing: a busy call has already waited
/// WriteOptions::wait_max.
///
/// Only kBusy is repeated: nothing changed, and the cause ends by itself. Two other codes need the caller's decision:
/// - kUnknown: the commit may have happened. Only a read after a reopen shows whether it did. Even so, a write by
///   insert_or_replace() or remove_if_exists() may be repeated: twice has the same effect as once.
/// - kConflict: data that the transaction read has changed, so the whole transaction must run again.
///   Store::transact() does that.
template <typename Operation, typename Pause>
requires std::invocable<Pause&, std::uint32_t>
auto retry_busy(std::uint32_t attempts_max, Operation&& operation, Pause&& pause) {
  for (std::uint32_t attempt = 1;; ++attempt) {
    auto outcome = operation();
    if (outcome.code() != Code::kBusy || attempt >= attempts_max) return outcome;
    pause(attempt);
  }
}

/// Repeats a busy call as above, without a pause between the calls.
template <typename Operation>
auto retry_busy(std::uint32_t attempts_max, Operation&& operation) {
  return retry_busy(attempts_max, std::forward<Operation>(operation), [](std::uint32_t) {});
}

}  // namespace varve
