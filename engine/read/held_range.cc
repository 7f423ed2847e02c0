// Owns: the steps of the search for the only entry (held_range.h).
// Must never: leave out a source of the range.
#include "engine/read/held_range.h"

#include <algorithm>
#include <string_view>

#include "engine/base/entry.h"
#include "engine/levels/levels.h"
#include "engine/memory/memtable.h"
#include "format/block/data_block.h"
#include "format/table/index_cursor.h"

namespace varve::engine {

namespace {

bool is_in_memtable(const Memtable& memtable, const KeySpan& range) noexcept {
  if (memtable.entry_count() == 0) return false;
  Memtable::Cursor cursor(memtable);
  cursor.seek(range.from, format::kCommitVersionMax);
  return cursor.valid() && range.holds(cursor.entry().sort_key);
}

bool is_in_memory(const ReadState& state, const KeySpan& range) noexcept {
  return is_in_memtable(*state.active, range) ||
         std::any_of(state.sealed.begin(), state.sealed.end(),
                     [&range](const auto& memtable) { return is_in_memtable(*memtable, range); });
}

/// The tables that may have keys of the range.
struct TablesOfRange {
  const TableFile* first = nullptr;
  std::size_t count = 0;

  void add(const LevelFile& file) noexcept {
    if (count++ == 0) first = file.table.get();
  }
};

/// Counts up to two of them. Leaves out files of which the base has all entries, as a cursor does.
TablesOfRange tables_of(const Levels& levels, const KeySpan& range) {
  TablesOfRange tables;
  for (std::size_t flush = 0; flush < levels.flush_count(); ++flush) {
    for (const LevelFilePtr& file : levels.flush(flush)) {
      if (file->entry.largest_key < range.from || range.ends_before(file->entry.smallest_key)) continue;
      if (!file->is_merged(range)) tables.add(*file);
    }
  }
  for (std::uint32_t level = 1; level < kLevelCount; ++level) {
    const LevelSequence& files = levels.level(level);
    if (files.empty()) continue;
    for (std::size_t at = levels.first_at_or_after(level, range.from); at < files.size() && tables.count < 2; ++at) {
      const LevelFile& file = *files[at];
      if (range.ends_before(file.entry.smallest_key)) break;
      tables.add(file);
    }
  }
  return tables;
}

/// Takes the only entry of the range from the block where the range begins. No later block has a key below `separator`.
void take_only(std::string_view block, std::string_view separator, const KeySpan& range, CommitVersion at_most,
               HeldRange& held) {
  format::DataBlockCursor entries;
  if (!entries.open(block).ok()) return;
  entries.seek(range.from, format::kCommitVersionMax);
  if (!entries.valid()) return;
  if (range.ends_before(entries.key())) {
    held.has = HeldRange::Has::kNothing;
    return;
  }
  const Entry entry{entries.key(), entries.version(), entries.kind(), entries.value()};
  if (!entry.is_put() || entry.is_external() || entry.version > at_most) return;
  held.sort_key = entry.sort_key;
  held.value = entry.content();
  held.end = entry.has_end() ? entry.end() : 0;
  entries.next();
  const bool is_only =
      entries.valid() ? range.ends_before(entries.key()) : entries.status().ok() && range.ends_before(separator);
  if (is_only) held.has = HeldRange::Has::kOne;
}

/// Searches the cached blocks of one table.
HeldRange search_cached(BlockCache& cache, const OpenTable& table, const KeySpan& range, CommitVersion at_most) {
  HeldRange held;
  const std::size_t number = table.index.first_run_not_below(range.from);
  if (number == table.index.runs().size()) return held;
  const format::RunEntry& run = table.index.runs()[number];
  CacheLink& link = *table.links->of(number, format::BlockType::kIndexPartition);
  bool is_unlinked = false;
  {
    BlockCache::ReadGuard guard(cache);
    const CachedBlock* index = guard.find(link);
    if (index == nullptr) {
      index = guard.find(table.cache_id, run.index().offset);
      is_unlinked = index != nullptr;
    }
    format::IndexCursor blocks;
    if (index == nullptr || !blocks.open(index->content(), run).ok()) return held;
    blocks.seek(range.from, format::kCommitVersionMax);
    if (!blocks.valid()) return held;
    const CachedBlock* const data = guard.find(table.cache_id, blocks.block().offset);
    if (data != nullptr) take_only(data->content(), blocks.separator(), range, at_most, held);
  }
  if (is_unlinked) cache.link(table.cache_id, run.index().offset, link);
  return held;
}

}  // namespace

HeldRange look_at_range(const ReadState& state, BlockCache& cache, const KeySpan& range, CommitVersion at_most,
                        ReadCost* cost) {
  HeldRange held;
  if (is_in_memory(state, range)) return held;
  const TablesOfRange tables = tables_of(*state.tables, range);
  if (tables.count == 0) held.has = HeldRange::Has::kNothing;
  const OpenTable* const table = tables.count == 1 ? tables.first->open_already() : nullptr;
  if (table == nullptr) return held;
  held = search_cached(cache, *table, range, at_most);
  constexpr std::uint64_t kBlocks = 2;  // of the index and of data
  if (cost != nullptr && held.has != HeldRange::Has::kUnknown) cost->blocks_from_cache += kBlocks;
  return held;
}

}  // namespace varve::engine
