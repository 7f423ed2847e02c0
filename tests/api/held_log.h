// Owns: a log that is blocked, so that a test can check waiting operations.
// Must never: be released except by the test. A test releases it before it ends.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/sync_points.h"
#include "engine/log/write_depth.h"
#include "tests/api/async/async_support.h"
#include "tests/api/store_bench.h"

namespace varve::test {

/// Inserts two entities of partition "p" in one transaction, which needs the partition whole.
inline Task<Result<ETag>> insert_pair(AsyncTable table, std::string row, std::string other, WriteOptions options = {}) {
  EntityGroupTransaction pair;
  pair.insert(with_value("p", row, "x")).insert(with_value("p", other, "x"));
  const Result<std::vector<ETag>> etags = co_await table.execute(std::move(pair), std::move(options));
  if (!etags.ok()) co_return etags.status();
  co_return etags->front();
}

/// While it is closed, writes of the log do not end. It blocks as many commit groups in flight as a new store has, and the
/// next group waits for them while its commits have their partitions locked. Used under the operating system's
/// scheduler. Created before the commits that it blocks, and destroyed after they have ended.
class HeldLog {
 public:
  /// Blocks the queue of commits, including the timer's writes, which count alike. Segments are still created.
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

  /// Fills the log with writes to separate partitions. From now on a write that has its lock keeps it.
  void fill(const AsyncTable& table) {
    for (std::size_t group = 1; group <= engine::kLogWritesInFlightFirst; ++group) {
      // A group gathers until it is as large as all groups in flight.
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
