// Owns: the deep check of a sorted block: everything that readers take on trust.
// Must never: be needed for safety; readers stay inside their bytes without it.
#pragma once

#include "format/block/sorted_block.h"
#include "varve/status.h"

namespace varve::format {

/// Every entry reads, to the last byte before the restarts; keys do not fall; each restart is an entry that stands with
/// its whole key; the buckets are those of the keys.
/// Errors: kCorruption.
Status check_sorted_block(const SortedBlock& block);

}  // namespace varve::format
