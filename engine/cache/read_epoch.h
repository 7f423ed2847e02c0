// Owns: the answer to "can any reader still see this?", for readers that take no lock.
// Must never: let an epoch pass while a guard of the preceding epoch lives, or make a reader wait.
//
// E1  An entered guard belongs to the epoch now(), or to the epoch before it.
// E2  An object unlinked when now() was r is seen by no guard once now() is r + 2.
//
// A guard adds one to a counter of its epoch's parity, and subtracts it at its end. The counter is in a slot that its
// thread shares with no other thread (up to kSlots threads). After adding, the guard checks whether the epoch is still
// the one that it counted for. If not, it starts again. So no guard enters an epoch that has passed. The epoch advances
// from e to e + 1 when every slot was seen without a guard of e - 1. By E1 all guards then belong to e.
//
// E2 depends on one total order. Sequentially consistent are the store that unlinks, the loads and stores of the epoch,
// and the loads by which a guard finds objects. A guard of epoch r + 1 read an epoch that was stored after the
// unlinking thread read r. So it cannot find anything unlinked before. On x86 such loads cost nothing extra.
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

/// Thread-safe.
class ReadEpoch {
  // A counter of readers has two parts. The low 12 bits count the guards of its parity; the bits above count the hits
  // of ended guards.
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

  /// Keeps every object that it finds in memory while the guard lives. A guard is on the stack of one thread, briefly.
  /// While it lives, no unlinked memory is freed anywhere in the cache. Guards may nest. Under a guard, code must not
  /// lock, wait or do I/O.
  class Guard {
   public:
    explicit Guard(ReadEpoch& epoch) noexcept : slot_(epoch.slot()), readers_(epoch.enter(slot_)) { ++thread_guards; }
    ~Guard() {
      --thread_guards;
      // Adds the hits in the same step, at no extra cost.
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

  /// Returns whether this thread holds a guard of any cache. Code that locks, waits or does I/O asserts that it does
  /// not.
  static bool held_by_this_thread() noexcept { return thread_guards > 0; }

  std::uint64_t now() const noexcept { return now_.load(std::memory_order_seq_cst); }
  /// Advances the epoch by one, if no guard of the preceding epoch is left. Returns false if there is one.
  bool try_advance() noexcept;

  /// Return the hits and misses of all ended guards.
  std::uint64_t hits() const noexcept;
  std::uint64_t misses() const noexcept;

 protected:  // for tests
  Slot& slot() noexcept {
    if (thread_number == 0) [[unlikely]]
      number_this_thread();
    return slots_[thread_number % kSlots];
  }
  /// Counts a reader for an epoch that was now() a moment ago. Returns null, with nothing counted, if the epoch has
  /// advanced since.
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
