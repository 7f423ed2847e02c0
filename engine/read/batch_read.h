// Owns: reading many keys at once. All searches run side by side, and the device reads blocks for all of them.
// Must never: read a block twice for two keys that need it at the same time, or wait for one key while another can
// continue.
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

/// Several points of one version, or their versions alone. `cost` receives the cost, and `room` the copied values; both
/// may be null.
struct PointsWanted {
  std::span<const std::string_view> sort_keys;
  CommitVersion at_most = 0;
  EntryPart part = EntryPart::kAll;
  ReadCost* cost = nullptr;
  ValueRoom* room = nullptr;
};

/// Returns for each key the result of read_point(), in the order of the keys. The first failure ends the read. Errors:
/// those of read_point(), and of making a read queue.
Result<std::vector<std::optional<FoundEntry>>> read_points(const ReadState& state, BlockReader& blocks,
                                                           ReadQueues& queues, const PointsWanted& wanted);

}  // namespace varve::engine
