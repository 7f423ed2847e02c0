// Owns: the head, the pieces and the checksums of an index (cache_index.h).
// Must never: believe an entry that lies outside the log.
#include "io/rados/cache_index.h"

#include <algorithm>
#include <type_traits>

#include <xxhash.h>

namespace varve::io {
namespace {

constexpr std::uint64_t kMagic = 0x3158444945565256;  // "VRVEIDX1"
constexpr std::uint64_t kIndexVersion = 1;
constexpr std::uint64_t kLogEndMax = std::uint64_t{1} << 62;
/// Bytes of one write and of one checksum.
constexpr std::size_t kIndexPieceBytes = std::size_t{1} << 20;

struct IndexHead {
  std::uint64_t magic = kMagic;
  std::uint64_t version = kIndexVersion;
  std::uint64_t size_bytes = 0;
  std::uint64_t log_end = 0;
  std::uint64_t buckets = 0;
};
static_assert(std::has_unique_object_representations_v<IndexHead>);
static_assert(std::has_unique_object_representations_v<CacheEntry> && sizeof(CacheBucket) == 8 * sizeof(CacheEntry));

std::uint64_t sum_of(const IndexHead& head) noexcept {
  return XXH3_64bits(&head, sizeof(head));
}

/// Returns the checksum of this piece and of all before it, which have the checksum `sum`.
std::uint64_t sum_with(std::span<const std::byte> piece, std::uint64_t sum) noexcept {
  return XXH3_64bits_withSeed(piece.data(), piece.size(), sum);
}

bool read_sum(CacheIndexFile& file, std::uint64_t expected) noexcept {
  std::uint64_t sum = 0;
  return file.read(std::as_writable_bytes(std::span(&sum, 1))) && sum == expected;
}

bool write_sum(CacheIndexFile& file, std::uint64_t sum) noexcept {
  return file.write(std::as_bytes(std::span(&sum, 1)));
}

/// Reads the buckets, their checksum, and the end of the file.
bool read_buckets(CacheIndexFile& file, std::uint64_t sum, std::span<CacheBucket> buckets) noexcept {
  for (std::span<std::byte> rest = std::as_writable_bytes(buckets); !rest.empty();) {
    const std::span<std::byte> piece = rest.first(std::min(rest.size(), kIndexPieceBytes));
    if (!file.read(piece)) return false;
    sum = sum_with(piece, sum);
    rest = rest.subspan(piece.size());
  }
  std::byte more{};
  return read_sum(file, sum) && !file.read(std::span(&more, 1));
}

/// Empties the entries that the log has not, and returns the number of the others.
std::uint64_t keep_known(std::span<CacheBucket> buckets, std::uint64_t oldest, std::uint64_t log_end) noexcept {
  std::uint64_t known = 0;
  for (CacheBucket& bucket : buckets) {
    for (CacheEntry& entry : bucket) {
      if (entry.position == 0) continue;
      const bool is_known = entry.hash != 0 && entry.position >= oldest && entry.position < log_end;
      if (!is_known) entry = CacheEntry();
      known += is_known ? 1 : 0;
    }
  }
  return known;
}

}  // namespace

FoundIndex read_cache_index(CacheIndexFile& file, std::uint64_t size_bytes, std::span<CacheBucket> buckets) noexcept {
  IndexHead head;
  if (!file.read(std::as_writable_bytes(std::span(&head, 1)))) return {};
  if (head.magic != kMagic || head.version != kIndexVersion) return {};
  const std::uint64_t sum = sum_of(head);
  if (!read_sum(file, sum)) return {FoundIndex::Kind::kDamaged, 0, 0};
  if (head.size_bytes != size_bytes || head.buckets != buckets.size()) return {};
  const bool has_end = head.log_end % kCacheSegmentBytes == 0 && head.log_end < kLogEndMax &&
                       head.log_end >= size_bytes && head.log_end - size_bytes >= kCacheSegmentBytes;
  if (!has_end || !read_buckets(file, sum, buckets)) {
    std::fill(buckets.begin(), buckets.end(), CacheBucket());
    return {FoundIndex::Kind::kDamaged, 0, 0};
  }
  return {FoundIndex::Kind::kWhole, head.log_end, keep_known(buckets, head.log_end - size_bytes, head.log_end)};
}

bool write_cache_index(CacheIndexFile& file, std::uint64_t size_bytes, std::uint64_t log_end,
                       std::span<const CacheBucket> buckets) noexcept {
  IndexHead head;
  head.size_bytes = size_bytes;
  head.log_end = log_end;
  head.buckets = buckets.size();
  std::uint64_t sum = sum_of(head);
  if (!file.write(std::as_bytes(std::span(&head, 1))) || !write_sum(file, sum)) return false;
  for (std::span<const std::byte> rest = std::as_bytes(buckets); !rest.empty();) {
    const std::span<const std::byte> piece = rest.first(std::min(rest.size(), kIndexPieceBytes));
    if (!file.write(piece)) return false;
    sum = sum_with(piece, sum);
    rest = rest.subspan(piece.size());
  }
  return write_sum(file, sum);
}

}  // namespace varve::io
