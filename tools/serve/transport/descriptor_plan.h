// Owns: dividing the process's limit of open files between the parts of a server.
// Must never: give clients the descriptors that the store or the monitoring needs.
#pragma once

#include <cstdint>

#include "varve/result.h"

namespace varve::serve {

/// The descriptors of the store while a log is rolled, memtables are flushed and levels are compacted. They are log
/// segments, table and value files, the manifest, directories and rings. If the limit allows more than the minimum, the
/// store gets half of the limit, up to the maximum.
inline constexpr std::uint64_t kStoreDescriptorsMin = 32;
inline constexpr std::uint64_t kStoreDescriptorsMax = 4096;

/// Connections of the socket in the store's directory. They are apart from the connections of other clients.
inline constexpr std::uint64_t kOperatorConnections = 8;

struct DescriptorPlan {
  std::uint64_t process = 0;
  std::uint64_t store = 0;
  /// Connections of the metrics listener.
  std::uint64_t watch = 0;
  std::uint64_t connections = 0;
};

/// Divides `limit` descriptors for a server with this number of threads. Errors: kTooManyFiles: the limit is too small.
/// The message names the required limit.
Result<DescriptorPlan> plan_descriptors(std::uint64_t limit, unsigned threads);

}  // namespace varve::serve
