// Owns: the encoding of the index of a local cache, which a process leaves to the next one (FORMAT.md, section 19).
// Must never: accept an index with a byte that was not checked, of a cache of another size, or of a version that it does not
// know.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "io/rados/cache_file.h"

namespace varve::io {

inline constexpr std::uint64_t kCacheSegmentBytes = std::uint64_t{1} << 20;

/// One entry of the cache: half of the hash of its place, and its position in the log.
struct CacheEntry {
  std::uint64_t hash = 0;      // zero: unused
  std::uint64_t position = 0;  // zero: offered once
};
using CacheBucket = std::array<CacheEntry, 8>;

struct FoundIndex {
  enum class Kind : std::uint8_t {
    kNone,     // there is none, or one of another version or of another size of the cache
    kDamaged,  // also if it is cut short
    kWhole,
  };
  Kind kind = Kind::kNone;
  std::uint64_t log_end = 0;  // of a whole one: the position of the next segment
  std::uint64_t entries = 0;  // of a whole one: those that are in the log
};

/// Fills the unused buckets of a cache of `size_bytes` from the index that the former process left. They are unused again
/// if the result is not kWhole. A whole index may be wrong about the blocks, so a reader checks each entry in the log.
FoundIndex read_cache_index(CacheIndexFile& file, std::uint64_t size_bytes, std::span<CacheBucket> buckets) noexcept;

/// Writes the index for the next process. Returns whether it is complete.
bool write_cache_index(CacheIndexFile& file, std::uint64_t size_bytes, std::uint64_t log_end,
                       std::span<const CacheBucket> buckets) noexcept;

}  // namespace varve::io
