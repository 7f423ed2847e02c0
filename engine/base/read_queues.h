// Owns: read queues between two uses: making one costs more than a read.
// Must never: hand one to two callers, or keep one that has reads in flight.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// Reads that one caller has in flight at most: from there on the device gains little.
inline constexpr std::size_t kReadsInFlightMax = 128;

/// Any thread.
class ReadQueues {
 public:
  explicit ReadQueues(const io::Env& env) noexcept : env_(env), mutex_(env.scheduler) {}

  io::Scheduler& scheduler() const noexcept { return env_.scheduler; }
  /// Errors: those of FileSystem::make_read_queue.
  Result<std::unique_ptr<io::ReadQueue>> take();
  /// Nothing is in flight in it.
  void give_back(std::unique_ptr<io::ReadQueue> queue) noexcept;

 private:
  /// As many callers as are likely to read at once.
  static constexpr std::size_t kKept = 8;

  const io::Env& env_;
  io::Mutex mutex_;
  std::vector<std::unique_ptr<io::ReadQueue>> idle_ VARVE_GUARDED_BY(mutex_);
};

}  // namespace varve::engine
