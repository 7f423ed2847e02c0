// Owns: one bound on the memory that holds entities, for all stores that share it.
// Must never: be passed by a commit; only recovery may, since what was accepted must be held.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>

namespace varve::engine {

/// Any thread.
class WriteBudget {
 public:
  explicit WriteBudget(std::uint64_t bytes_max) noexcept : bytes_max_(bytes_max) {}
  WriteBudget(const WriteBudget&) = delete;
  WriteBudget& operator=(const WriteBudget&) = delete;

  /// False, with nothing changed, if it would pass the bound.
  bool take(std::uint64_t bytes) noexcept {
    std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
    do {
      if (bytes > bytes_max_ || used > bytes_max_ - bytes) return false;
    } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  void take_regardless(std::uint64_t bytes) noexcept { used_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void give_back(std::uint64_t bytes) noexcept {
    const std::uint64_t before = used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    assert(before >= bytes);
    static_cast<void>(before);
  }

  std::uint64_t used_bytes() const noexcept { return used_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t bytes_max() const noexcept { return bytes_max_; }

 private:
  const std::uint64_t bytes_max_;
  std::atomic<std::uint64_t> used_bytes_{0};
};

}  // namespace varve::engine
