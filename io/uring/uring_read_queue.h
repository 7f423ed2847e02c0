// Owns: many reads in flight through one io_uring.
// Must never: have more reads in the kernel than the ring holds, lose a result, or be destroyed while the kernel may
// still write to a caller's memory.
//
// Invariants
//   R1  every read in flight is in exactly one place: ready_, prepared_, the kernel, or finished_.
//   R2  in_kernel_ + prepared_ + ready_ + finished_ = in_flight_, plus one while the alarm is set. in_flight_ <= depth
//       < entries of the ring. The alarm's read, while it is set, is prepared or in the kernel. It uses the last entry.
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

/// Reads files of the plain-call file system through a ring; other files are read inside submit(). Reads begin in
/// reap(), all with one call. If the kernel begins to refuse the ring's calls (a filter that was installed later),
/// later reads use plain calls.
class UringReadQueue final : public ReadQueue {
 public:
  /// Errors: kInvalidArgument (the depth); those of Ring::make().
  static Result<std::unique_ptr<ReadQueue>> make(std::size_t depth);
  /// Only make() calls it.
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
  /// Moves a read to finished_ if it is done, else to ready_.
  void place(SlotNumber number) noexcept;
  void finish(SlotNumber number) noexcept;
  void drain() noexcept;
  void give_ring_up() noexcept;

  std::unique_ptr<Ring> ring_;  // null once it was given up
  const OwnerProcess owner_ = OwnerProcess::current();
  std::vector<Slot> slots_;
  // The alarm is an eventfd counter. Its read is in the ring like other reads, and ends when wake() raises the counter.
  Descriptor alarm_;
  std::uint64_t alarm_count_ = 0;  // the kernel writes it
  bool is_alarm_set_ = false;      // its read is prepared or in the kernel
  bool is_woken_ = false;
  std::size_t in_flight_ = 0;
  std::size_t in_kernel_ = 0;
  int refusals_ = 0;  // consecutive ones

  // All have capacity for as many as there are slots.
  std::vector<SlotNumber> free_;
  std::vector<SlotNumber> ready_;     // to be put into the ring, for the first time or for their rest
  std::vector<SlotNumber> prepared_;  // in the ring, not yet taken by the kernel; in the ring's order
  std::vector<FinishedRead> finished_;
};

}  // namespace varve::io
