// Owns: how much memory a block takes: the sizes of the slots in a span.
// Must never: depend on anything except the requested bytes.
//
// A span is divided into equal slots. The slot size is the span's size divided by the number of slots, rounded down to
// whole cache lines. So almost nothing is wasted at the span's end. For data blocks, neighbouring slot sizes differ by
// 1/30 to 1/14.
#pragma once

#include <cstddef>

namespace varve::engine {

inline constexpr std::size_t kCacheLineBytes = 64;

inline constexpr std::size_t kSpanBytes = std::size_t{128} << 10;
/// Bytes of a span left free, so that its slots can begin at one of several places. If the slots of all spans began at
/// equal offsets, their first lines would compete for few lines of the processor's caches. Every find reads those first
/// lines.
inline constexpr std::size_t kSpanColourBytes = 2048;
inline constexpr std::size_t kSlotsBytes = kSpanBytes - kSpanColourBytes;

/// Smallest and largest bytes of a block that gets a slot. Every other block is a piece of its own from the common
/// allocator. Small blocks are few. A span holds few large blocks, so much of it would be wasted.
inline constexpr std::size_t kSlotBytesMin = 1024;
inline constexpr std::size_t kSlotBytesMax = std::size_t{16} << 10;
inline constexpr std::size_t kSlotsMax = kSlotsBytes / kSlotBytesMin;

constexpr bool has_slot(std::size_t bytes) noexcept {
  return bytes >= kSlotBytesMin && bytes <= kSlotBytesMax;
}
/// Returns the slots of a span for blocks of `bytes` bytes, which have a slot.
constexpr std::size_t slots_for(std::size_t bytes) noexcept {
  const std::size_t lines = (bytes + kCacheLineBytes - 1) / kCacheLineBytes;
  return kSlotsBytes / (lines * kCacheLineBytes);
}
constexpr std::size_t slot_bytes_for(std::size_t bytes) noexcept {
  return kSlotsBytes / slots_for(bytes) / kCacheLineBytes * kCacheLineBytes;
}
/// Returns the bytes of memory that a block of `bytes` bytes takes, header included.
constexpr std::size_t taken_bytes_for(std::size_t bytes) noexcept {
  return has_slot(bytes) ? slot_bytes_for(bytes) : bytes;
}

}  // namespace varve::engine
