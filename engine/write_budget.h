// Owns: one bound on the memory that holds entities, for all stores that share it.
// Must never: be passed by a commit; only recovery may, since what was accepted must be held.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>

namespace varve::engine {

/// How much of a budget a commit may use.
enum class BudgetPart : std::uint8_t {
  kCommon,  // all but what is kept
  kAll,     // of a commit that gives space back (a drop): where the disk is full, so is this, for nothing is flushed
};

/// Any thread.
class WriteBudget {
 public:
  explicit WriteBudget(std::uint64_t bytes_max) noexcept
      : bytes_max_(bytes_max),
        kept_bytes_(std::max(bytes_max / kPartKeptLarge, std::min(kKeptBytes, bytes_max / kPartKept))) {}
  WriteBudget(const WriteBudget&) = delete;
  WriteBudget& operator=(const WriteBudget&) = delete;

  /// False, with nothing changed, if it would pass the bound.
  bool take(std::uint64_t bytes, BudgetPart part = BudgetPart::kCommon) noexcept {
    const std::uint64_t bound = part == BudgetPart::kAll ? bytes_max_ : bytes_max_ - kept_bytes_;
    std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
    do {
      if (bytes > bound || used > bound - bytes) return false;
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
  /// Kept for commits that give space back: some dozens of them.
  static constexpr std::uint64_t kKeptBytes = 16 << 10;
  static constexpr std::uint64_t kPartKept = 8;         // but no more of a small budget
  static constexpr std::uint64_t kPartKeptLarge = 256;  // and more of a large one

  const std::uint64_t bytes_max_;
  const std::uint64_t kept_bytes_;
  std::atomic<std::uint64_t> used_bytes_{0};
};

}  // namespace varve::engine
