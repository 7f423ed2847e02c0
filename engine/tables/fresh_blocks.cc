// Owns: which blocks are put into the cache, and which are left out (fresh_blocks.h).
// Must never: let a reader find a block before its file is finished. No reader knows the blocks' file id until the file
// is opened.
#include "engine/tables/fresh_blocks.h"

#include <algorithm>
#include <utility>

#include "engine/tables/block_reader.h"
#include "engine/tables/stored_bytes.h"

namespace varve::engine {

FreshBlocks::FreshBlocks(TableFiles& files, std::uint64_t number, BlockPriority data, io::WritableFile& written)
    : files_(files),
      written_(written),
      number_(number),
      cache_id_(files.name_blocks_of(number)),
      data_priority_(data) {}

FreshBlocks::~FreshBlocks() {
  if (!finished_) files_.forget_blocks_of(number_);
}

bool HotRule::wants(format::BlockType type) noexcept {
  switch (type) {
    case format::BlockType::kData: {
      const bool is_hot = 2 * from_memory_ >= entries_;
      run_is_hot_ = run_is_hot_ || is_hot;
      entries_ = 0;
      from_memory_ = 0;
      return is_hot;
    }
    case format::BlockType::kFilterPartition: return run_is_hot_;
    case format::BlockType::kIndexPartition: return std::exchange(run_is_hot_, false);  // The index ends the run.
    default: return false;  // read once, when the file is opened
  }
}

void FreshBlocks::take(format::BlockType type, format::BlockHandle place, std::string_view content) noexcept {
  if (rule_.wants(type)) insert(type, place, content);
}

bool FreshBlocks::has_cache() const noexcept {
  return files_.cache().bytes_max() > 0;
}

/// Caches a block. If memory or room is short, the block is read later on demand.
void FreshBlocks::insert(format::BlockType type, format::BlockHandle place, std::string_view content) noexcept {
  BlockCache& cache = files_.cache();
  if (cache.bytes_max() == 0) return;
  const auto [sectors, sectors_end] = StoredBytes::sectors_of(place.offset, place.bytes);
  written_.expect_read(sectors, sectors_end - sectors);
  Result<Block> block = cache.allocate(cache_id_, place.offset, static_cast<std::uint32_t>(content.size()),
                                       static_cast<std::uint8_t>(type));
  if (!block.ok()) return;
  std::copy(content.begin(), content.end(), block->content().begin());
  const BlockPriority priority = type == format::BlockType::kData ? data_priority_ : priority_of(type);
  (void)cache.insert(cache_id_, place.offset, *std::move(block), priority);
}

}  // namespace varve::engine
