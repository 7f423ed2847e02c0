// Owns: building the content of sorted blocks (sorted_block_builder.h).
// Must never: accept keys out of order.
#include "format/block/sorted_block_builder.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

#include "format/block/block.h"
#include "format/bytes/bytes.h"
#include "format/bytes/common_prefix.h"

namespace varve::format {
namespace {

/// Number of buckets for each key, as a fraction. At three quarters full, most buckets that are asked for contain a
/// single interval.
constexpr std::uint64_t kBucketsNumerator = 4;
constexpr std::uint64_t kBucketsDenominator = 3;
/// If entries are large, up to four buckets a key cost little in comparison, and four of five then contain a single
/// interval. A bucket of several intervals turns a step into a search.
constexpr std::uint64_t kLargeEntriesBuckets = 4;
constexpr std::uint64_t kEntriesBytesPerBucket = 64;

}  // namespace

std::string make_buckets(std::span<const HashedKey> keys, std::uint16_t bucket_count) {
  std::string buckets(bucket_count, static_cast<char>(kBucketOfNone));
  for (const HashedKey& key : keys) {
    char& bucket = buckets[bucket_of(key.key_hash, bucket_count)];
    const auto held = static_cast<std::uint8_t>(bucket);
    if (held == kBucketOfNone) {
      bucket = static_cast<char>(key.interval);
    } else if (held != key.interval) {
      bucket = static_cast<char>(kBucketOfSeveral);
    }
  }
  return buckets;
}

SortedBlockBuilder::SortedBlockBuilder(std::uint32_t restart_interval, Buckets buckets,
                                       std::size_t interval_bytes) noexcept
    : restart_interval_(restart_interval), interval_bytes_(interval_bytes), buckets_(buckets) {
  assert(restart_interval >= 1);
}

void SortedBlockBuilder::add(const SortedEntry& entry) {
  assert(empty() || last_key_ <= entry.key);
  const std::size_t value_bytes = entry.value_head.size() + entry.value_tail.size();
  assert(content_.size() + entry.key.size() + value_bytes <= kBlockRawBytesMax);
  std::size_t shared = common_prefix(entry.key, last_key_);
  if (empty() || shared != entry.key.size() || shared != last_key_.size()) ++distinct_keys_;
  if (empty() || interval_is_full()) {
    restarts_.push_back(static_cast<std::uint32_t>(content_.size()));
    interval_entries_ = 0;
    shared = 0;
  }
  ++interval_entries_;
  std::array<char, 3 * kVarint64BytesMax> head;
  char* end = store_varint(head.data(), shared);
  end = store_varint(end, entry.key.size() - shared);
  end = store_varint(end, value_bytes);
  content_.append(head.data(), static_cast<std::size_t>(end - head.data()));
  content_.append(entry.key.substr(shared)).append(entry.value_head).append(entry.value_tail);
  last_key_.assign(entry.key);
  if (buckets_ == Buckets::kIfTheyPay) {
    hashed_keys_.push_back({entry.key_hash, static_cast<std::uint32_t>(restarts_.size() - 1)});
  }
}

bool SortedBlockBuilder::interval_is_full() const noexcept {
  return interval_entries_ == restart_interval_ || content_.size() - restarts_.back() >= interval_bytes_;
}

/// Returns zero if one interval contains all entries, or if there are more intervals than a bucket can name.
std::uint16_t SortedBlockBuilder::bucket_count(std::size_t entries_bytes) const noexcept {
  if (buckets_ == Buckets::kNone || restarts_.size() < 2 || restarts_.size() > kHashedIntervalsMax) return 0;
  const std::uint64_t always = distinct_keys_ * kBucketsNumerator / kBucketsDenominator + 1;
  const std::uint64_t affordable =
      std::min<std::uint64_t>(distinct_keys_ * kLargeEntriesBuckets, entries_bytes / kEntriesBytesPerBucket);
  const std::uint64_t wanted = std::max(always, affordable);
  return static_cast<std::uint16_t>(std::min<std::uint64_t>(wanted, std::numeric_limits<std::uint16_t>::max()));
}

std::string_view SortedBlockBuilder::finish(std::uint64_t base_version) {
  assert(!empty());
  const std::uint16_t buckets = bucket_count(content_.size());
  for (const std::uint32_t restart : restarts_) append_u32(content_, restart);
  if (buckets > 0) content_.append(make_buckets(hashed_keys_, buckets));
  append_u64(content_, base_version);
  append_u32(content_, static_cast<std::uint32_t>(restarts_.size()));
  append_u16(content_, buckets);
  append_u16(content_, 0);
  return content_;
}

void SortedBlockBuilder::clear() noexcept {
  content_.clear();
  last_key_.clear();
  restarts_.clear();
  hashed_keys_.clear();
  interval_entries_ = 0;
  distinct_keys_ = 0;
}

}  // namespace varve::format
