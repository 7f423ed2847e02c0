// Owns: the search for the newest entry of one key in all tables of a store, not above a version.
// Must never: do I/O; it says which block it wants next.
//
// From the newest table to the oldest: each file of level 0 that may hold the key, then one file a level. The first
// entry found is the answer, since every level holds newer versions of a key than the one below it. A value that lies
// in a value file is one block more.
#pragma once

#include <cstddef>

#include "engine/base/read_cost.h"
#include "engine/levels/levels.h"
#include "engine/tables/table_lookup.h"
#include "varve/result.h"

namespace varve::engine {

class Lookup {
 public:
  /// All outlive the search. With kVersion the value of a put may be anything. `cost`, which may be null, is told what
  /// the cache had and what filters saved; blocks that are wanted count for who reads them. `known`, which may be null,
  /// is of searches in the same levels.
  Lookup(const Levels& levels, std::string_view sort_key, CommitVersion at_most, EntryPart part = EntryPart::kAll,
         ReadCost* cost = nullptr, KnownBlocks* known = nullptr);
  /// The same where the key's hash is known.
  Lookup(const Levels& levels, const LookupKey& key, EntryPart part, ReadCost* cost, KnownBlocks* known) noexcept
      : levels_(levels), key_(key), part_(part), cost_(cost), known_(known) {}

  /// Goes on with the block that was wanted (null at first), and with what `cache` has, until it must wait for another.
  /// Under a guard of the cache. After kFound the entry is valid as long as the guard and `block`. Opens files, which
  /// reads them, only after kWantsTable.
  enum class Step : std::uint8_t { kFound, kAbsent, kWantsBlock, kWantsTable, kFailed };
  Step advance(BlockCache::ReadGuard& guard, const CachedBlock* block);

  /// Once it has ended, and not under a guard: the searches that follow find its blocks where they are.
  void keep_known(BlockCache& cache) const noexcept {
    if (known_ != nullptr) known_->hold(cache);
  }

  const BlockWanted& wanted() const noexcept { return values_ != nullptr ? value_ : table_.wanted(); }
  /// After kWantsTable: opens the file, a table or a value file, before the next advance(). Errors: those of open().
  Status open_wanted() const;
  const Entry& entry() const noexcept { return values_ != nullptr ? external_ : table_.entry(); }
  Status status() const { return status_.ok() ? table_.status() : status_; }

 private:
  bool next_file();
  Step take_found(BlockCache::ReadGuard& guard);
  Step take_value(BlockCache::ReadGuard& guard, const CachedBlock* block);
  const CachedBlock* begin_in_table(const OpenTable& table) noexcept;

  const Levels& levels_;
  const LookupKey key_;
  const EntryPart part_;
  ReadCost* const cost_;
  KnownBlocks* const known_;
  std::uint32_t level_ = 0;
  std::size_t place_ = 0;  // in level 0
  const TableFile* file_ = nullptr;
  bool begun_ = false;  // the search in file_
  TableLookup table_;

  // Once an entry was found whose value lies elsewhere:
  const ValueFile* values_ = nullptr;
  Entry external_;
  BlockWanted value_;
  Status status_;
};

}  // namespace varve::engine
