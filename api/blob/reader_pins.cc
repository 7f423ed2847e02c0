// Owns: the entry, use and release of readers' snapshots (reader_pins.h).
// Must never: destroy a snapshot under the mutex, because that takes a lock of the engine.
#include "api/blob/reader_pins.h"

#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace varve {

void ReaderPins::release_idle() noexcept {
  constexpr std::size_t kAtOnce = 16;
  for (std::size_t released = kAtOnce; released == kAtOnce;) {
    released = 0;
    std::array<Snapshot, kAtOnce> unused;  // destroyed after the mutex
    const std::chrono::nanoseconds now = clock_.monotonic();
    const io::MutexGuard guard(mutex_);
    for (auto each = held_.begin(); each != held_.end() && released < kAtOnce;) {
      ReaderPin& pin = **each;
      if (!pin.give_up(now)) {
        ++each;
        continue;
      }
      unused[released++] = std::move(pin.snapshot_);
      each = held_.erase(each);
    }
  }
}

void ReaderPins::enter(ReaderPin& pin) {
  const io::MutexGuard guard(mutex_);
  held_.insert(&pin);
}

void ReaderPins::leave(ReaderPin& pin) noexcept {
  if (!owner_.is_this_process()) return;  // A thread of the parent may have held the mutex when the process forked.
  const io::MutexGuard guard(mutex_);
  held_.erase(&pin);
}

ReaderPin::ReaderPin(ReaderPins& board, Snapshot snapshot)
    : board_(board), snapshot_(std::move(snapshot)), used_(board.clock_.monotonic().count()) {
  board_.enter(*this);
}

ReaderPin::~ReaderPin() {
  board_.leave(*this);
}

bool ReaderPin::is_idle(std::chrono::nanoseconds now) const noexcept {
  return now - std::chrono::nanoseconds(used_.load(std::memory_order_relaxed)) >= board_.idle_max_;
}

bool ReaderPin::begin() noexcept {
  const std::chrono::nanoseconds now = board_.clock_.monotonic();
  int reads = reads_.load(std::memory_order_acquire);
  do {
    if (reads == kReleased || (reads == 0 && is_idle(now))) return false;
  } while (!reads_.compare_exchange_weak(reads, reads + 1, std::memory_order_acq_rel, std::memory_order_acquire));
  return true;
}

void ReaderPin::end() noexcept {
  used_.store(board_.clock_.monotonic().count(), std::memory_order_relaxed);
  reads_.fetch_sub(1, std::memory_order_acq_rel);
}

bool ReaderPin::give_up(std::chrono::nanoseconds now) noexcept {
  int reads = reads_.load(std::memory_order_acquire);
  return reads == 0 && is_idle(now) &&
         reads_.compare_exchange_strong(reads, kReleased, std::memory_order_acq_rel, std::memory_order_relaxed);
}

Result<Snapshot> ReaderPin::Use::snapshot() const {
  if (begun_) return pin_.snapshot_;
  return Status(Code::kClosed, "no read used the reader for " + std::to_string(pin_.board_.idle_max_.count()) +
                                   " ms (reader_idle_max), so the store let go of its state; open a new reader");
}

}  // namespace varve
