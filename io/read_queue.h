// Owns: the door to many reads in flight from one thread: submitted one by one, finished in any order.
// Must never: finish a read twice, tell one as finished while its memory may still change, or hold more than its depth.
//
// Only reads go this way. A commit's log write is waited for by its leader alone, and one blocking call is the shortest
// way to that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "io/file.h"
#include "varve/result.h"

namespace varve::io {

/// Reads in flight in one queue.
inline constexpr std::size_t kReadDepthMax = 1024;

struct FinishedRead {
  std::uint64_t tag = 0;  // as given to submit()
  /// As of ReadableFile::read_exactly. Unless it is Ok, what the memory holds is nobody's.
  Status status;
};

/// One thread at a time, but for wake(); it may pass to another thread while nothing is in flight. A thread does not
/// end with reads in flight. A fork of the process leaves it alone: submit() answers kLocked there, and it is not
/// destroyed.
class ReadQueue {
 public:
  /// Waits until no read is in flight; how they ended is lost, and some may not have been made at all.
  virtual ~ReadQueue() = default;

  /// For statistics: "io_uring", "threads", "memory", and "calls" for an io_uring queue that gave its ring up.
  virtual std::string_view name() const noexcept = 0;
  /// The most that may be in flight.
  virtual std::size_t depth() const noexcept = 0;
  /// Submitted, and not told by reap() yet.
  virtual std::size_t in_flight() const noexcept = 0;

  /// Asks for all of `bytes` at `offset`. File and memory stay where they are until reap() has told the read; nobody
  /// reads or writes the memory before. The read may begin as late as the next call of reap(), so that many begin
  /// together. Of a file opened with ReadMode::kDirect, an offset, a size and an address that are multiples of
  /// kSectorBytes spare a copy. Errors: kBusy (in_flight() is depth()), kLocked (in a fork); nothing was submitted.
  /// Whatever else goes wrong is told by reap().
  virtual Status submit(const ReadableFile& file, std::uint64_t offset, std::span<std::byte> bytes,
                        std::uint64_t tag) noexcept = 0;

  /// Begins what was submitted, waits until `wait_count` reads are finished, or as many as are in flight or fit into
  /// `finished`, and stores those, and others that are finished by then, from its front. Returns how many. With zero it
  /// begins and does not wait.
  virtual std::size_t reap(std::span<FinishedRead> finished, std::size_t wait_count) noexcept = 0;

  /// Makes wake() possible; before the first read. Errors: kTooManyFiles, kIoError, kOutOfMemory.
  virtual Status allow_wake() noexcept = 0;
  /// The reap() that waits now, or else the next one that would, waits no longer, and may return less than it waits
  /// for. Any thread, after allow_wake().
  virtual void wake() noexcept = 0;
};

/// For those who implement it. Errors: kInvalidArgument.
Status check_read_depth(std::size_t depth) noexcept;
/// kBusy.
Status read_queue_full() noexcept;

}  // namespace varve::io
