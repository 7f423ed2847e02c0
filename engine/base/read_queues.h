// Owns: keeping idle read queues for reuse, because making one costs more than a read.
// Must never: give one queue to two callers, or keep one that has reads in flight.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// Limit of the reads that one caller has in flight. With more, the device gains little.
inline constexpr std::size_t kReadsInFlightMax = 128;

/// Idle read queues. Any thread may use it.
class ReadQueues {
 public:
  explicit ReadQueues(const io::Env& env) noexcept : env_(env), mutex_(env.scheduler) {}

  io::Scheduler& scheduler() const noexcept { return env_.scheduler; }
  /// Returns the bytes of one read, as FileSystem::good_read_bytes().
  std::size_t good_read_bytes() const noexcept { return env_.files.good_read_bytes(); }
  /// Returns an idle queue or makes one. Errors: those of FileSystem::make_read_queue().
  Result<std::unique_ptr<io::ReadQueue>> take();
  /// Takes a queue back. It must have no reads in flight.
  void give_back(std::unique_ptr<io::ReadQueue> queue) noexcept;

 private:
  /// Limit of the idle queues: as many as callers are likely to read at once.
  static constexpr std::size_t kKept = 8;

  const io::Env& env_;
  io::Mutex mutex_;
  std::vector<std::unique_ptr<io::ReadQueue>> idle_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve::engine
