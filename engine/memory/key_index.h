// Owns: the index from a sort key to its newest entry in the memtable. It needs one step where the skiplist needs about
// 20.
// Must never: allocate in insert(), move an entry while readers look, or miss an entry if its insert() has returned.
//
// The index is a list of tables of slots, each larger than the table before it. Tables are never rehashed, and are
// freed with the index. A slot is one atomic word: the entry's address and 19 bits of the key's hash. The hash bits
// avoid reading nearly all entries of other keys. A new key is put into the table that was newest when the key was
// reserved. A new version of a key replaces the older version in the key's slot. A look-up asks all tables. It
// prefetches from all of them at once, so many tables cost little more than one.
//
// X1  A taken slot belongs to its key forever. Only a newer version of the key replaces the slot's entry.
// X2  No table is filled above five eighths, so that linear probing ends soon. reserve() enforces this.
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

  // Called by one thread at a time. The steps are separate, so that lack of memory is reported before anything changes.
  /// Returns the bytes of the table that must be added before `count` more entries have room. Returns zero if they have
  /// room now.
  std::uint64_t missing_bytes(std::uint64_t count) const noexcept;
  /// Returns a table of this many bytes, not yet added. Returns null if the system has no memory.
  static OwnedTable make_table(std::uint64_t bytes) noexcept;
  /// Reserves room for `count` entries, and returns the table to insert them with. `added` is the missing table, or
  /// null if no table was missing.
  Table& reserve(std::uint64_t count, OwnedTable added) noexcept;

  // Called by any number of threads at once.
  /// Prefetches the slot that insert() will change.
  static void prefetch(const Table& reserved, std::uint64_t hash) noexcept;
  /// Enters `node`, which is linked in the skiplist already. `has_older` says that an older entry of the key was found
  /// there. Without it, a key can get a second slot if two threads insert its entries at once. find() allows for that.
  void insert(Table& reserved, const MemtableNode& node, std::uint64_t hash, bool has_older) noexcept;
  /// Prefetches the slots at which find() begins.
  void prefetch(std::uint64_t hash) const noexcept;
  /// Returns the newest entry of the key, or null. Sees every entry whose insert() has returned.
  const MemtableNode* find(std::string_view sort_key, std::uint64_t hash) const noexcept;

  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  OwnedTable newest_owner_;  // owns the older tables through Table::older
  std::atomic<Table*> newest_{nullptr};
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace varve::engine
