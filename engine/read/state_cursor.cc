// Owns: choosing the sources of an iteration over a state (state_cursor.h).
// Must never: omit a source.
#include "engine/read/state_cursor.h"

#include <algorithm>
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

/// Adds one source for the wanted files of the flush. A file that is merged for the span must not be read: its entries are
/// in the base too, where newer ones have replaced them. Then each other file is a source of its own.
void add_flush(const Levels& levels, std::size_t flush, BlockReader& blocks, ReadCost* cost, const Wanted& wanted,
               std::vector<std::unique_ptr<EntryCursor>>& sources) {
  const KeySpan span{wanted.lower, wanted.upper};
  const auto files = levels.flush(flush);
  const auto is_wanted = [&](const LevelFilePtr& file) { return may_hold_wanted(*file, wanted); };
  const auto is_merged = [&](const LevelFilePtr& file) { return is_wanted(file) && file->is_merged(span); };
  const bool has_several = std::count_if(files.begin(), files.end(), is_wanted) > 1;
  if (has_several && std::none_of(files.begin(), files.end(), is_merged)) {
    sources.push_back(std::make_unique<LevelCursor>(levels.all_of_flush(flush), blocks, cost, 0));
    return;
  }
  for (const LevelFilePtr& file : files) {
    if (!is_wanted(file) || file->is_merged(span)) continue;
    sources.push_back(std::make_unique<TableCursor>(*file->table, blocks, cost));
  }
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
    add_flush(levels, flush, blocks, cost, wanted, sources);
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

std::unique_ptr<EntryCursor> cursor_over(const ReadState& state, BlockReader& blocks, ReadCost* cost,
                                         const Wanted& wanted) {
  std::vector<std::unique_ptr<EntryCursor>> sources = sources_of(state, blocks, cost, wanted);
  if (sources.size() == 1 && wanted.judge == nullptr) return std::move(sources.front());
  return std::make_unique<MergeCursor>(std::move(sources), wanted);
}

}  // namespace varve::engine
