// Owns: the way from a sort key to its newest entry in the memtable in one step, where the skiplist takes some twenty.
// Must never: allocate in insert(), move an entry while readers look, or miss an entry whose insert() has returned.
//
// Tables of slots, each larger than the one before; none is ever rehashed or freed. A slot is one atomic word: the
// entry's address and 19 bits of the key's hash, which spare a look at nearly all entries of other keys. A new key goes
// into the table that was the newest when it was reserved; a new version of a key replaces the older one in its slot.
// Lookups ask all tables, whose memory they fetch at the same time, so that many cost little more than one.
//
// X1  a slot, once taken, belongs to its key for ever; its entry is replaced by newer versions alone.
// X2  no table is filled above five eighths, so that linear probing ends soon. reserve() sees to it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace varve::engine {

struct MemtableNode;

class KeyIndex {
 public:
  class Table;
  struct FreeTable {
    void operator()(Table* table) const noexcept;
  };
  using OwnedTable = std::unique_ptr<Table, FreeTable>;

  KeyIndex() noexcept;
  ~KeyIndex();
  KeyIndex(const KeyIndex&) = delete;
  KeyIndex& operator=(const KeyIndex&) = delete;

  static std::uint64_t hash_of(std::string_view sort_key) noexcept;

  // One thread at a time: room for entries, in steps so that memory is refused before anything changes.
  /// Bytes of the table that must be added before `count` more entries have room; zero when they have.
  std::uint64_t missing_bytes(std::uint64_t count) const noexcept;
  /// A table of these bytes, not yet added. Null when the system has no memory.
  static OwnedTable make_table(std::uint64_t bytes) noexcept;
  /// Room for `count` entries, which are inserted with the table returned. `added` is the table that was missing, or
  /// null when none was.
  Table& reserve(std::uint64_t count, OwnedTable added) noexcept;

  // Any number of threads at once.
  /// Fetches what insert() will change.
  static void prefetch(const Table& reserved, std::uint64_t hash) noexcept;
  /// `node` is linked in the skiplist already. `has_older` tells that an older entry of its key was there; without it,
  /// the key may get a second slot where entries of one key are inserted at the same time, which find() bears.
  void insert(Table& reserved, const MemtableNode& node, std::uint64_t hash, bool has_older) noexcept;
  /// Fetches where find() begins.
  void prefetch(std::uint64_t hash) const noexcept;
  /// The key's newest entry, or null. Sees every entry whose insert() has returned.
  const MemtableNode* find(std::string_view sort_key, std::uint64_t hash) const noexcept;

  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  OwnedTable newest_owner_;  // owns the tables older than it
  std::atomic<Table*> newest_{nullptr};
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace varve::engine
