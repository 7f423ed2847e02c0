// Owns: the way from cached blocks to a list and back (warm_blocks.h).
// Must never: read a data block.
#include "engine/warm/warm_blocks.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "format/table/index_cursor.h"

namespace varve::engine {

format::WarmList cached_blocks_of(const Levels& levels, BlockCache& cache) {
  struct Place {
    std::uint64_t number = 0;
    std::uint64_t seed = 0;
  };
  std::map<std::uint64_t, Place> places;  // by cache id
  for (std::uint32_t level = 0; level < kLevelCount; ++level) {
    for (const LevelFilePtr& file : levels.level(level)) {
      const OpenTable* const table = file->table->open_already();
      if (table != nullptr) places[table->cache_id] = {file->entry.number, table->seed};
    }
  }
  using Found = std::map<std::pair<format::Heat, std::uint64_t>, format::WarmBlocks>;  // by heat and file number
  Found found;
  for (const ListedBlock& block : cache.list()) {
    const auto place = places.find(block.file_id);
    if (place == places.end()) continue;
    const format::Heat heat = block.is_proven ? format::Heat::kProven : format::Heat::kRecent;
    format::WarmBlocks& blocks = found[{heat, place->second.number}];
    if (blocks.offsets.empty()) blocks = {heat, place->second.number, place->second.seed, {}};
    blocks.offsets.push_back(block.offset);
  }
  format::WarmList list;
  for (auto& [key, blocks] : found) {
    std::sort(blocks.offsets.begin(), blocks.offsets.end());
    blocks.offsets.erase(std::unique(blocks.offsets.begin(), blocks.offsets.end()), blocks.offsets.end());
    list.files.push_back(std::move(blocks));
  }
  return list;
}

Result<std::vector<WarmRun>> runs_of(const format::WarmBlocks& blocks, const std::shared_ptr<const TableFile>& file) {
  std::vector<WarmRun> warm;
  if (file->entry().number != blocks.file_number || file->entry().seed != blocks.file_seed) return warm;
  const Result<const OpenTable*> table = file->open();
  if (!table.ok()) return table.status();
  const std::vector<format::RunEntry>& runs = (*table)->index.runs();
  auto run = runs.begin();
  for (const std::uint64_t offset : blocks.offsets) {
    while (run != runs.end() && run->end() <= offset) ++run;
    if (run == runs.end()) break;
    if (offset < run->offset) continue;
    if (warm.empty() || warm.back().run != &*run) warm.push_back({file, &*run, false, false, {}});
    if (offset == run->index().offset) {
      warm.back().wants_index = true;
    } else if (run->filter_bytes > 0 && offset == run->filter().offset) {
      warm.back().wants_filter = true;
    } else {
      warm.back().data.push_back(offset);
    }
  }
  return warm;
}

Result<std::vector<format::BlockHandle>> blocks_to_read(const WarmRun& warm, BlockReader& blocks) {
  std::vector<format::BlockHandle> handles;
  if (warm.data.empty()) return handles;
  const OpenTable& table = *warm.file->open_already();
  const Result<PinnedBlock> content =
      blocks.get({&table, warm.run->index(), format::BlockType::kIndexPartition, warm.run});
  if (!content.ok()) return content.status();
  format::IndexCursor index;
  if (Status opened = index.open((*content)->content(), *warm.run); !opened.ok()) return opened;
  auto wanted = warm.data.begin();
  for (index.seek_to_first(); index.valid() && wanted != warm.data.end(); index.next()) {
    const format::BlockHandle block = index.block();
    while (wanted != warm.data.end() && *wanted < block.offset) ++wanted;
    if (wanted == warm.data.end() || *wanted != block.offset) continue;
    if (!warm.file->caches(block.offset)) handles.push_back(block);
  }
  if (!index.status().ok()) return index.status();
  return handles;
}

}  // namespace varve::engine
