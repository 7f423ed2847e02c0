// Owns: filters: a few bits for each key of a set, which answer "absent" or "possibly present".
// Must never: answer "absent" for a hash that the filter was built from, or read outside its content.
//
// A filter is built only from the content hashes (checksum.h) of keys or of prefixes of keys. It has no checksum of its
// own: the block that contains it has one. Numbers are little-endian.
//
// Blocked Bloom filter: all bits of a key are in one block of 64 bytes, so that a look-up costs one cache miss.
//   offset size
//        0    1  kind: 1
//        1    1  probes k: 1 to 14
//        2    4  count of blocks b; zero: no key
//        6  64b  blocks; bit i of a block is bit i % 8 of its byte i / 8
// A hash belongs to block (hash >> 32) * b >> 32. Its bit numbers are taken from words: seven from each word, lowest
// first, nine bits each. The first word is hash * 9E3779B97F4A7C15. Each further word is (w ^ w >> 32) *
// 9E3779B97F4A7C15, where w is the previous word. All arithmetic is modulo 2^64.
// Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007.
//
// Binary fuse filter: an array of one-byte fingerprints. The exclusive or of the fingerprints at a key's three places
// is the key's own fingerprint.
//   offset size
//        0    1  kind: 2
//        1    1  binary logarithm of the segment length: 0 to 18
//        2    8  multiplier, odd
//       10    4  count of starts s: segments that can contain a first place; zero: no key
//       14       fingerprints, (s + 2) segments of them; none if s is zero
// For a hash, let L be the segment length: m = hash * multiplier; g = m ^ m >> 32. The places are p = (g >> 32) * s * L
// >> 32, then (p + L) ^ (g >> 18) % L, then (p + 2 L) ^ g % L. The fingerprint is the lowest byte of m.
// Source: Graf, Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "varve/result.h"

namespace varve::format {

/// The kind of a filter. The number is stored, and never reused.
enum class FilterKind : std::uint8_t {
  /// Fast to build. The caller chooses the size. With 10 bits a key, about 1 % of absent keys pass.
  kBlockedBloom = 1,
  /// About ten times slower to build. Uses 9.5 bits a key in sets of 100,000 and 11.3 in sets of 4,000. 0.4 % of absent
  /// keys pass.
  kBinaryFuse = 2,
};

/// Limit of the number of hashes in one filter, repeated ones included.
inline constexpr std::size_t kFilterHashesMax = std::size_t{1} << 28;
inline constexpr double kBloomBitsPerKeyMin = 1;
inline constexpr double kBloomBitsPerKeyMax = 32;

/// Returns the content of a filter that contains every given hash. The hashes may be in any order and repeated. The
/// same hashes in the same order give the same bytes. Only kBlockedBloom uses `bits_per_key`. It counts a repeated hash
/// again unless the hash directly follows its equal.
/// Errors: kInvalidArgument (kind or bits out of range); kTooLarge (more than kFilterHashesMax).
Result<std::string> build_filter(FilterKind kind, std::span<const std::uint64_t> hashes, double bits_per_key);

/// A filter that is read in place: the content must outlive it. Any thread may use it.
class FilterView {
 public:
  /// Errors: kUnsupported (a kind unknown to this build); kCorruption (content that does not have its kind's layout).
  static Result<FilterView> parse(std::string_view content);

  FilterKind kind() const noexcept { return kind_; }
  /// Returns false if the hash is not in the set.
  bool may_contain(std::uint64_t hash) const noexcept;

 private:
  FilterView() = default;
  static Result<FilterView> parse_bloom(std::string_view content);
  static Result<FilterView> parse_fuse(std::string_view content);

  FilterKind kind_ = FilterKind::kBlockedBloom;
  std::uint32_t shape_ = 0;   // Bloom: probes; fuse: segment length
  std::uint32_t places_ = 0;  // Bloom: blocks; fuse: first places
  std::uint64_t multiplier_ = 0;
  const char* bytes_ = nullptr;  // the bytes after the header
};

}  // namespace varve::format
