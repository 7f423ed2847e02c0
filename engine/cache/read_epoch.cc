// Owns: the step from one epoch to the next, and the sums over all slots.

#include "engine/cache/read_epoch.h"

namespace varve::engine {

namespace {

/// Threads are numbered in the order of their first guard, so that each of the first kSlots threads has its own slot.
constinit std::atomic<std::uint32_t> threads_numbered{0};

}  // namespace

void ReadEpoch::number_this_thread() noexcept {
  std::uint32_t number = 0;
  while (number == 0) number = threads_numbered.fetch_add(1, std::memory_order_relaxed) + 1;
  thread_number = number;
}

bool ReadEpoch::try_advance() noexcept {
  std::uint64_t epoch = now();
  for (const Slot& slot : slots_) {
    const std::uint64_t readers = slot.readers[(epoch + 1) % 2].load(std::memory_order_seq_cst);
    if ((readers & kReadersMask) != 0) return false;
  }
  // Another thread may have been faster; then the epoch has advanced as well.
  now_.compare_exchange_strong(epoch, epoch + 1, std::memory_order_seq_cst);
  return true;
}

std::uint64_t ReadEpoch::hits() const noexcept {
  std::uint64_t sum = 0;
  for (const Slot& slot : slots_) {
    for (const std::atomic<std::uint64_t>& readers : slot.readers) {
      sum += readers.load(std::memory_order_relaxed) / kOneHit;
    }
  }
  return sum;
}

std::uint64_t ReadEpoch::misses() const noexcept {
  std::uint64_t sum = 0;
  for (const Slot& slot : slots_) sum += slot.misses.load(std::memory_order_relaxed);
  return sum;
}

bool ReadEpoch::any_guard() const noexcept {
  for (const Slot& slot : slots_) {
    for (const std::atomic<std::uint64_t>& readers : slot.readers) {
      if ((readers.load(std::memory_order_acquire) & kReadersMask) != 0) return true;
    }
  }
  return false;
}

}  // namespace varve::engine
