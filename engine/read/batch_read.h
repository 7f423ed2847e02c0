// Owns: reading many keys at once: all searches go on side by side, and the device works on the blocks of all of them.
// Must never: read a block twice for two keys that want it at the same time, or wait for one while another could go on.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/read_cost.h"
#include "engine/base/read_queues.h"
#include "engine/read/point_read.h"
#include "varve/result.h"

namespace varve::engine {

/// For each key what read_point() gives, or its version alone, in the order of the keys. The first failure ends it.
/// `cost`, which may be null, is told what it cost. Errors: those of read_point(), and of making a read queue.
Result<std::vector<std::optional<FoundEntry>>> read_points(const ReadState& state, BlockReader& blocks,
                                                           ReadQueues& queues,
                                                           std::span<const std::string_view> sort_keys,
                                                           CommitVersion at_most, EntryPart part,
                                                           ReadCost* cost = nullptr);

}  // namespace varve::engine
