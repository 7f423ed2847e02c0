// Owns: passing reads to threads and returning their results.
// Must never: read while it holds the mutex.
#include "io/posix/threaded_read_queue.h"

#include <algorithm>
#include <utility>

#include "io/posix/posix_handle.h"

namespace varve::io {

Result<std::unique_ptr<ReadQueue>> ThreadedReadQueue::make(Scheduler& scheduler, std::size_t depth) {
  if (Status valid = check_read_depth(depth); !valid.ok()) return valid;
  return std::unique_ptr<ReadQueue>(std::make_unique<ThreadedReadQueue>(scheduler, depth));
}

ThreadedReadQueue::ThreadedReadQueue(Scheduler& scheduler, std::size_t depth)
    : scheduler_(scheduler),
      depth_(depth),
      mutex_(scheduler),
      wanted_changed_(scheduler),
      finished_changed_(scheduler) {
  wanted_.reserve(depth);
  finished_.reserve(depth);
  threads_.reserve(kThreadsMax);
}

ThreadedReadQueue::~ThreadedReadQueue() {
  {
    const MutexGuard guard(mutex_);
    is_closing_ = true;
  }
  wanted_changed_.notify_all();
}

Status ThreadedReadQueue::submit(const ReadableFile& file, std::uint64_t offset, std::span<std::byte> bytes,
                                 std::uint64_t tag) noexcept {
  if (!owner_.is_this_process()) return HandleGuard::refuse_fork("read", "in a queue");
  if (in_flight_ == depth_) return read_queue_full();
  ++in_flight_;
  if (!is_started_) start_threads();
  if (threads_.empty()) {
    FinishedRead read{tag, file.read_exactly(offset, bytes)};
    const MutexGuard guard(mutex_);
    finished_.push_back(std::move(read));
    return Status();
  }
  {
    const MutexGuard guard(mutex_);
    if (next_ > 0 && wanted_.size() == depth_) {
      wanted_.erase(wanted_.begin(), wanted_.begin() + static_cast<std::ptrdiff_t>(next_));
      next_ = 0;
    }
    wanted_.push_back({&file, offset, bytes, tag});
  }
  wanted_changed_.notify_one();
  return Status();
}

std::size_t ThreadedReadQueue::reap(std::span<FinishedRead> finished, std::size_t wait_count) noexcept {
  wait_count = std::min({wait_count, in_flight_, finished.size()});
  const MutexGuard guard(mutex_);
  awaited_ = wait_count;
  while (finished_.size() < wait_count && !is_woken_) finished_changed_.wait(mutex_);
  if (wait_count > 0) is_woken_ = false;
  awaited_ = SIZE_MAX;
  const std::size_t count = std::min(finished.size(), finished_.size());
  const auto end = finished_.begin() + static_cast<std::ptrdiff_t>(count);
  std::move(finished_.begin(), end, finished.begin());
  finished_.erase(finished_.begin(), end);
  in_flight_ -= count;
  return count;
}

void ThreadedReadQueue::wake() noexcept {
  const MutexGuard guard(mutex_);
  is_woken_ = true;
  finished_changed_.notify_one();
}

void ThreadedReadQueue::start_threads() noexcept {
  is_started_ = true;
  for (std::size_t i = 0; depth_ > 1 && i < std::min(depth_, kThreadsMax); ++i) {
    Result<Thread> thread = scheduler_.start("varve-read", [this] { run(); });
    if (!thread.ok()) return;  // Fewer threads are slower, not wrong.
    threads_.push_back(*std::move(thread));
  }
}

void ThreadedReadQueue::run() noexcept {
  mutex_.lock();
  while (true) {
    while (next_ == wanted_.size() && !is_closing_) wanted_changed_.wait(mutex_);
    if (is_closing_) break;  // Reads that have not begun are dropped.
    const Wanted wanted = wanted_[next_++];
    if (next_ == wanted_.size()) {
      wanted_.clear();
      next_ = 0;
    }
    mutex_.unlock();
    FinishedRead read{wanted.tag, wanted.file->read_exactly(wanted.offset, wanted.bytes)};
    mutex_.lock();
    finished_.push_back(std::move(read));
    if (finished_.size() >= awaited_) finished_changed_.notify_one();
  }
  mutex_.unlock();
}

}  // namespace varve::io
