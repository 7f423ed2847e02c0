// Owns: the answer to "may anybody still be looking at this?", for readers that take no lock.
// Must never: let an epoch pass while a guard of the epoch before it lives, or make a reader wait for anybody.
//
// E1  a guard that was entered belongs to the epoch now(), or to the one before it.
// E2  who was unlinked when now() was r, is seen by no guard once now() is r + 2.
//
// A guard adds one to a counter of its epoch's parity, and takes it back at its end. The counter lies in a slot that
// its thread shares with no other (until there are more threads than slots). After adding, the guard looks whether the
// epoch is still the one it counted for, and begins again if not; so no guard enters an epoch that has passed. The
// epoch moves on from e to e + 1 when every slot was seen without a guard of e - 1: by E1 all guards are then of e.
//
// E2 rests on one total order: the store that unlinks, the loads and stores of the epoch, and the loads by which a
// guard finds its way are sequentially consistent. A guard of epoch r + 1 read an epoch that was stored after the
// unlinker read r, so it cannot find what was unlinked before. On x86 such loads cost nothing.
//
// Sources: K. Fraser, "Practical lock-freedom" (epochs); P. McKenney, "Sleepable read-copy update" (counters by
// parity).
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "engine/cache/block_size.h"

namespace varve::engine {

/// Any thread.
class ReadEpoch {
  // A counter of readers holds the guards of its parity in its low bits, and above them the hits of those that ended.
  static constexpr std::uint64_t kOneReader = 1;
  static constexpr std::uint64_t kOneHit = 1 << 12;
  static constexpr std::uint64_t kReadersMask = kOneHit - 1;

  struct alignas(kCacheLineBytes) Slot {
    std::array<std::atomic<std::uint64_t>, 2> readers{};
    std::atomic<std::uint64_t> misses{0};
  };

 public:
  static constexpr std::size_t kSlots = 64;

  ReadEpoch() noexcept = default;
  ~ReadEpoch() { assert(!any_guard()); }
  ReadEpoch(const ReadEpoch&) = delete;
  ReadEpoch& operator=(const ReadEpoch&) = delete;

  /// What it finds stays in memory while it lives. Lives on the stack of one thread, briefly: while it does, nothing
  /// that was unlinked is freed anywhere in the cache. Guards may nest. No lock, no waiting and no I/O under a guard.
  class Guard {
   public:
    explicit Guard(ReadEpoch& epoch) noexcept : slot_(epoch.slot()), readers_(epoch.enter(slot_)) { ++thread_guards; }
    ~Guard() {
      --thread_guards;
      // Tells the hits in the same step, which costs nothing more.
      readers_.fetch_add(hits_ * kOneHit - kOneReader, std::memory_order_release);
      if (misses_ > 0) slot_.misses.fetch_add(misses_, std::memory_order_relaxed);
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    void count_hit() noexcept { ++hits_; }
    void count_miss() noexcept { ++misses_; }

   private:
    Slot& slot_;
    std::atomic<std::uint64_t>& readers_;
    std::uint32_t hits_ = 0;
    std::uint32_t misses_ = 0;
  };

  /// True while this thread holds a guard of any cache. What locks, waits or does I/O asserts that it is false.
  static bool held_by_this_thread() noexcept { return thread_guards > 0; }

  std::uint64_t now() const noexcept { return now_.load(std::memory_order_seq_cst); }
  /// One step, if no guard of the epoch before this one is left. False when there is one.
  bool try_advance() noexcept;

  /// Of all guards that have ended.
  std::uint64_t hits() const noexcept;
  std::uint64_t misses() const noexcept;

 protected:  // for tests
  Slot& slot() noexcept {
    if (thread_number == 0) [[unlikely]]
      number_this_thread();
    return slots_[thread_number % kSlots];
  }
  /// Counts a reader for an epoch that was now() a moment ago. Null, with nothing counted, when it is not now any more.
  std::atomic<std::uint64_t>* try_enter(Slot& slot, std::uint64_t epoch) noexcept {
    std::atomic<std::uint64_t>& readers = slot.readers[epoch % 2];
    const std::uint64_t before = readers.fetch_add(kOneReader, std::memory_order_seq_cst);
    assert((before & kReadersMask) < kReadersMask);  // 4,095 guards at once in a slot
    static_cast<void>(before);
    if (now() == epoch) [[likely]]
      return &readers;  // E1
    readers.fetch_sub(kOneReader, std::memory_order_release);
    return nullptr;
  }

 private:
  static void number_this_thread() noexcept;

  std::atomic<std::uint64_t>& enter(Slot& slot) noexcept {
    for (;;) {
      std::atomic<std::uint64_t>* const readers = try_enter(slot, now());
      if (readers != nullptr) [[likely]]
        return *readers;
    }
  }

  bool any_guard() const noexcept;

  inline static constinit thread_local std::uint32_t thread_number = 0;  // zero until its first guard
  inline static constinit thread_local std::uint32_t thread_guards = 0;

  std::array<Slot, kSlots> slots_;
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> now_{1};
};

}  // namespace varve::engine
