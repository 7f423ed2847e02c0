// Owns: how much a walk forward over one table reads at once: the more, the longer it has gone on.
// Must never: read behind the data of the run at hand: what lies there is known exactly.
#pragma once

#include <cstdint>

#include "api/result.h"
#include "engine/tables/block_reader.h"
#include "engine/tables/stored_bytes.h"

namespace varve::engine {

/// One thread at a time.
class ReadAhead {
 public:
  /// `blocks` outlives it.
  explicit ReadAhead(BlockReader& blocks) noexcept : blocks_(blocks) {}

  /// A data block, from the cache, out of what was read ahead, or from the disk. `in_sequence` says that the walk comes
  /// from the block before it. All calls are about one table. Errors: those of BlockReader::get.
  Result<PinnedBlock> get(const BlockWanted& wanted, bool in_sequence);

 private:
  BlockReader& blocks_;
  std::uint64_t window_bytes_ = 0;  // of the last reading ahead; zero: none yet
  StoredBytes stored_;
};

}  // namespace varve::engine
