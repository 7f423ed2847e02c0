// Owns: the layout of a memtable's entry in memory.
// Must never: be seen outside the memtable and its index.
//
// 1. Tower: the links from the highest level down to level 0, 8 bytes each. A MemtableNode* points to the byte after
//    it.
// 2. Bytes of the internal key (u32), bytes of the value (u32), way to an old entry of the key (i32), internal key,
//    value.
// 3. For a value of kExternalValueBytesMin bytes or more: its LogPlace.
// 4. Padding to a multiple of 8 bytes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "engine/base/entry.h"
#include "engine/memory/arena.h"
#include "format/bytes/bytes.h"
#include "format/keys/internal_key.h"

namespace varve::engine {

struct MemtableNode {
  using Link = std::atomic<MemtableNode*>;
  static constexpr std::ptrdiff_t kWayUnit = Arena::kAlignment;

  std::uint32_t key_bytes = 0;  // of the internal key
  std::uint32_t value_bytes = 0;
  /// The distance to an older entry of the same key, in units of Arena::kAlignment. Zero: none is known. Set before the
  /// entry is linked. A key's first entry has none, and the others lead to the first one, or near it. So a scan passes
  /// a key with thousands of entries in a few steps.
  std::int32_t way_to_old = 0;

  // The key and value follow this object and the tower precedes it. The arena's piece extends over both ends.
  const char* bytes() const noexcept { return reinterpret_cast<const char*>(this + 1); }
  char* bytes() noexcept { return reinterpret_cast<char*>(this + 1); }
  const Link& link(std::size_t level) const noexcept { return *(reinterpret_cast<const Link*>(this) - 1 - level); }
  Link& link(std::size_t level) noexcept { return *(reinterpret_cast<Link*>(this) - 1 - level); }
  /// Returns the next node at a level. Acquires, so a thread that follows the link sees the whole entry (M1).
  MemtableNode* next(std::size_t level) const noexcept { return link(level).load(std::memory_order_acquire); }

  std::string_view internal_key() const noexcept { return {bytes(), key_bytes}; }
  std::string_view sort_key() const noexcept { return {bytes(), key_bytes - format::kInternalSuffixBytes}; }
  std::string_view value() const noexcept { return {bytes() + key_bytes, value_bytes}; }
  static bool has_log_place(std::size_t value_bytes) noexcept { return value_bytes >= kExternalValueBytesMin; }
  LogPlace log_place() const noexcept {
    LogPlace place;
    if (has_log_place(value_bytes)) std::memcpy(&place, bytes() + key_bytes + value_bytes, sizeof(place));
    return place;
  }
  format::CommitVersion version() const noexcept { return format::split_internal_key(internal_key()).version; }

  /// Returns an old entry of the same key, or null. Only entries of this key lie between.
  const MemtableNode* old() const noexcept {
    if (way_to_old == 0) return nullptr;
    return reinterpret_cast<const MemtableNode*>(reinterpret_cast<const char*>(this) +
                                                 std::ptrdiff_t{way_to_old} * kWayUnit);
  }
  /// `older` is the next entry of the same key. Keeps no way if the distance is too large for its field.
  void lead_to_old(const MemtableNode& older) noexcept {
    const MemtableNode* const target = older.old() != nullptr ? older.old() : &older;
    const std::intptr_t way =
        (reinterpret_cast<std::intptr_t>(target) - reinterpret_cast<std::intptr_t>(this)) / kWayUnit;
    if (std::in_range<std::int32_t>(way)) way_to_old = static_cast<std::int32_t>(way);
  }

  /// Returns whether this entry sorts before the other one. The bytes of two internal keys differ within the shorter one.
  bool is_before(const MemtableNode& other) const noexcept {
    constexpr std::size_t kWordBytes = 8;
    static_assert(format::kInternalSuffixBytes >= kWordBytes);
    const std::size_t last = std::min(key_bytes, other.key_bytes) - kWordBytes;
    for (std::size_t at = 0;; at = std::min(at + kWordBytes, last)) {
      const bool is_same = format::load_u64(bytes() + at) == format::load_u64(other.bytes() + at);
      if (is_same && at != last) continue;
      return format::load_u64_big_endian(bytes() + at) < format::load_u64_big_endian(other.bytes() + at);
    }
  }

  /// Returns whether this entry sorts before (key, version). Keys ascend; within a key, versions descend.
  bool is_before(std::string_view key, format::CommitVersion at) const noexcept {
    const int order = sort_key().compare(key);
    return order < 0 || (order == 0 && version() > at);
  }
};

static_assert(MemtableNode::Link::is_always_lock_free);
static_assert(sizeof(MemtableNode::Link) == 8 && alignof(MemtableNode::Link) <= Arena::kAlignment);
static_assert(sizeof(MemtableNode) == 12 && alignof(MemtableNode) <= Arena::kAlignment);

}  // namespace varve::engine
