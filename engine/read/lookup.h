// Owns: the search for the newest entry of one key in all tables of a store, not above a version.
// Must never: do I/O; it says which block it wants next.
//
// From the newest table to the oldest: each file of level 0 that may hold the key, then one file a level. The first
// entry found is the answer, since every level holds newer versions of a key than the one below it.
#pragma once

#include <cstddef>

#include "api/result.h"
#include "engine/read/read_cost.h"
#include "engine/tables/table_lookup.h"
#include "engine/tree/levels.h"

namespace varve::engine {

class Lookup {
 public:
  /// All outlive the search. `cost`, which may be null, is told what the cache had and what filters saved; blocks that
  /// are wanted count for who reads them. `known`, which may be null, is of searches in the same levels.
  Lookup(const Levels& levels, std::string_view sort_key, CommitVersion at_most, ReadCost* cost = nullptr,
         KnownBlocks* known = nullptr);
  /// The same where the key's hash is known.
  Lookup(const Levels& levels, const LookupKey& key, ReadCost* cost, KnownBlocks* known) noexcept
      : levels_(levels), key_(key), cost_(cost), known_(known) {}

  /// Goes on with the block that was wanted (null at first), and with what `cache` has, until it must wait for another.
  /// Under a guard of the cache. After kFound the entry is valid as long as the guard and `block`. Opens files, which
  /// reads them, only after kWantsTable.
  enum class Step : std::uint8_t { kFound, kAbsent, kWantsBlock, kWantsTable, kFailed };
  Step advance(BlockCache::ReadGuard& guard, const CachedBlock* block);

  /// Once it has ended, and not under a guard: the searches that follow find its blocks where they are.
  void keep_known(BlockCache& cache) const noexcept {
    if (known_ != nullptr) known_->hold(cache);
  }

  const BlockWanted& wanted() const noexcept { return table_.wanted(); }
  /// After kWantsTable: to be opened before the next advance().
  const TableFile& wanted_table() const noexcept { return *file_; }
  const Entry& entry() const noexcept { return table_.entry(); }
  Status status() const { return table_.status(); }

 private:
  bool next_file();
  const CachedBlock* begin_in_table(const OpenTable& table) noexcept;

  const Levels& levels_;
  const LookupKey key_;
  ReadCost* const cost_;
  KnownBlocks* const known_;
  std::uint32_t level_ = 0;
  std::size_t place_ = 0;  // in level 0
  const TableFile* file_ = nullptr;
  bool begun_ = false;  // the search in file_
  TableLookup table_;
};

}  // namespace varve::engine
