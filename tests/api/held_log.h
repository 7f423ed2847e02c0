// Owns: a log that stands still, so that a test can look at operations that wait.
// Must never: be let go of by anything but the test: a test that ends lets go.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/commit/write_tracker.h"
#include "engine/sync_points.h"
#include "tests/api/async_support.h"
#include "tests/api/store_bench.h"

namespace varve::test {

/// While it is closed, writes of the log do not end. As many commits as may be on their way to the log at once are
/// stuck there then, and the next one waits for them with the lock of its partition in its hands. Under the operating
/// system's scheduler; made before the commits that it holds up, and destroyed after they have ended.
class HeldLog {
 public:
  explicit HeldLog(StoreBench& bench) : bench_(bench) {
    bench.machine.files->set_observer([this](const io::Operation& operation, io::Moment moment) {
      if (moment == io::Moment::kBefore && is_of_a_commit(operation)) hold();
    });
  }
  ~HeldLog() {
    let_go();
    blockers_.clear();
    bench_.machine.files->set_observer({});
  }
  HeldLog(const HeldLog&) = delete;
  HeldLog& operator=(const HeldLog&) = delete;

  /// Fills the way to the log by writes to partitions of its own: from now on a write that has its lock keeps it.
  void fill(const AsyncTable& table) {
    for (std::size_t i = 0; i < engine::kLogWritesInFlightMax; ++i) {
      const std::string partition = "blocker" + std::to_string(i);
      blockers_.push_back(std::make_unique<Begun<Result<ETag>>>(
          bench_.machine.scheduler(), table.insert_or_replace(with_value(partition, "r", "x"))));
      wait_until_held(i + 1);
    }
  }
  void let_go() {
    const std::lock_guard<std::mutex> guard(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }

 private:
  /// Of the queue of commits, its timer's among them, which count alike. Segments are made meanwhile.
  static bool is_of_a_commit(const io::Operation& operation) {
    return operation.sync_point == engine::sync_points::kLogGroup.name ||
           operation.sync_point == engine::sync_points::kLogBuffer.name ||
           operation.sync_point == engine::sync_points::kLogWatermark.name;
  }
  void hold() {
    std::unique_lock<std::mutex> guard(mutex_);
    ++held_;
    changed_.notify_all();
    while (!is_open_) changed_.wait(guard);
  }
  void wait_until_held(std::size_t count) {
    std::unique_lock<std::mutex> guard(mutex_);
    while (held_ < count) changed_.wait(guard);
  }

  StoreBench& bench_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t held_ = 0;
  bool is_open_ = false;
  std::vector<std::unique_ptr<Begun<Result<ETag>>>> blockers_;
};

}  // namespace varve::test
