// Owns: filling the ring, entering the kernel, and handling completions.
// Must never: depend on the order of completions, or assume that the kernel took all submissions.
#include "io/uring/uring_read_queue.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

#include "io/os_error.h"
#include "io/posix/posix_file.h"
#include "io/posix/posix_handle.h"
#include "io/posix/posix_transfer.h"
#include "io/probe.h"

namespace varve::io {

Result<std::unique_ptr<ReadQueue>> UringReadQueue::make(std::size_t depth) {
  if (Status valid = check_read_depth(depth); !valid.ok()) return valid;
  Result<std::unique_ptr<Ring>> ring = Ring::make(depth + 1);
  if (!ring.ok()) return ring.status();
  return std::unique_ptr<ReadQueue>(std::make_unique<UringReadQueue>(*std::move(ring), depth));
}

UringReadQueue::UringReadQueue(std::unique_ptr<Ring> ring, std::size_t depth) : ring_(std::move(ring)), slots_(depth) {
  free_.reserve(depth);
  ready_.reserve(depth);
  prepared_.reserve(depth + 1);
  finished_.reserve(depth);
  for (std::size_t i = depth; i-- > 0;) free_.push_back(static_cast<SlotNumber>(i));
}

UringReadQueue::~UringReadQueue() {
  drain();
}

Status UringReadQueue::submit(const ReadableFile& file, std::uint64_t offset, std::span<std::byte> bytes,
                              std::uint64_t tag) noexcept {
  if (!owner_.is_this_process()) return HandleGuard::refuse_fork("read", "in a queue");
  if (in_flight_ == depth()) return read_queue_full();
  ++in_flight_;
  const auto* const posix_file = dynamic_cast<const PosixReadableFile*>(&file);
  if (posix_file == nullptr) {
    finished_.push_back({tag, file.read_exactly(offset, bytes)});
    return Status();
  }
  const SlotNumber number = free_.back();
  free_.pop_back();
  slots_[number].read = PosixRead(*posix_file, offset, bytes);
  slots_[number].tag = tag;
  place(number);
  return Status();
}

std::size_t UringReadQueue::reap(std::span<FinishedRead> finished, std::size_t wait_count) noexcept {
  wait_count = std::min({wait_count, in_flight_, finished.size()});
  const bool waits = finished_.size() < wait_count;
  if (waits) set_alarm();
  do {
    begin_ready();
    const std::size_t under_way = in_kernel_ + prepared_.size();
    std::size_t missing = finished_.size() < wait_count ? std::min(wait_count - finished_.size(), under_way) : 0;
    if (is_alarm_set_) missing = std::min<std::size_t>(missing, 1);  // it may be the alarm
    enter(is_woken_ ? 0 : missing);
    collect();
  } while ((finished_.size() < wait_count && !is_woken_) || !ready_.empty());
  if (waits) is_woken_ = false;

  const std::size_t count = std::min(finished.size(), finished_.size());
  const auto end = finished_.begin() + static_cast<std::ptrdiff_t>(count);
  std::move(finished_.begin(), end, finished.begin());
  finished_.erase(finished_.begin(), end);
  in_flight_ -= count;
  assert(in_kernel_ + prepared_.size() + ready_.size() + finished_.size() ==
         in_flight_ + static_cast<std::size_t>(is_alarm_set_));  // R2
  return count;
}

void UringReadQueue::begin_ready() noexcept {
  for (const SlotNumber number : ready_) {
    if (ring_ != nullptr) {
      prepare(number);
    } else {
      (void)finish_by_calls(slots_[number].read);
      finish(number);
    }
  }
  ready_.clear();
}

Status UringReadQueue::allow_wake() noexcept {
  Descriptor made(::eventfd(0, EFD_CLOEXEC));
  if (made.get() < 0) return os_error(errno, {"eventfd", "a ring's alarm"});
  Result<Descriptor> alarm = above_standard(std::move(made), "a ring's alarm");
  if (!alarm.ok()) return alarm.status();
  alarm_ = *std::move(alarm);
  return Status();
}

void UringReadQueue::wake() noexcept {
  const std::uint64_t one = 1;
  const ssize_t written = ::write(alarm_.get(), &one, sizeof one);  // Does not block before 2^64 - 1 calls.
  assert(written == sizeof one);
}

void UringReadQueue::set_alarm() noexcept {
  if (alarm_.get() < 0 || is_alarm_set_ || ring_ == nullptr) return;
  io_uring_sqe* const entry = next_entry();
  ::io_uring_prep_read(entry, alarm_.get(), &alarm_count_, sizeof alarm_count_, 0);
  ::io_uring_sqe_set_data64(entry, slots_.size());
  prepared_.push_back(static_cast<SlotNumber>(slots_.size()));
  is_alarm_set_ = true;
}

io_uring_sqe* UringReadQueue::next_entry() noexcept {
  io_uring_sqe* const entry = ::io_uring_get_sqe(ring_->get());
  assert(entry != nullptr);  // R2
  return entry;
}

void UringReadQueue::prepare(SlotNumber number) noexcept {
  io_uring_sqe* const entry = next_entry();
  const PosixRead::Part part = slots_[number].read.part();
  ::io_uring_prep_read(entry, part.descriptor, part.memory.data(), static_cast<unsigned>(part.memory.size()),
                       part.offset);
  ::io_uring_sqe_set_data64(entry, number);
  prepared_.push_back(number);
}

/// Submits the prepared reads and waits for `wait_count` completions. Returns earlier if the kernel does.
void UringReadQueue::enter(std::size_t wait_count) noexcept {
  if (ring_ == nullptr || (prepared_.empty() && wait_count == 0)) return;
  const int result = ::io_uring_submit_and_wait(ring_->get(), static_cast<unsigned>(wait_count));
  if (result >= 0) {
    refusals_ = 0;
    const auto taken = static_cast<std::ptrdiff_t>(result);
    assert(static_cast<std::size_t>(taken) <= prepared_.size());
    prepared_.erase(prepared_.begin(), prepared_.begin() + taken);
    in_kernel_ += static_cast<std::size_t>(taken);
    return;
  }
  // The call was interrupted, or the kernel is short of memory for a moment: finished reads may free resources.
  const bool passes = result == -EINTR || result == -EAGAIN || result == -EBUSY || result == -ENOMEM;
  if (passes && ++refusals_ < kInterruptionsMax) {
    probe("a ring did not take what it was given");
    std::this_thread::yield();
  } else {
    give_ring_up();
  }
}

void UringReadQueue::collect() noexcept {
  if (ring_ == nullptr || in_kernel_ == 0) return;
  std::array<io_uring_cqe*, 64> completions{};
  unsigned count = 0;
  do {
    count = ::io_uring_peek_batch_cqe(ring_->get(), completions.data(), completions.size());
    for (unsigned i = 0; i < count; ++i) {
      const auto number = static_cast<SlotNumber>(::io_uring_cqe_get_data64(completions[i]));
      assert(in_kernel_ > 0);
      --in_kernel_;
      if (number == slots_.size()) {
        is_alarm_set_ = false;
        is_woken_ = true;
        continue;
      }
      assert(number < slots_.size());
      slots_[number].read.advance(completions[i]->res);
      place(number);
    }
    ::io_uring_cq_advance(ring_->get(), count);
  } while (count == completions.size());
}

void UringReadQueue::place(SlotNumber number) noexcept {
  if (slots_[number].read.done()) {
    finish(number);
  } else {
    ready_.push_back(number);
  }
}

void UringReadQueue::finish(SlotNumber number) noexcept {
  Slot& slot = slots_[number];
  finished_.push_back({slot.tag, slot.read.outcome()});
  slot.read = PosixRead();  // releases its memory
  free_.push_back(number);
}

/// Waits until the kernel has no read of this queue. A kernel that refuses to wait still delivers finished reads
/// whenever it is entered, and yielding enters it.
void UringReadQueue::drain() noexcept {
  if (ring_ == nullptr) return;
  if (is_alarm_set_) wake();
  collect();
  while (in_kernel_ > 0) {
    io_uring_cqe* completion = nullptr;
    if (::io_uring_wait_cqe(ring_->get(), &completion) != 0) std::this_thread::yield();
    collect();
  }
}

void UringReadQueue::give_ring_up() noexcept {
  probe("a ring was given up");
  drain();
  ring_.reset();  // and with it the entries that the kernel did not take
  if (is_alarm_set_) std::erase(prepared_, static_cast<SlotNumber>(slots_.size()));
  is_alarm_set_ = false;
  ready_.insert(ready_.end(), prepared_.begin(), prepared_.end());
  prepared_.clear();
}

}  // namespace varve::io
