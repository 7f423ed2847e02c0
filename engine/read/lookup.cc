// Owns: the order in which tables are searched (lookup.h).
// Must never: search a table whose range does not contain the key.
#include "engine/read/lookup.h"

#include <string>

#include "format/bytes/checksum.h"
#include "format/bytes/prefetch.h"

namespace varve::engine {

Lookup::Lookup(const Levels& levels, std::string_view sort_key, CommitVersion at_most, EntryPart part, ReadCost* cost,
               KnownBlocks* known)
    : Lookup(levels, {sort_key, format::content_hash(sort_key), at_most}, part, cost, known) {}

/// Moves to the next file that may contain the key.
bool Lookup::next_file() {
  begun_ = false;
  while (level_ < kLevelCount) {
    const LevelSequence& files = levels_.level(level_);
    if (files.empty()) {
      ++level_;
      continue;
    }
    if (level_ > 0) {
      const LevelFile* const file = levels_.find(level_, key_.sort_key);
      ++level_;
      if (file == nullptr) continue;
      file_ = file->table.get();
      return true;
    }
    if (flush_ == levels_.flush_count()) {
      ++level_;
      continue;
    }
    const LevelFile* const file = levels_.find_in_flush(flush_++, key_.sort_key);
    if (file == nullptr || file->is_merged(key_.sort_key)) continue;
    file_ = file->table.get();
    return true;
  }
  return false;
}

/// Returns whether no file follows the one that next_file() found.
bool Lookup::is_last_file() const noexcept {
  for (std::uint32_t level = level_; level < kLevelCount; ++level) {
    if (!levels_.level(level).empty()) return false;
  }
  return true;
}

/// Begins the search in a table. Sets `block` to the block that contains the key's place, if it is known and held.
/// Returns true if it is known but not held: then the table's search wants it.
bool Lookup::begin_in_table(const OpenTable& table, const CachedBlock** block) noexcept {
  begun_ = true;
  *block = nullptr;
  const KnownBlocks::Known* const known = known_ != nullptr ? known_->find(table, key_.sort_key) : nullptr;
  if (known == nullptr) {
    table_.begin(key_, table, known_, !is_expected_ || !is_last_file());
    return false;
  }
  table_.begin_in(key_, *known);
  if (known->is_new) return true;
  if (cost_ != nullptr) ++cost_->blocks_from_cache;
  *block = &*known->block;
  return false;
}

Status Lookup::open_wanted() const {
  return values_ != nullptr ? values_->open().status() : file_->open().status();
}

/// Finishes with the found entry, or continues with its external value.
Lookup::Step Lookup::take_found(BlockCache::ReadGuard& guard) {
  const Entry& entry = table_.entry();
  if (!entry.is_external()) return Step::kFound;
  if (entry.has_end()) external_end_ = entry.end();
  const Result<format::ValuePointer> pointer = format::decode_value_pointer(entry.content());
  const ValueFile* const values = pointer.ok() ? levels_.value_file(pointer->file) : nullptr;
  if (values == nullptr) {
    status_ = pointer.ok() ? Status::corruption("points into value file " + std::to_string(pointer->file) +
                                                ", which the manifest does not name")
                           : pointer.status();
    status_ = status_.in_file(table_.wanted().table->name, table_.wanted().handle.offset);
    return Step::kFailed;
  }
  values_ = values;
  external_ = {entry.sort_key, entry.version, Kind::kPut, std::string_view()};
  value_.handle = {pointer->offset, pointer->bytes};
  value_.value_hash = pointer->content_hash;
  return part_ == EntryPart::kAll ? take_value(guard, nullptr) : Step::kFound;
}

Lookup::Step Lookup::take_value(BlockCache::ReadGuard& guard, const CachedBlock* block) {
  value_.values = values_->open_already();
  if (value_.values == nullptr) return Step::kWantsTable;
  if (block == nullptr) {
    if (value_.handle.end() > values_->entry().size_bytes) {
      status_ =
          Status::corruption("an entry points past the end of the file").in_file(value_.name(), value_.handle.offset);
      return Step::kFailed;
    }
    block = guard.find(value_.cache_id(), value_.handle.offset);
    if (block == nullptr) return Step::kWantsBlock;
    if (cost_ != nullptr) ++cost_->blocks_from_cache;
  }
  external_.value = block->content();
  return Step::kFound;
}

/// Finds the block that the table's search wants, by its link if it has one.
const CachedBlock* Lookup::find_wanted(BlockCache::ReadGuard& guard) noexcept {
  const BlockWanted& wanted = table_.wanted();
  CacheLink* const link = table_.wanted_link();
  if (link != nullptr) {
    if (const CachedBlock* const linked = guard.find(*link); linked != nullptr) return linked;
  }
  const CachedBlock* const found = guard.find(wanted.table->cache_id, wanted.handle.offset);
  if (found != nullptr && link != nullptr) unlinked_ = {link, wanted.table->cache_id, wanted.handle.offset};
  return found;
}

/// Prefetches the next part of the wanted data block. Returns false if nothing is left to prefetch: then paused_ is the
/// block, or null if it is not cached.
bool Lookup::pause(BlockCache::ReadGuard& guard) noexcept {
  const BlockWanted& wanted = table_.wanted();
  switch (fetched_) {
    case Fetched::kNothing:
      guard.prefetch_place(wanted.table->cache_id, wanted.handle.offset);
      fetched_ = Fetched::kPlace;
      return true;
    case Fetched::kPlace:
      guard.prefetch(wanted.table->cache_id, wanted.handle.offset);
      fetched_ = Fetched::kStart;
      return true;
    case Fetched::kStart:
      paused_ = find_wanted(guard);
      if (paused_ == nullptr) break;
      format::prefetch(paused_->content().data() + paused_->content().size() - 1);
      fetched_ = Fetched::kEnd;
      return true;
    case Fetched::kEnd: break;
  }
  fetched_ = Fetched::kNothing;
  return false;
}

Lookup::Step Lookup::advance(BlockCache::ReadGuard& guard, const CachedBlock* block, Pace pace) {
  if (values_ != nullptr) return take_value(guard, block);
  bool wants_block = fetched_ != Fetched::kNothing;
  for (;;) {
    bool may_pause = pace == Pace::kPausing;
    if (!begun_) {
      if (file_ == nullptr && !next_file()) return Step::kAbsent;
      const OpenTable* const table = file_->open_already();
      if (table == nullptr) return Step::kWantsTable;
      wants_block = begin_in_table(*table, &block);
      if (wants_block) may_pause = false;  // Another search has begun to prefetch the block.
    }
    if (!wants_block) {
      switch (table_.advance(block)) {
        case LookupStep::kFound: return take_found(guard);
        case LookupStep::kFailed: return Step::kFailed;
        case LookupStep::kAbsent:
          if (cost_ != nullptr && block != nullptr && table_.wanted().type == format::BlockType::kFilterPartition) {
            ++cost_->blocks_skipped;
          }
          begun_ = false;
          file_ = nullptr;
          block = nullptr;
          continue;
        case LookupStep::kWantsBlock: break;
      }
    }
    wants_block = false;
    if (may_pause && table_.wanted().type == format::BlockType::kData) {
      if (pause(guard)) return Step::kPaused;
      block = paused_;
    } else {
      block = find_wanted(guard);
    }
    if (block == nullptr) return Step::kWantsBlock;
    if (cost_ != nullptr) ++cost_->blocks_from_cache;
  }
}

}  // namespace varve::engine
