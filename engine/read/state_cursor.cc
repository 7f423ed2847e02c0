// Owns: which places a walk over a state goes through (state_cursor.h).
// Must never: leave one out.
#include "engine/read/state_cursor.h"

#include <utility>
#include <vector>

#include "engine/read/level_cursor.h"
#include "engine/read/memtable_cursor.h"
#include "engine/read/merge_cursor.h"
#include "engine/tables/table_cursor.h"
#include "engine/tree/levels.h"

namespace varve::engine {

namespace {

/// From the newest to the oldest.
std::vector<std::unique_ptr<EntryCursor>> sources_of(const ReadState& state, BlockReader& blocks, ReadCost* cost) {
  std::vector<std::unique_ptr<EntryCursor>> sources;
  sources.push_back(std::make_unique<MemtableCursor>(*state.active));
  for (const auto& memtable : state.sealed) sources.push_back(std::make_unique<MemtableCursor>(*memtable));
  const Levels& levels = *state.tables;
  for (const auto& file : levels.level(0)) sources.push_back(std::make_unique<TableCursor>(*file->table, blocks, cost));
  for (std::uint32_t level = 1; level < kLevelCount; ++level) {
    if (levels.level(level).empty()) continue;
    sources.push_back(std::make_unique<LevelCursor>(levels.level(level), blocks, cost));
  }
  return sources;
}

}  // namespace

std::unique_ptr<EntryCursor> cursor_over(const ReadState& state, BlockReader& blocks, ReadCost* cost) {
  std::vector<std::unique_ptr<EntryCursor>> sources = sources_of(state, blocks, cost);
  if (sources.size() == 1) return std::move(sources.front());
  return std::make_unique<MergeCursor>(std::move(sources));
}

std::unique_ptr<EntryCursor> cursor_over(const ReadState& state, BlockReader& blocks, ReadCost* cost, Wanted wanted) {
  return std::make_unique<MergeCursor>(sources_of(state, blocks, cost), std::move(wanted));
}

}  // namespace varve::engine
