// Owns: one bound on the memory that holds entities, for all stores that share it, and the spare memory within it.
// Must never: be exceeded by a commit. Only recovery may exceed it, since recovery must hold every accepted write.
//
// WriteRoom knows which stores hold the memory and which commits wait for room (engine/memory/write_room.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/memory/spare_blocks.h"
#include "engine/memory/stretch_room.h"
#include "io/scheduler.h"

namespace varve::engine {

class WriteRoom;

/// The part of a budget that a commit may use.
enum class BudgetPart : std::uint8_t {
  kCommon,  // all but the kept bytes
  kAll,     // for a commit that frees space (a drop): on a full disk nothing is flushed, so the budget is full too
};

/// Thread-safe.
class WriteBudget {
 public:
  /// `scheduler` outlives it.
  WriteBudget(io::Scheduler& scheduler, std::uint64_t bytes_max) noexcept
      : bytes_max_(bytes_max),
        kept_bytes_(std::max(bytes_max / kPartKeptLarge, std::min(kKeptBytes, bytes_max / kPartKept))),
        stretch_room_(StretchRoom::bytes_beside(bytes_max)),
        making_(scheduler),
        spare_(scheduler) {}
  WriteBudget(const WriteBudget&) = delete;
  WriteBudget& operator=(const WriteBudget&) = delete;

  /// Takes bytes from the budget. Returns false, with nothing changed, if that would exceed the bound.
  bool take(std::uint64_t bytes, BudgetPart part = BudgetPart::kCommon) noexcept {
    const std::uint64_t bound = bytes_for(part);
    std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
    do {
      if (bytes > bound || used > bound - bytes) return false;
    } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    spare_.trim(spare_bytes_max());
    return true;
  }
  void take_regardless(std::uint64_t bytes) noexcept { used_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  /// Gives bytes back. Either this call sees a waiting thread, or a thread that begins to wait sees the room: both are
  /// seq_cst.
  void give_back(std::uint64_t bytes) noexcept {
    give_back_untold(bytes);
    if (attention_.load(std::memory_order_seq_cst) > 0) tell_of_room();
  }

  /// Take and keep spare blocks (SpareBlocks), which are unused memory within the bound.
  io::PageMemory take_spare() noexcept { return spare_.take(); }
  void keep_spare(io::PageMemory block) noexcept { spare_.keep(std::move(block), spare_bytes_max()); }
  std::uint64_t spare_bytes() const noexcept { return spare_.bytes(); }

  /// Returns the room for ranges of deleted keys. It is counted apart from the entities, since no flush frees it.
  StretchRoom& stretch_room() noexcept { return stretch_room_; }

  std::uint64_t used_bytes() const noexcept { return used_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t bytes_max() const noexcept { return bytes_max_; }
  /// Returns the bytes that all commits of this part together may use.
  std::uint64_t bytes_for(BudgetPart part) const noexcept {
    return part == BudgetPart::kAll ? bytes_max_ : bytes_max_ - kept_bytes_;
  }
  /// Returns the bytes held by stores that cannot flush now, because their flush failed or they have stopped.
  std::uint64_t stuck_bytes() const noexcept { return stuck_bytes_.load(std::memory_order_relaxed); }

  /// Returns the WriteRoom of all stores on the caller's scheduler. It lives as long as one of them. Returns null if
  /// the budget's other stores run on another scheduler, since threads of two schedulers cannot wake each other. Throws
  /// std::bad_alloc.
  std::shared_ptr<WriteRoom> room(io::Scheduler& scheduler);

 private:
  friend class WriteRoom;

  void give_back_untold(std::uint64_t bytes) noexcept {
    const std::uint64_t before = used_bytes_.fetch_sub(bytes, std::memory_order_seq_cst);
    assert(before >= bytes);
    static_cast<void>(before);
  }
  /// Takes the free bytes of this part, at most `bytes`, and returns how many it took.
  std::uint64_t take_up_to(std::uint64_t bytes, BudgetPart part) noexcept;
  void tell_of_room() noexcept;

  /// Bytes kept for commits that free space: enough for some dozens of them.
  static constexpr std::uint64_t kKeptBytes = 16 << 10;
  static constexpr std::uint64_t kPartKept = 8;         // at most this part of a small budget
  static constexpr std::uint64_t kPartKeptLarge = 256;  // at least this part of a large budget

  /// Returns the bytes that spare blocks may have: at most one memtable. Used and spare bytes together stay below the
  /// line at which commits begin to wait.
  std::uint64_t spare_bytes_max() const noexcept {
    const std::uint64_t part = bytes_max_ / kPartSpare;
    const std::uint64_t used = used_bytes();
    const std::uint64_t line = (kPartSpare - 1) * part;
    return used >= line ? 0 : std::min(line - used, part);
  }
  static constexpr std::uint64_t kPartSpare = 4;

  const std::uint64_t bytes_max_;
  const std::uint64_t kept_bytes_;
  std::atomic<std::uint64_t> used_bytes_{0};
  std::atomic<std::uint64_t> stuck_bytes_{0};
  std::atomic<std::uint64_t> attention_{0};  // commits that wait for room, and stores to notify of it
  StretchRoom stretch_room_;
  io::Mutex making_;
  std::weak_ptr<WriteRoom> room_ VARVE_GUARDED_BY(making_);
  SpareBlocks spare_;
};

}  // namespace varve::engine
