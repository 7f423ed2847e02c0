// Owns: filters: a few bits for each key of a set, which say "not there" or "perhaps there".
// Must never: say "not there" of a hash that the filter was built from, or read outside its content.
//
// A filter is built from the content hashes (checksum.h) of keys or of prefixes of keys and knows nothing else of them.
// It has no checksum of its own: the block that holds it has one. Numbers are little-endian.
//
// Blocked Bloom filter: every key has its bits in one block of 64 bytes, so that a look-up costs one cache miss.
//   offset size
//        0    1  kind: 1
//        1    1  probes k: 1 to 14
//        2    4  count of blocks b; zero: no key
//        6  64b  blocks; bit i of a block is bit i % 8 of its byte i / 8
// A hash belongs to block (hash >> 32) * b >> 32. Its bits are cut from words, seven from each, lowest first, nine bits
// each: the first word is hash * 9E3779B97F4A7C15, and the next one is (w ^ w >> 32) * 9E3779B97F4A7C15 of the one
// before. All arithmetic is modulo 2^64.
// Source: Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007.
//
// Binary fuse filter: an array of fingerprints of one byte. Those at the three places of a key give, by exclusive or,
// the key's own.
//   offset size
//        0    1  kind: 2
//        1    1  binary logarithm of the segment length: 0 to 18
//        2    8  multiplier, odd
//       10    4  count of starts s: segments that a first place may lie in; zero: no key
//       14       fingerprints, (s + 2) segments of them; none if s is zero
// Of a hash, with L the segment length: m = hash * multiplier; g = m ^ m >> 32; the places are p = (g >> 32) * s * L
// >> 32, then (p + L) ^ (g >> 18) % L, then (p + 2 L) ^ g % L; the fingerprint is the lowest byte of m.
// Source: Graf, Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "varve/result.h"

namespace varve::format {

/// Stored; never reused.
enum class FilterKind : std::uint8_t {
  /// Fast to build; the size is the caller's choice. 10 bits a key: about 1 % of absent keys pass.
  kBlockedBloom = 1,
  /// Some ten times as slow to build; 9.5 bits a key in sets of 100,000, 11.3 in sets of 4,000; 0.4 % pass.
  kBinaryFuse = 2,
};

/// Hashes of one filter, repeated ones included.
inline constexpr std::size_t kFilterHashesMax = std::size_t{1} << 28;
inline constexpr double kBloomBitsPerKeyMin = 1;
inline constexpr double kBloomBitsPerKeyMax = 32;

/// The content of a filter that holds every hash given, in any order, and repeated as often as you like. The same
/// hashes in the same order give the same bytes. `bits_per_key` is for kBlockedBloom alone, which counts a hash again
/// unless it stands directly behind its equal.
/// Errors: kInvalidArgument (kind or bits out of range); kTooLarge (more than kFilterHashesMax).
Result<std::string> build_filter(FilterKind kind, std::span<const std::uint64_t> hashes, double bits_per_key);

/// A filter, read in place: the content outlives it. Any thread.
class FilterView {
 public:
  /// Errors: kUnsupported (a kind this build does not know); kCorruption (the content has not the shape of its kind).
  static Result<FilterView> parse(std::string_view content);

  FilterKind kind() const noexcept { return kind_; }
  /// False: the hash is not in the set.
  bool may_contain(std::uint64_t hash) const noexcept;

 private:
  FilterView() = default;
  static Result<FilterView> parse_bloom(std::string_view content);
  static Result<FilterView> parse_fuse(std::string_view content);

  FilterKind kind_ = FilterKind::kBlockedBloom;
  std::uint32_t shape_ = 0;   // Bloom: probes; fuse: segment length
  std::uint32_t places_ = 0;  // Bloom: blocks; fuse: first places
  std::uint64_t multiplier_ = 0;
  const char* bytes_ = nullptr;  // behind the header
};

}  // namespace varve::format
