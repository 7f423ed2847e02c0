// Owns: the shared parts of the tests of the asynchronous threads: steps made of functions, a count to wait for, and a
// file system whose reads can be blocked.
// Must never: check results. The tests check them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "engine/base/step.h"
#include "io/file_system.h"
#include "io/posix/threaded_read_queue.h"
#include "io/scheduler.h"

namespace varve::test {

class Call final : public engine::Step {
 public:
  explicit Call(std::function<void()> body) : body_(std::move(body)) {}
  void run() noexcept override { body_(); }

 private:
  const std::function<void()> body_;
};

/// Counts the events that are still awaited.
class Countdown {
 public:
  Countdown(io::Scheduler& scheduler, std::size_t count) : left_(count), mutex_(scheduler), changed_(scheduler) {}

  void tick() noexcept {
    const io::MutexGuard guard(mutex_);
    --left_;
    changed_.notify_all();
  }
  void wait() noexcept {
    const io::MutexGuard guard(mutex_);
    while (left_ > 0) changed_.wait(mutex_);
  }

 private:
  std::size_t left_;
  io::Mutex mutex_;
  io::Condition changed_;
};

/// Blocks reads while it is closed.
class Gate {
 public:
  explicit Gate(io::Scheduler& scheduler) : mutex_(scheduler), changed_(scheduler) {}

  void set_open(bool open) noexcept {
    const io::MutexGuard guard(mutex_);
    is_open_ = open;
    changed_.notify_all();
  }
  void pass() noexcept {
    const io::MutexGuard guard(mutex_);
    ++standing_;
    changed_.notify_all();
    while (!is_open_) changed_.wait(mutex_);
    --standing_;
  }
  /// Returns when a read is blocked by the gate.
  void wait_for_standing() noexcept {
    const io::MutexGuard guard(mutex_);
    while (standing_ == 0) changed_.wait(mutex_);
  }

 private:
  io::Mutex mutex_;
  io::Condition changed_;
  bool is_open_ = true;
  std::size_t standing_ = 0;
};

class GatedFile final : public io::ReadableFile {
 public:
  GatedFile(const io::ReadableFile& file, Gate& gate) : file_(file), gate_(gate) {}
  std::uint64_t size_bytes() const noexcept override { return file_.size_bytes(); }
  io::FileKey key() const noexcept override { return file_.key(); }
  Status read_exactly(std::uint64_t offset, std::span<std::byte> bytes) const override {
    gate_.pass();
    return file_.read_exactly(offset, bytes);
  }

 private:
  const io::ReadableFile& file_;
  Gate& gate_;
};

/// Reads with threads of the scheduler, so that a reap waits as for a device.
class GatedQueue final : public io::ReadQueue {
 public:
  GatedQueue(std::unique_ptr<io::ReadQueue> queue, Gate& gate) : gate_(gate), queue_(std::move(queue)) {}

  std::string_view name() const noexcept override { return "gated"; }
  std::size_t depth() const noexcept override { return queue_->depth(); }
  std::size_t in_flight() const noexcept override { return queue_->in_flight(); }
  Status submit(const io::ReadableFile& file, std::uint64_t offset, std::span<std::byte> bytes,
                std::uint64_t tag) noexcept override {
    return queue_->submit(gated_.emplace_back(file, gate_), offset, bytes, tag);
  }
  std::size_t reap(std::span<io::FinishedRead> finished, std::size_t wait_count) noexcept override {
    return queue_->reap(finished, wait_count);
  }
  Status allow_wake() noexcept override { return queue_->allow_wake(); }
  void wake() noexcept override { queue_->wake(); }

 private:
  Gate& gate_;
  std::deque<GatedFile> gated_;  // one for each read, until its end
  std::unique_ptr<io::ReadQueue> queue_;
};

/// The files of another file system, read through the gate.
class GatedFiles final : public io::FileSystem {
 public:
  GatedFiles(io::FileSystem& files, io::Scheduler& scheduler) : gate_(scheduler), files_(files) {}

  Gate& gate() noexcept { return gate_; }
  /// Sets the answer to requests for a queue.
  void refuse_queues(Status status) { refusal_ = std::move(status); }

  std::string_view name() const noexcept override { return files_.name(); }
  Result<std::unique_ptr<io::Directory>> open_directory(std::string_view path) override {
    return files_.open_directory(path);
  }
  Status create_directory(std::string_view path, io::SyncPoint point) override {
    return files_.create_directory(path, point);
  }
  Result<std::unique_ptr<io::ReadQueue>> make_read_queue(io::Scheduler& scheduler, std::size_t depth) override {
    if (!refusal_.ok()) return refusal_;
    Result<std::unique_ptr<io::ReadQueue>> queue = io::ThreadedReadQueue::make(scheduler, depth);
    if (!queue.ok()) return queue.status();
    return std::unique_ptr<io::ReadQueue>(std::make_unique<GatedQueue>(*std::move(queue), gate_));
  }

 private:
  Gate gate_;
  io::FileSystem& files_;
  Status refusal_;
};

}  // namespace varve::test
