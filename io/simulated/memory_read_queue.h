// Owns: many reads in flight over files in memory: finished late, only on request, and in an order that its seed
// determines.
// Must never: let the memory of a read in flight contain the read's result, so that a caller that reads it too early
// fails.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "io/posix/posix_process.h"
#include "io/read_queue.h"
#include "io/simulated/manual_clock.h"

namespace varve::io {

/// Equal seeds and calls give an equal order. reap() and the destructor make the reads, in their thread. Until then,
/// the memory contains kScribble.
class MemoryReadQueue final : public ReadQueue {
 public:
  static constexpr std::byte kScribble{0xA5};

  /// Errors: see FileSystem::make_read_queue().
  static Result<std::unique_ptr<ReadQueue>> make(std::size_t depth, std::uint64_t seed);
  /// Only make() calls it.
  MemoryReadQueue(std::size_t depth, std::uint64_t seed);
  ~MemoryReadQueue() override;
  MemoryReadQueue(const MemoryReadQueue&) = delete;
  MemoryReadQueue& operator=(const MemoryReadQueue&) = delete;

  std::string_view name() const noexcept override { return "memory"; }
  std::size_t depth() const noexcept override { return depth_; }
  std::size_t in_flight() const noexcept override { return wanted_.size(); }
  Status submit(const ReadableFile& file, std::uint64_t offset, std::span<std::byte> bytes,
                std::uint64_t tag) noexcept override;
  std::size_t reap(std::span<FinishedRead> finished, std::size_t wait_count) noexcept override;
  Status allow_wake() noexcept override { return Status(); }
  void wake() noexcept override { is_woken_.store(true, std::memory_order_release); }

 private:
  struct Wanted {
    const ReadableFile* file = nullptr;
    std::uint64_t offset = 0;
    std::span<std::byte> bytes;
    std::uint64_t tag = 0;
  };

  /// Makes one of the reads in flight.
  FinishedRead finish_any() noexcept;

  const std::size_t depth_;
  const OwnerProcess owner_ = OwnerProcess::current();
  SeededRandom random_;
  std::atomic<bool> is_woken_{false};
  std::vector<Wanted> wanted_;  // has capacity for depth_
};

}  // namespace varve::io
