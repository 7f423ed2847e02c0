// Owns: the interface for many reads in flight from one thread: submitted one by one, finished in any order.
// Must never: finish a read twice, report a read as finished while its memory may still change, or exceed its depth.
//
// Only reads use a queue. A commit's log write has a single waiter, the leader, and one blocking call is the fastest
// way to do it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "io/file.h"
#include "varve/result.h"

namespace varve::io {

/// Limit of the number of reads in flight in one queue.
inline constexpr std::size_t kReadDepthMax = 1024;

struct FinishedRead {
  std::uint64_t tag = 0;  // as given to submit()
  /// The status of ReadableFile::read_exactly(). Unless it is Ok, the content of the memory is undefined.
  Status status;
};

/// One thread at a time may use a queue, except for wake(). The queue may pass to another thread while no read is in
/// flight. A thread must not end with reads in flight. In a forked child, submit() returns kLocked, and the child does
/// not destroy the queue.
class ReadQueue {
 public:
  /// Waits until no read is in flight. The results of the reads are lost, and some reads may not be made at all.
  virtual ~ReadQueue() = default;

  /// For statistics. Returns "io_uring", "threads", "memory", or "calls" for an io_uring queue that gave up its ring.
  virtual std::string_view name() const noexcept = 0;
  /// Returns the maximum number of reads in flight.
  virtual std::size_t depth() const noexcept = 0;
  /// Returns the number of reads that were submitted and not yet returned by reap().
  virtual std::size_t in_flight() const noexcept = 0;

  /// Requests all of `bytes` at `offset`. File and memory must stay valid, and no thread may access the memory, until
  /// reap() returns the read. The read may begin as late as the next reap(), so that many begin together. If the file
  /// was opened with ReadMode::kDirect, an offset, a size and an address that are multiples of kSectorBytes save a
  /// copy.
  /// Errors: kBusy (in_flight() is depth()), kLocked (in a fork); nothing was submitted. reap() reports every other
  /// failure.
  virtual Status submit(const ReadableFile& file, std::uint64_t offset, std::span<std::byte> bytes,
                        std::uint64_t tag) noexcept = 0;

  /// Begins the submitted reads. Waits until `wait_count` reads are finished, or fewer if fewer are in flight or fit
  /// into `finished`. Stores the finished reads, including additional ones, at the front of `finished`, and returns
  /// their number. If `wait_count` is zero, it does not wait.
  virtual std::size_t reap(std::span<FinishedRead> finished, std::size_t wait_count) noexcept = 0;

  /// Makes wake() possible. The caller calls it before the first read. Errors: kTooManyFiles, kIoError, kOutOfMemory.
  virtual Status allow_wake() noexcept = 0;
  /// Ends the wait of the present reap(), or of the next reap() that would wait. That reap() may return fewer reads
  /// than it waits for. Any thread may call it after allow_wake().
  virtual void wake() noexcept = 0;
};

/// For implementations. Errors: kInvalidArgument.
Status check_read_depth(std::size_t depth) noexcept;
/// For implementations. Returns kBusy.
Status read_queue_full() noexcept;

}  // namespace varve::io
