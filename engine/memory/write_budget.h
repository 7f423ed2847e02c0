// Owns: one bound on the memory that holds entities, for all stores that share it, and what of it lies unused.
// Must never: be passed by a commit; only recovery may, since what was accepted must be held.
//
// Which stores hold it, and who waits for room, is known to its WriteRoom (engine/memory/write_room.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/memory/spare_blocks.h"
#include "io/scheduler.h"

namespace varve::engine {

class WriteRoom;

/// How much of a budget a commit may use.
enum class BudgetPart : std::uint8_t {
  kCommon,  // all but what is kept
  kAll,     // of a commit that gives space back (a drop): where the disk is full, so is this, for nothing is flushed
};

/// Any thread.
class WriteBudget {
 public:
  /// `scheduler` outlives it.
  WriteBudget(io::Scheduler& scheduler, std::uint64_t bytes_max) noexcept
      : bytes_max_(bytes_max),
        kept_bytes_(std::max(bytes_max / kPartKeptLarge, std::min(kKeptBytes, bytes_max / kPartKept))),
        making_(scheduler),
        spare_(scheduler) {}
  WriteBudget(const WriteBudget&) = delete;
  WriteBudget& operator=(const WriteBudget&) = delete;

  /// False, with nothing changed, if it would pass the bound.
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
  /// Either this sees that someone waits, or who begins to wait sees the room: both are seq_cst.
  void give_back(std::uint64_t bytes) noexcept {
    give_back_untold(bytes);
    if (attention_.load(std::memory_order_seq_cst) > 0) tell_of_room();
  }

  /// Memory that lies unused within the bound, in blocks (SpareBlocks): to be had again, and given up by who took it.
  io::PageMemory take_spare() noexcept { return spare_.take(); }
  void keep_spare(io::PageMemory block) noexcept { spare_.keep(std::move(block), spare_bytes_max()); }
  std::uint64_t spare_bytes() const noexcept { return spare_.bytes(); }

  std::uint64_t used_bytes() const noexcept { return used_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t bytes_max() const noexcept { return bytes_max_; }
  /// What commits of this part may use, all together.
  std::uint64_t bytes_for(BudgetPart part) const noexcept {
    return part == BudgetPart::kAll ? bytes_max_ : bytes_max_ - kept_bytes_;
  }
  /// What stores hold that cannot write it to tables now: they failed, or have stopped.
  std::uint64_t stuck_bytes() const noexcept { return stuck_bytes_.load(std::memory_order_relaxed); }

  /// The room that all stores on the caller's scheduler share, which is there as long as one of them. Null where the
  /// budget's other stores run on another scheduler: their threads cannot wake each other. Throws std::bad_alloc.
  std::shared_ptr<WriteRoom> room(io::Scheduler& scheduler);

 private:
  friend class WriteRoom;

  void give_back_untold(std::uint64_t bytes) noexcept {
    const std::uint64_t before = used_bytes_.fetch_sub(bytes, std::memory_order_seq_cst);
    assert(before >= bytes);
    static_cast<void>(before);
  }
  /// Takes what is free of this part, `bytes` at most; returns how much that is.
  std::uint64_t take_up_to(std::uint64_t bytes, BudgetPart part) noexcept;
  void tell_of_room() noexcept;

  /// Kept for commits that give space back: some dozens of them.
  static constexpr std::uint64_t kKeptBytes = 16 << 10;
  static constexpr std::uint64_t kPartKept = 8;         // but no more of a small budget
  static constexpr std::uint64_t kPartKeptLarge = 256;  // and more of a large one

  /// As much as one memtable, and with what is used no more than stores fill before their commits wait.
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
  std::atomic<std::uint64_t> attention_{0};  // commits that wait for room, and stores that are to be told of it
  io::Mutex making_;
  std::weak_ptr<WriteRoom> room_ VARVE_GUARDED_BY(making_);
  SpareBlocks spare_;
};

}  // namespace varve::engine
