// Owns: how much memory a block takes: the sizes of slots, of which a span has as many as it holds.
// Must never: depend on anything but the bytes that are asked for.
//
// A span is divided into equal slots. Their size is that of a span by how many there are, rounded down to whole cache
// lines, so that nothing is left at its end, and sizes are a thirtieth to a fourteenth apart where blocks of data
// are.
#pragma once

#include <cstddef>

namespace varve::engine {

inline constexpr std::size_t kCacheLineBytes = 64;

inline constexpr std::size_t kSpanBytes = std::size_t{128} << 10;
/// Of a span, what is left free to begin its slots at one of several places: those of all spans at the same one would
/// be rivals for the same few lines of the processor's caches, and their first lines are what every find reads.
inline constexpr std::size_t kSpanColourBytes = 2048;
inline constexpr std::size_t kSlotsBytes = kSpanBytes - kSpanColourBytes;

/// What is smaller or larger is a piece of its own of the common allocator: small ones are few, and of large ones a
/// span would hold so few that much of it were lost.
inline constexpr std::size_t kSlotBytesMin = 1024;
inline constexpr std::size_t kSlotBytesMax = std::size_t{16} << 10;
inline constexpr std::size_t kSlotsMax = kSlotsBytes / kSlotBytesMin;

constexpr bool has_slot(std::size_t bytes) noexcept {
  return bytes >= kSlotBytesMin && bytes <= kSlotBytesMax;
}
/// For bytes that have a slot.
constexpr std::size_t slots_for(std::size_t bytes) noexcept {
  const std::size_t lines = (bytes + kCacheLineBytes - 1) / kCacheLineBytes;
  return kSlotsBytes / (lines * kCacheLineBytes);
}
constexpr std::size_t slot_bytes_for(std::size_t bytes) noexcept {
  return kSlotsBytes / slots_for(bytes) / kCacheLineBytes * kCacheLineBytes;
}
/// Of the memory for a block of so many bytes, header included.
constexpr std::size_t taken_bytes_for(std::size_t bytes) noexcept {
  return has_slot(bytes) ? slot_bytes_for(bytes) : bytes;
}

}  // namespace varve::engine
