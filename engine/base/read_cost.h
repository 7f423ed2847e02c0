// Owns: the cost of one read in blocks of tables, and whether the read may wait for the disk.
// Must never: be shared by threads.
#pragma once

#include <cstdint>

#include "varve/result.h"

namespace varve::engine {

/// Number of blocks of data, indexes and filters.
struct ReadCost {
  std::uint64_t blocks_read = 0;
  std::uint64_t blocks_from_cache = 0;
  /// Data blocks that were skipped without reading, because an index or a filter showed that they contain nothing for
  /// this read.
  std::uint64_t blocks_skipped = 0;

  /// If false, the read fails where it would wait for the disk, and sets `wants_disk`. A cursor can then go on.
  bool may_wait = true;
  bool wants_disk = false;
};

/// Called before a read waits for the disk. A read without a cost may always wait.
/// Errors: kBusy (it may not; `wants_disk` is set).
inline Status may_use_disk(ReadCost* cost) {
  if (cost == nullptr || cost->may_wait) return Status();
  cost->wants_disk = true;
  return Status(Code::kBusy, "the read needs the disk and may not wait for it");
}

}  // namespace varve::engine
