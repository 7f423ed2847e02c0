// Owns: the layout of a memtable's entry in memory.
// Must never: be seen outside the memtable and its index.
//
// 1. Tower: the links from the highest level down to level 0, 8 bytes each. A MemtableNode* points to the byte after
//    it.
// 2. Bytes of the internal key (u32), bytes of the value (u32), internal key, value.
// 3. For a value of kExternalValueBytesMin bytes or more: its LogPlace.
// 4. Padding to a multiple of 8 bytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "engine/base/entry.h"
#include "engine/memory/arena.h"
#include "format/keys/internal_key.h"

namespace varve::engine {

struct MemtableNode {
  using Link = std::atomic<MemtableNode*>;

  std::uint32_t key_bytes = 0;  // of the internal key
  std::uint32_t value_bytes = 0;

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

  /// Returns whether this entry sorts before (key, version). Keys ascend; within a key, versions descend.
  bool is_before(std::string_view key, format::CommitVersion at) const noexcept {
    const int order = sort_key().compare(key);
    return order < 0 || (order == 0 && version() > at);
  }
};

static_assert(MemtableNode::Link::is_always_lock_free);
static_assert(sizeof(MemtableNode::Link) == 8 && alignof(MemtableNode::Link) <= Arena::kAlignment);
static_assert(sizeof(MemtableNode) == 8 && alignof(MemtableNode) <= Arena::kAlignment);

}  // namespace varve::engine
