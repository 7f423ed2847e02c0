// Owns: the order in which tables are asked (lookup.h).
// Must never: ask a table whose range does not hold the key.
#include "engine/read/lookup.h"

#include "format/checksum.h"

namespace varve::engine {

Lookup::Lookup(const Levels& levels, std::string_view sort_key, CommitVersion at_most, ReadCost* cost,
               KnownBlocks* known)
    : Lookup(levels, {sort_key, format::content_hash(sort_key), at_most}, cost, known) {}

/// On to the next file that may hold the key.
bool Lookup::next_file() {
  begun_ = false;
  while (level_ < kLevelCount) {
    const LevelFiles& files = levels_.level(level_);
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
    if (place_ == files.size()) {
      ++level_;
      continue;
    }
    const LevelFile& file = *files[place_++];
    if (key_.sort_key < file.entry.smallest_key || key_.sort_key > file.entry.largest_key) continue;
    file_ = file.table.get();
    return true;
  }
  return false;
}

/// What its search goes on with: the block where it is looked for, if that is known, or null.
const CachedBlock* Lookup::begin_in_table(const OpenTable& table) noexcept {
  begun_ = true;
  const KnownBlocks::Known* const known = known_ != nullptr ? known_->find(table, key_.sort_key) : nullptr;
  if (known == nullptr) {
    table_.begin(key_, table, known_);
    return nullptr;
  }
  if (cost_ != nullptr) ++cost_->blocks_from_cache;
  table_.begin_in(key_, *known);
  return &*known->block;
}

Lookup::Step Lookup::advance(BlockCache::ReadGuard& guard, const CachedBlock* block) {
  for (;;) {
    if (!begun_) {
      if (file_ == nullptr && !next_file()) return Step::kAbsent;
      const OpenTable* const table = file_->open_already();
      if (table == nullptr) return Step::kWantsTable;
      block = begin_in_table(*table);
    }
    switch (table_.advance(block)) {
      case LookupStep::kFound: return Step::kFound;
      case LookupStep::kFailed: return Step::kFailed;
      case LookupStep::kAbsent:
        if (cost_ != nullptr && block != nullptr && table_.wanted().type == format::BlockType::kFilterPartition) {
          ++cost_->blocks_skipped;
        }
        begun_ = false;
        file_ = nullptr;
        block = nullptr;
        break;
      case LookupStep::kWantsBlock:
        block = guard.find(table_.wanted().table->cache_id, table_.wanted().handle.offset);
        if (block == nullptr) return Step::kWantsBlock;
        if (cost_ != nullptr) ++cost_->blocks_from_cache;
        break;
    }
  }
}

}  // namespace varve::engine
