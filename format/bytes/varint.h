// Owns: reading one varint from a bounded place, the short ones inline: the hot loop of blocks is made of them.
// Must never: accept what ByteReader would refuse; a value has one encoding.
#pragma once

#include <cstdint>

namespace varve::format {

/// A varint of any length, by a call. See take_varint.
const char* take_long_varint(const char* at, const char* end, std::uint64_t* value) noexcept;

/// The place behind the varint that begins at `at`, or null if none stands there whole and in its shortest form.
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
  return take_long_varint(at, end, value);
}

}  // namespace varve::format
