// Owns: choosing the sources of an iteration over a state (state_cursor.h).
// Must never: omit a source.
#include "engine/read/state_cursor.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/levels/levels.h"
#include "engine/memory/memtable_cursor.h"
#include "engine/read/level_cursor.h"
#include "engine/read/merge_cursor.h"
#include "engine/tables/table_cursor.h"

namespace varve::engine {

namespace {

bool may_hold_wanted(const LevelFile& file, const Wanted& wanted) noexcept {
  return file.entry.largest_key >= wanted.lower && (wanted.upper.empty() || file.entry.smallest_key < wanted.upper);
}

/// For a level above 0.
bool may_hold_wanted(const Levels& levels, std::uint32_t level, const Wanted& wanted) noexcept {
  const std::size_t first = levels.first_at_or_after(level, wanted.lower);
  return first < levels.level(level).size() && may_hold_wanted(*levels.level(level)[first], wanted);
}

/// Returns the level that contains most of the data, or zero if no level above 0 has any.
std::uint32_t deepest_level(const Levels& levels, const Wanted& wanted) noexcept {
  std::uint32_t level = kLastLevel;
  while (level > 0 && !may_hold_wanted(levels, level, wanted)) --level;
  return level;
}

/// Returns one source, or null if no file of the flush is wanted.
std::unique_ptr<EntryCursor> cursor_of_flush(const Levels& levels, std::size_t flush, BlockReader& blocks,
                                             ReadCost* cost, const Wanted& wanted) {
  const LevelFile* only = nullptr;
  for (const LevelFilePtr& file : levels.flush(flush)) {
    if (file->is_merged(KeySpan{wanted.lower, wanted.upper}) || !may_hold_wanted(*file, wanted)) continue;
    if (only != nullptr) return std::make_unique<LevelCursor>(levels.all_of_flush(flush), blocks, cost, 0);
    only = file.get();
  }
  return only == nullptr ? nullptr : std::make_unique<TableCursor>(*only->table, blocks, cost);
}

/// Returns the sources from the newest to the oldest.
std::vector<std::unique_ptr<EntryCursor>> sources_of(const ReadState& state, BlockReader& blocks, ReadCost* cost,
                                                     const Wanted& wanted) {
  std::vector<std::unique_ptr<EntryCursor>> sources;
  const auto add_memtable = [&](const Memtable& memtable) {
    if (memtable.entry_count() > 0) sources.push_back(std::make_unique<MemtableCursor>(memtable));
  };
  add_memtable(*state.active);
  for (const auto& memtable : state.sealed) add_memtable(*memtable);
  const Levels& levels = *state.tables;
  for (std::size_t flush = 0; flush < levels.flush_count(); ++flush) {
    if (auto source = cursor_of_flush(levels, flush, blocks, cost, wanted)) sources.push_back(std::move(source));
  }
  const std::uint32_t deepest = deepest_level(levels, wanted);
  for (std::uint32_t level = 1; level <= deepest; ++level) {
    if (level < deepest && !may_hold_wanted(levels, level, wanted)) continue;
    sources.push_back(
        std::make_unique<LevelCursor>(levels.level(level), blocks, cost, level == deepest ? wanted.entries : 0));
  }
  return sources;
}

}  // namespace

std::unique_ptr<EntryCursor> cursor_over(const ReadState& state, BlockReader& blocks, ReadCost* cost, Wanted wanted) {
  std::vector<std::unique_ptr<EntryCursor>> sources = sources_of(state, blocks, cost, wanted);
  if (sources.size() == 1 && wanted.judge == nullptr) return std::move(sources.front());
  return std::make_unique<MergeCursor>(std::move(sources), std::move(wanted));
}

}  // namespace varve::engine
