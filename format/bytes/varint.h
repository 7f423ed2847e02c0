// Owns: reading one varint from a bounded buffer. Short varints are read inline, because the inner loop over blocks
// reads little else.
// Must never: accept a varint that ByteReader would refuse. Each value has one encoding.
#pragma once

#include <cstdint>

namespace varve::format {

/// Reads a varint of any length, out of line. See take_varint().
const char* take_long_varint(const char* at, const char* end, std::uint64_t* value) noexcept;

/// Returns the address after the varint that begins at `at`, or null if no complete varint in its shortest form begins
/// there.
inline const char* take_varint(const char* at, const char* end, std::uint64_t* value) noexcept {
  constexpr unsigned kMore = 0x80;
  if (end - at >= 2) [[likely]] {
    const unsigned first = static_cast<unsigned char>(at[0]);
    if (first < kMore) {
      *value = first;
      return at + 1;
    }
    const unsigned second = static_cast<unsigned char>(at[1]);
    if (second < kMore && second != 0) {
      *value = (first - kMore) | (second << 7);
      return at + 2;
    }
  }
  std::uint64_t any = 0;  // of its own, so that a short one needs no memory
  at = take_long_varint(at, end, &any);
  *value = any;
  return at;
}

}  // namespace varve::format
