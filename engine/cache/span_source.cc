// Owns: the choice of a span's region, and of the moment when a span is given back to the system.
// Must never: call the system for each span that is taken or given back.

#include "engine/cache/span_source.h"

#include <bit>
#include <cassert>
#include <new>
#include <utility>

#include "engine/base/poison.h"

namespace varve::engine {

namespace {

constexpr std::size_t kSmallRegionBytes = std::size_t{512} << 10;
/// Bytes mapped as small regions before the first large region.
constexpr std::uint64_t kSmallRegionsBytes = std::uint64_t{16} << 20;
/// Free spans kept for reuse: a few, the spans of one large region if there are large regions, and a part of the used
/// spans.
constexpr std::uint64_t kKeptAlways = 4;
constexpr std::uint64_t kKeptOfLarge = io::kLargePageBytes / kSpanBytes;
constexpr std::uint64_t kKeptPart = 64;

using Mask = std::uint32_t;  // one bit for each span of a region
static_assert(io::kLargePageBytes / kSpanBytes <= 32);

constexpr Mask bit(std::size_t span) noexcept {
  return Mask{1} << span;
}

}  // namespace

struct SpanSource::Region {
  explicit Region(io::PageMemory pages) noexcept : memory(std::move(pages)), free((Mask{2} << (spans() - 1)) - 1) {}
  std::size_t spans() const noexcept { return memory.bytes().size() / kSpanBytes; }
  bool is_free() const noexcept { return static_cast<std::size_t>(std::popcount(free)) == spans(); }
  Mask kept() const noexcept { return free & ~absent; }
  /// Returns the rank: spans are taken from the region with the lowest rank. Regions that have free spans with pages
  /// come first, then regions without. Among them, fewer free spans come first, so that other regions can become free.
  /// Zero means that no span is free.
  std::size_t wanted_rank() const noexcept {
    const auto count = static_cast<std::size_t>(std::popcount(free));
    return count == 0 || kept() != 0 ? count : count + kRegionSpansMax;
  }

  io::PageMemory memory;
  Mask free;
  Mask absent = 0;  // free spans whose pages were given back to the system
  Region* before = nullptr;
  std::unique_ptr<Region> next;
  std::size_t rank = 0;  // the list that contains the region, between these two
  Region* alike_before = nullptr;
  Region* alike_after = nullptr;
};

SpanSource::SpanSource(io::Scheduler& scheduler) noexcept : mutex_(scheduler) {}

SpanSource::~SpanSource() {
  const io::MutexGuard guard(mutex_);
  assert(taken_ == 0);
  while (regions_ != nullptr) remove(*regions_);
  assert(kept_ == 0 && mapped_bytes_ == 0);
}

SpanSource::Span SpanSource::take() noexcept {
  const io::MutexGuard guard(mutex_);
  Region* region = fullest();
  if (region == nullptr) region = add_region();
  if (region == nullptr) return {};
  const bool was_kept = region->kept() != 0;
  const int number = std::countr_zero(was_kept ? region->kept() : region->free);
  region->free &= ~bit(static_cast<std::size_t>(number));
  region->absent &= region->free;
  rank(*region);
  if (was_kept) --kept_;
  ++taken_;
  held_bytes_.store((taken_ + kept_) * kSpanBytes, std::memory_order_relaxed);
  return {region->memory.bytes().data() + static_cast<std::size_t>(number) * kSpanBytes, region};
}

SpanSource::Region* SpanSource::fullest() noexcept {
  return ranks_in_use_ == 0 ? nullptr : ranks_[static_cast<std::size_t>(std::countr_zero(ranks_in_use_))];
}

void SpanSource::rank(Region& region) noexcept {
  const std::size_t wanted = region.wanted_rank();
  if (wanted == region.rank) return;
  take_from_rank(region);
  if (wanted == 0) return;
  Region*& first = ranks_[wanted];
  if (first != nullptr) first->alike_before = &region;
  region.alike_after = std::exchange(first, &region);
  region.rank = wanted;
  ranks_in_use_ |= std::uint64_t{1} << wanted;
}

void SpanSource::take_from_rank(Region& region) noexcept {
  if (region.rank == 0) return;
  if (region.alike_after != nullptr) region.alike_after->alike_before = region.alike_before;
  Region*& owner = region.alike_before == nullptr ? ranks_[region.rank] : region.alike_before->alike_after;
  owner = region.alike_after;
  if (ranks_[region.rank] == nullptr) ranks_in_use_ &= ~(std::uint64_t{1} << region.rank);
  region.rank = 0;
  region.alike_before = nullptr;
  region.alike_after = nullptr;
}

SpanSource::Region* SpanSource::add_region() noexcept {
  Result<io::PageMemory> pages =
      io::PageMemory::map(mapped_bytes_ < kSmallRegionsBytes ? kSmallRegionBytes : io::kLargePageBytes);
  if (!pages.ok()) return nullptr;
  std::unique_ptr<Region> region(new (std::nothrow) Region(*std::move(pages)));
  if (region == nullptr) return nullptr;
  mapped_bytes_ += region->memory.bytes().size();
  kept_ += region->spans();
  if (regions_ != nullptr) regions_->before = region.get();
  region->next = std::exchange(regions_, nullptr);
  regions_ = std::move(region);
  rank(*regions_);
  return regions_.get();
}

void SpanSource::remove(Region& region) noexcept {
  allow(region.memory.bytes());  // Other code will get these addresses.
  take_from_rank(region);
  mapped_bytes_ -= region.memory.bytes().size();
  kept_ -= static_cast<std::uint64_t>(std::popcount(region.kept()));
  if (region.next != nullptr) region.next->before = region.before;
  std::unique_ptr<Region>& owner = region.before == nullptr ? regions_ : region.before->next;
  owner = std::exchange(region.next, nullptr);
}

bool SpanSource::keeps_enough() const noexcept {
  const std::uint64_t of_large = mapped_bytes_ > kSmallRegionsBytes ? kKeptOfLarge : 0;
  return kept_ >= kKeptAlways + of_large + taken_ / kKeptPart;
}

void SpanSource::give_back(Span span) noexcept {
  const io::MutexGuard guard(mutex_);
  Region& region = *span.region;
  const auto offset = static_cast<std::size_t>(span.begin - region.memory.bytes().data());
  const bool is_kept = !keeps_enough();
  --taken_;
  region.free |= bit(offset / kSpanBytes);
  if (is_kept) {
    ++kept_;
  } else {
    region.absent |= bit(offset / kSpanBytes);
    if (!region.is_free()) region.memory.give_back(offset, kSpanBytes);
  }
  if (region.is_free() && !is_kept) {
    remove(region);
  } else {
    rank(region);
  }
  held_bytes_.store((taken_ + kept_) * kSpanBytes, std::memory_order_relaxed);
}

}  // namespace varve::engine
