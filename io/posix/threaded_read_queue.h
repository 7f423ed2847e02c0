// Owns: many reads in flight without io_uring: a few threads, each in a blocking read.
// Must never: know what kind of file it reads. It uses only the interface of file.h.
//
// It uses several threads, because a device serves a queue of one at a quarter of the rate of a queue of eight.
// Containers commonly refuse io_uring, so this is not a rare path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "io/posix/posix_process.h"
#include "io/read_queue.h"
#include "io/scheduler.h"

namespace varve::io {

/// Begins reads at once, in the order in which they were submitted. The first read starts the threads. If the depth is
/// one, or if the system refuses all threads, the queue reads inside submit().
class ThreadedReadQueue final : public ReadQueue {
 public:
  /// Limit of the number of threads. More threads would wait longer for the two locks around each read than for the
  /// device.
  static constexpr std::size_t kThreadsMax = 8;

  /// Errors: see FileSystem::make_read_queue().
  static Result<std::unique_ptr<ReadQueue>> make(Scheduler& scheduler, std::size_t depth);
  /// Only make() calls it.
  ThreadedReadQueue(Scheduler& scheduler, std::size_t depth);
  ~ThreadedReadQueue() override;
  ThreadedReadQueue(const ThreadedReadQueue&) = delete;
  ThreadedReadQueue& operator=(const ThreadedReadQueue&) = delete;

  std::string_view name() const noexcept override { return "threads"; }
  std::size_t depth() const noexcept override { return depth_; }
  std::size_t in_flight() const noexcept override { return in_flight_; }
  Status submit(const ReadableFile& file, std::uint64_t offset, std::span<std::byte> bytes,
                std::uint64_t tag) noexcept override;
  std::size_t reap(std::span<FinishedRead> finished, std::size_t wait_count) noexcept override;
  Status allow_wake() noexcept override { return Status(); }
  void wake() noexcept override;

 private:
  struct Wanted {
    const ReadableFile* file = nullptr;
    std::uint64_t offset = 0;
    std::span<std::byte> bytes;
    std::uint64_t tag = 0;
  };

  void start_threads() noexcept;
  void run() noexcept;

  Scheduler& scheduler_;
  const std::size_t depth_;
  const OwnerProcess owner_ = OwnerProcess::current();
  std::size_t in_flight_ = 0;  // only the owner uses it

  Mutex mutex_;
  Condition wanted_changed_;
  Condition finished_changed_;
  // Neither exceeds depth_, and both have that capacity from the start.
  std::vector<Wanted> wanted_ VARVE_GUARDED_BY(mutex_);
  std::size_t next_ VARVE_GUARDED_BY(mutex_) = 0;  // index in wanted_ of the next read to begin
  std::vector<FinishedRead> finished_ VARVE_GUARDED_BY(mutex_);
  std::size_t awaited_ VARVE_GUARDED_BY(mutex_) = SIZE_MAX;  // finished reads that the owner waits for, if it waits
  bool is_woken_ VARVE_GUARDED_BY(mutex_) = false;
  bool is_closing_ VARVE_GUARDED_BY(mutex_) = false;

  bool is_started_ = false;
  std::vector<Thread> threads_;  // last: they use all members above
};

}  // namespace varve::io
