// Owns: a log that stands still, so that a test can look at operations that wait.
// Must never: be let go of by anything but the test: a test that ends lets go.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/sync_points.h"
#include "engine/log/write_tracker.h"
#include "tests/api/async/async_support.h"
#include "tests/api/store_bench.h"

namespace varve::test {

/// While it is closed, writes of the log do not end. As many groups of commits as may be on their way to the log at
/// once are stuck there then, and the next one waits for them with the lock of its partition in its hands. Under the
/// operating system's scheduler; made before the commits that it holds up, and destroyed after they have ended.
class HeldLog {
 public:
  /// Of the queue of commits, its timer's among them, which count alike. Segments are made meanwhile.
  explicit HeldLog(StoreBench& bench) : files_(*bench.machine.files), scheduler_(bench.machine.scheduler()) {
    for (const io::SyncPoint& point :
         {engine::sync_points::kLogGroup, engine::sync_points::kLogBuffer, engine::sync_points::kLogWatermark}) {
      io::FaultRule never;
      never.sync_point = point.name;
      never.fail_count = io::FaultRule::kFromThenOn;
      never.effect = io::FaultEffect::kNever;
      files_.faults().add(std::move(never));
    }
  }
  ~HeldLog() {
    let_go();
    blockers_.clear();
  }
  HeldLog(const HeldLog&) = delete;
  HeldLog& operator=(const HeldLog&) = delete;

  /// Fills the way to the log by writes to partitions of its own: from now on a write that has its lock keeps it.
  void fill(const AsyncTable& table) {
    for (std::size_t group = 1; group <= engine::kLogWritesInFlightMax; ++group) {
      // It gathers until it is as large as all that are on their way.
      const std::size_t commits = std::max<std::size_t>(1, blockers_.size());
      for (std::size_t i = 0; i < commits; ++i) {
        const std::string partition = "blocker" + std::to_string(blockers_.size());
        blockers_.push_back(std::make_unique<Begun<Result<ETag>>>(
            scheduler_, table.insert_or_replace(with_value(partition, "r", "x"))));
      }
      files_.await_stuck(group);
    }
  }
  void let_go() {
    files_.faults().clear();
    files_.let_go();
  }

 private:
  io::MemoryFileSystem& files_;
  io::Scheduler& scheduler_;
  std::vector<std::unique_ptr<Begun<Result<ETag>>>> blockers_;
};

}  // namespace varve::test
