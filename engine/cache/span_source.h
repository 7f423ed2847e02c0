// Owns: the large pieces of memory of a block cache, its regions, and which spans of them are free.
// Must never: keep more that is free than a small part of what is in use; know what lies in a span.
//
// The first megabytes are regions of small pages, of which only what is touched counts, so that a small cache costs no
// more than it holds. All others are one large page each: a block then lies in the reach of one entry of the
// processor's table of addresses, which knows all pages of a large cache where it could not know a hundredth of the
// small ones.
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

/// Any thread.
class SpanSource {
  struct Region;

 public:
  /// A span that was taken. No more than a name: the source owns the memory.
  struct Span {
    std::byte* begin = nullptr;
    Region* region = nullptr;
  };

  explicit SpanSource(io::Scheduler& scheduler) noexcept;
  ~SpanSource();  // all spans are back
  SpanSource(const SpanSource&) = delete;
  SpanSource& operator=(const SpanSource&) = delete;

  /// `begin` is null when the system has no memory.
  Span take() noexcept;
  void give_back(Span span) noexcept;

  /// Of the system: the spans that are taken, and the free ones that were not given back to it.
  std::uint64_t held_bytes() const noexcept { return held_bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kRegionSpansMax = io::kLargePageBytes / kSpanBytes;

  Region* fullest() noexcept VARVE_REQUIRES(mutex_);
  /// Where it stands now; after each change of what is free in it.
  void rank(Region& region) noexcept VARVE_REQUIRES(mutex_);
  void take_from_rank(Region& region) noexcept VARVE_REQUIRES(mutex_);
  Region* add_region() noexcept VARVE_REQUIRES(mutex_);
  void remove(Region& region) noexcept VARVE_REQUIRES(mutex_);
  bool keeps_enough() const noexcept VARVE_REQUIRES(mutex_);

  io::Mutex mutex_;
  std::unique_ptr<Region> regions_ VARVE_GUARDED_BY(mutex_);
  std::array<Region*, 1 + 2 * kRegionSpansMax> ranks_ VARVE_GUARDED_BY(mutex_){};  // lists of regions alike
  std::uint64_t ranks_in_use_ VARVE_GUARDED_BY(mutex_) = 0;                        // a bit for each
  std::uint64_t mapped_bytes_ VARVE_GUARDED_BY(mutex_) = 0;
  std::uint64_t taken_ VARVE_GUARDED_BY(mutex_) = 0;  // spans
  std::uint64_t kept_ VARVE_GUARDED_BY(mutex_) = 0;   // spans that are free, and whose pages the system may not have
  std::atomic<std::uint64_t> held_bytes_{0};
};

}  // namespace varve::engine
