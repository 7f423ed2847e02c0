// Owns: the regions of a block cache, which are large pieces of memory, and the account of their free spans.
// Must never: keep more free memory than a small part of the used memory, or know the content of a span.
//
// The first 16 MiB are regions of small pages. Only touched pages use memory, so a small cache costs no more than it
// holds. Every later region is one large page, so one entry of the processor's address table (TLB) covers many blocks.
// The table holds all pages of a large cache that way. It could not hold a hundredth of the small pages.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/cache/block_size.h"
#include "io/posix/large_pages.h"
#include "io/posix/page_memory.h"
#include "io/scheduler.h"

namespace varve::engine {

/// Thread-safe.
class SpanSource {
  struct Region;

 public:
  /// A taken span. It is only a name: the source owns the memory.
  struct Span {
    std::byte* begin = nullptr;
    Region* region = nullptr;
  };

  explicit SpanSource(io::Scheduler& scheduler) noexcept;
  ~SpanSource();  // all spans were given back
  SpanSource(const SpanSource&) = delete;
  SpanSource& operator=(const SpanSource&) = delete;

  /// Takes a span. `begin` is null if the system has no memory.
  Span take() noexcept;
  void give_back(Span span) noexcept;

  /// Returns the bytes held from the system: taken spans, and free spans that were not given back to the system.
  std::uint64_t held_bytes() const noexcept { return held_bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kRegionSpansMax = io::kLargePageBytes / kSpanBytes;

  Region* fullest() noexcept VARVE_REQUIRES(mutex_);
  /// Moves the region to the list of its current rank. Called after each change of its free spans.
  void rank(Region& region) noexcept VARVE_REQUIRES(mutex_);
  void take_from_rank(Region& region) noexcept VARVE_REQUIRES(mutex_);
  Region* add_region() noexcept VARVE_REQUIRES(mutex_);
  void remove(Region& region) noexcept VARVE_REQUIRES(mutex_);
  bool keeps_enough() const noexcept VARVE_REQUIRES(mutex_);

  io::Mutex mutex_;
  std::unique_ptr<Region> regions_ VARVE_GUARDED_BY(mutex_);
  std::array<Region*, 1 + 2 * kRegionSpansMax> ranks_ VARVE_GUARDED_BY(mutex_){};  // lists of regions with equal ranks
  std::uint64_t ranks_in_use_ VARVE_GUARDED_BY(mutex_) = 0;                        // one bit for each rank
  std::uint64_t mapped_bytes_ VARVE_GUARDED_BY(mutex_) = 0;
  std::uint64_t taken_ VARVE_GUARDED_BY(mutex_) = 0;  // spans
  std::uint64_t kept_ VARVE_GUARDED_BY(mutex_) = 0;   // free spans whose pages the system has not got back
  std::atomic<std::uint64_t> held_bytes_{0};
};

}  // namespace varve::engine
