// Owns: a small number for the running thread, which threads use to spread over shards of a shared structure.
// Must never: decide anything except which of several equal shards a thread uses. Results never depend on it.
#pragma once

#include <atomic>
#include <cstddef>

namespace varve::io {

/// Returns a number that is constant while the thread lives. Consecutive new threads get consecutive numbers, so that a
/// remainder by a power of two spreads them evenly.
inline std::size_t thread_shard() noexcept {
  static std::atomic<std::size_t> next{0};
  static thread_local const std::size_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

}  // namespace varve::io
