// Owns: the deep check of a sorted block: every property that readers assume without a check.
// Must never: be required for safety. Readers stay inside their bytes without it.
#pragma once

#include "format/block/sorted_block.h"
#include "varve/status.h"

namespace varve::format {

/// Checks that every entry is readable, up to the last byte before the restarts, and that keys do not fall. Checks that
/// each restart is an entry stored with its whole key, and that the buckets fit the keys.
/// Errors: kCorruption.
Status check_sorted_block(const SortedBlock& block);

}  // namespace varve::format
