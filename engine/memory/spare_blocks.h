// Owns: blocks of memory that memtables have given up, for the memtables that come next.
// Must never: keep more than it is allowed, or tell anything of what stood in a block.
//
// Memory from the system costs a fault and a cleared page for each 4 KiB, and where a host lends it to a virtual
// machine, as much again: an entity of a million bytes took 2.4 ms of processor time in memory that was new, and takes
// 0.9.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/file_scale.h"
#include "io/posix/large_pages.h"
#include "io/posix/page_memory.h"
#include "io/scheduler.h"

namespace varve::engine {

/// Any thread.
class SpareBlocks {
 public:
  static constexpr std::size_t kBlockBytes = 2 * io::kLargePageBytes / kFileScale;

  /// `scheduler` outlives it.
  explicit SpareBlocks(io::Scheduler& scheduler) noexcept : mutex_(scheduler) {}
  ~SpareBlocks() { trim(0); }
  SpareBlocks(const SpareBlocks&) = delete;
  SpareBlocks& operator=(const SpareBlocks&) = delete;

  /// One of kBlockBytes, with anything in it; empty if there is none.
  io::PageMemory take() noexcept;
  /// Keeps a block of kBlockBytes, if all of them are no more than `bytes_max` then; else the system has it.
  void keep(io::PageMemory block, std::uint64_t bytes_max) noexcept;
  /// Gives back to the system what is more.
  void trim(std::uint64_t bytes_max) noexcept;

  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  io::PageMemory take_locked() noexcept VARVE_REQUIRES(mutex_);

  io::Mutex mutex_;
  std::vector<io::PageMemory> blocks_ VARVE_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> bytes_{0};  // written under the mutex
};

}  // namespace varve::engine
