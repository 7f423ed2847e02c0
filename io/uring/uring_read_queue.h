// Owns: many reads in flight through one io_uring.
// Must never: have more in the kernel than the ring holds, lose a result, or go while the kernel may still write to
// somebody's memory.
//
// Invariants
//   R1  every read in flight is in exactly one place: ready_, prepared_, the kernel, or finished_.
//   R2  in_kernel_ + prepared_ + ready_ + finished_ = in_flight_ <= depth < entries of the ring. The read of the alarm,
//       while there is one, is prepared or in the kernel too, and has the entry that is left.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "io/posix/posix_descriptor.h"
#include "io/posix/posix_process.h"
#include "io/posix/posix_read.h"
#include "io/read_queue.h"
#include "io/uring/ring.h"

namespace varve::io {

/// Of files of the plain-call back end; others are read inside submit(). Reads begin in reap(), all by one call. Where
/// the kernel comes to refuse the ring's calls (a filter put on later), reads go on by plain ones.
class UringReadQueue final : public ReadQueue {
 public:
  /// Errors: kInvalidArgument (the depth); as Ring::make.
  static Result<std::unique_ptr<ReadQueue>> make(std::size_t depth);
  /// For make() alone.
  UringReadQueue(std::unique_ptr<Ring> ring, std::size_t depth);
  ~UringReadQueue() override;
  UringReadQueue(const UringReadQueue&) = delete;
  UringReadQueue& operator=(const UringReadQueue&) = delete;

  std::string_view name() const noexcept override { return ring_ == nullptr ? "calls" : "io_uring"; }
  std::size_t depth() const noexcept override { return slots_.size(); }
  std::size_t in_flight() const noexcept override { return in_flight_; }
  Status submit(const ReadableFile& file, std::uint64_t offset, std::span<std::byte> bytes,
                std::uint64_t tag) noexcept override;
  std::size_t reap(std::span<FinishedRead> finished, std::size_t wait_count) noexcept override;
  Status allow_wake() noexcept override;
  void wake() noexcept override;

 private:
  using SlotNumber = std::uint32_t;
  struct Slot {
    PosixRead read;
    std::uint64_t tag = 0;
  };

  void begin_ready() noexcept;
  void prepare(SlotNumber number) noexcept;
  void set_alarm() noexcept;
  io_uring_sqe* next_entry() noexcept;
  void enter(std::size_t wait_count) noexcept;
  void collect() noexcept;
  /// To finished_ if it is done, else to ready_.
  void place(SlotNumber number) noexcept;
  void finish(SlotNumber number) noexcept;
  void drain() noexcept;
  void give_ring_up() noexcept;

  std::unique_ptr<Ring> ring_;  // null once it was given up
  const OwnerProcess owner_ = OwnerProcess::current();
  std::vector<Slot> slots_;
  // The alarm is a counter of the kernel's whose read, one among the others, ends when wake() raises it.
  Descriptor alarm_;
  std::uint64_t alarm_count_ = 0;  // the kernel writes here
  bool is_alarm_set_ = false;      // its read is prepared or in the kernel
  bool is_woken_ = false;
  std::size_t in_flight_ = 0;
  std::size_t in_kernel_ = 0;
  int refusals_ = 0;  // in a row

  // All have room for as many as there are slots.
  std::vector<SlotNumber> free_;
  std::vector<SlotNumber> ready_;     // to be put into the ring, anew or for their rest
  std::vector<SlotNumber> prepared_;  // in the ring, not taken by the kernel yet; in its order
  std::vector<FinishedRead> finished_;
};

}  // namespace varve::io
