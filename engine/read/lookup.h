// Owns: the search for the newest entry of one key that is not above a version, in all tables of a store.
// Must never: do I/O. It reports the block that it needs next.
//
// The search goes from the newest table to the oldest: each file of level 0 that may contain the key, then one file for
// each level. The first entry found is the result, because every level has newer versions of a key than the levels
// below it. A value in a value file needs one more block.
#pragma once

#include <cstddef>
#include <optional>

#include "engine/base/read_cost.h"
#include "engine/levels/levels.h"
#include "engine/tables/table_lookup.h"
#include "format/keys/value_pointer.h"
#include "varve/result.h"

namespace varve::engine {

class Lookup {
 public:
  /// All arguments must outlive the search. With kVersion, the value of a put is undefined. With kPlace, it is undefined
  /// if external() returns a place. `cost`, which may be null,
  /// counts cache hits and the blocks that filters saved. The caller counts the blocks that it reads. `known`, which
  /// may be null, is shared by searches in the same levels.
  Lookup(const Levels& levels, std::string_view sort_key, CommitVersion at_most, EntryPart part = EntryPart::kAll,
         ReadCost* cost = nullptr, KnownBlocks* known = nullptr);
  /// Like the constructor above, with a known hash of the key.
  Lookup(const Levels& levels, const LookupKey& key, EntryPart part, ReadCost* cost, KnownBlocks* known) noexcept
      : levels_(levels), key_(key), part_(part), cost_(cost), known_(known) {}

  /// Says that the key most likely exists. So the filter of the last file that may have it is not asked.
  void expect_key() noexcept { is_expected_ = true; }

  /// Continues with the block that was wanted (null at first) and with cached blocks, until it needs another one.
  /// Called under a guard of the cache. After kFound, the entry is valid as long as the guard and `block`. It opens no
  /// file, which would be a read: the caller does that after kWantsTable.
  enum class Step : std::uint8_t { kFound, kAbsent, kWantsBlock, kWantsTable, kFailed, kPaused };
  Step advance(BlockCache::ReadGuard& guard, const CachedBlock* block) {
    return advance(guard, block, Pace::kStraight);
  }
  /// Continues like advance(guard, nullptr), but also returns kPaused: it has prefetched from memory what it reads next.
  /// The caller continues other searches meanwhile, and calls this function again under the same guard.
  Step advance_or_pause(BlockCache::ReadGuard& guard) { return advance(guard, nullptr, Pace::kPausing); }

  /// Called after the search has ended, without a guard. Later searches then find its blocks directly.
  void keep_known(BlockCache& cache) const noexcept {
    if (known_ != nullptr) known_->hold(cache);
    if (unlinked_.link != nullptr) cache.link(unlinked_.cache_id, unlinked_.offset, *unlinked_.link);
  }

  const BlockWanted& wanted() const noexcept { return values_ != nullptr ? value_ : table_.wanted(); }
  /// After kWantsTable, opens the file (a table or a value file) before the next advance(). Errors: those of open().
  Status open_wanted() const;
  const Entry& entry() const noexcept { return values_ != nullptr ? external_ : table_.entry(); }
  /// Called after kFound. Returns the end of an entry whose value is external; zero if it has none. The end of any other
  /// entry precedes its value.
  CommitVersion external_end() const noexcept { return external_end_; }
  /// Called after kFound. Returns the bytes of an external value; zero if the entry has its value.
  std::uint64_t external_bytes() const noexcept { return values_ != nullptr ? value_.handle.bytes : 0; }
  /// Called after kFound. Returns the place of the entry's value in a value file, or nothing if the entry has its value.
  std::optional<format::ValuePointer> external() const noexcept {
    if (values_ == nullptr) return std::nullopt;
    return format::ValuePointer{values_->entry().number, value_.handle.offset, value_.handle.bytes, value_.value_hash};
  }
  Status status() const { return status_.ok() ? table_.status() : status_; }

 private:
  /// A partition that was cached, but not found by its link.
  struct Unlinked {
    CacheLink* link = nullptr;
    std::uint64_t cache_id = 0;
    std::uint64_t offset = 0;
  };

  enum class Pace : std::uint8_t { kStraight, kPausing };
  /// The parts of a data block that are prefetched one after another.
  enum class Fetched : std::uint8_t { kNothing, kPlace, kStart, kEnd };

  Step advance(BlockCache::ReadGuard& guard, const CachedBlock* block, Pace pace);
  bool pause(BlockCache::ReadGuard& guard) noexcept;
  bool next_file();
  bool is_last_file() const noexcept;
  const CachedBlock* find_wanted(BlockCache::ReadGuard& guard) noexcept;
  Step take_found(BlockCache::ReadGuard& guard);
  Step take_value(BlockCache::ReadGuard& guard, const CachedBlock* block);
  bool begin_in_table(const OpenTable& table, const CachedBlock** block) noexcept;

  const Levels& levels_;
  const LookupKey key_;
  const EntryPart part_;
  ReadCost* const cost_;
  KnownBlocks* const known_;
  std::uint32_t level_ = 0;
  std::size_t flush_ = 0;  // the next one of level 0
  const TableFile* file_ = nullptr;
  bool is_expected_ = false;
  bool begun_ = false;  // whether the search in file_ has begun
  Fetched fetched_ = Fetched::kNothing;
  const CachedBlock* paused_ = nullptr;  // the wanted block after kEnd, under the guard that found it
  TableLookup table_;
  Unlinked unlinked_;  // the last one

  // Set once an entry with an external value was found:
  const ValueFile* values_ = nullptr;
  Entry external_;
  CommitVersion external_end_ = 0;
  BlockWanted value_;
  Status status_;
};

}  // namespace varve::engine
