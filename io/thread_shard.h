// Owns: a small number for the running thread, by which threads spread what they would otherwise share.
// Must never: decide anything but which of several equal places a thread uses; results never depend on it.
#pragma once

#include <atomic>
#include <cstddef>

namespace varve::io {

/// The same for a thread as long as it lives. Neighbouring threads get neighbouring numbers, so that a remainder by a
/// power of two spreads them evenly.
inline std::size_t thread_shard() noexcept {
  static std::atomic<std::size_t> next{0};
  static thread_local const std::size_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

}  // namespace varve::io
