// Owns: the list of a store's cached blocks: made from the cache, and turned back into places to read.
// Must never: trust a list. A place that no index names is not read.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/cache/block_cache.h"
#include "engine/levels/levels.h"
#include "engine/tables/block_reader.h"
#include "format/log/warm_list.h"
#include "varve/result.h"

namespace varve::engine {

/// Returns the blocks of these files that are cached now, without prolonging their stay. May throw std::bad_alloc.
format::WarmList cached_blocks_of(const Levels& levels, BlockCache& cache);

/// Blocks of one run that are worth reading: first those that lead to data, then data in the order of the file.
struct WarmRun {
  std::shared_ptr<const TableFile> file;
  const format::RunEntry* run = nullptr;
  bool wants_filter = false;
  bool wants_index = false;
  /// Offsets of data blocks, as listed. They rise.
  std::vector<std::uint64_t> data;
};

/// Returns the runs that contain the listed blocks of this file, in the order of the file. Returns none if the list
/// means another file of the same number. Opens the file. Errors: those of TableFile::open(). May throw std::bad_alloc.
Result<std::vector<WarmRun>> runs_of(const format::WarmBlocks& blocks, const std::shared_ptr<const TableFile>& file);

/// Returns the listed data blocks that the run's index names and that are not cached. Reads the index, if it is not
/// cached. Errors: those of BlockReader::get(). May throw std::bad_alloc.
Result<std::vector<format::BlockHandle>> blocks_to_read(const WarmRun& warm, BlockReader& blocks);

}  // namespace varve::engine
