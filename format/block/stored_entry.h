// Owns: one entry of a sorted block as it is stored (sorted_block.h).
// Must never: accept an entry that goes on past the entries' end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "format/bytes/bytes.h"
#include "format/bytes/varint.h"

namespace varve::format {

/// An entry's key is the first `shared` bytes of the key before it, then `unshared`.
struct StoredEntry {
  std::uint64_t shared = 0;
  std::string_view unshared;
  std::string_view value;
  const char* end = nullptr;
};

/// The three lengths that precede an entry's bytes.
struct StoredEntryLengths {
  std::uint64_t shared = 0;
  std::uint64_t unshared = 0;
  std::uint64_t value = 0;
};

/// Reads any three varints. Returns the address after them, or null.
const char* take_any_lengths(const char* at, const char* end, StoredEntryLengths* lengths) noexcept;

/// Reads the three lengths. Nearly all keys are shorter than 128 bytes and values than 16 KiB, and one load then reads
/// all of them.
[[gnu::always_inline]] inline const char* take_lengths(const char* at, const char* end,
                                                       StoredEntryLengths* lengths) noexcept {
  if (end - at >= static_cast<std::ptrdiff_t>(sizeof(std::uint32_t))) [[likely]] {
    constexpr std::uint32_t kSeven = 0x7F;
    const std::uint32_t head = load_u32(at);
    const std::uint32_t above = head >> 24;
    const bool is_short_value = (head & 0x00808080) == 0;
    if (is_short_value || ((head & 0x80808080) == 0x00800000 && above != 0)) [[likely]] {
      lengths->shared = head & kSeven;
      lengths->unshared = head >> 8 & kSeven;
      lengths->value = (head >> 16 & kSeven) | (is_short_value ? 0 : above << 7);
      return at + (is_short_value ? 3 : 4);
    }
  }
  StoredEntryLengths any;  // of its own, so that those of most entries need no memory
  at = take_any_lengths(at, end, &any);
  *lengths = any;
  return at;
}

/// Reads the entry at `at`, before the entries' end. Returns false if no whole entry is there.
[[gnu::always_inline]] inline bool decode_stored_entry(const char* at, const char* end, StoredEntry* entry) noexcept {
  StoredEntryLengths lengths;
  at = take_lengths(at, end, &lengths);
  if (at == nullptr) [[unlikely]]
    return false;
  const auto left = static_cast<std::uint64_t>(end - at);
  if (lengths.unshared > left || lengths.value > left - lengths.unshared) [[unlikely]]
    return false;
  entry->shared = lengths.shared;
  entry->unshared = {at, static_cast<std::size_t>(lengths.unshared)};
  entry->value = {at + lengths.unshared, static_cast<std::size_t>(lengths.value)};
  entry->end = at + lengths.unshared + lengths.value;
  return true;
}

}  // namespace varve::format
