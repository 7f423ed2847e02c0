// Owns: who in a server may have how many of the files that its process may have open.
// Must never: let clients have what the store needs, or those who watch.
#pragma once

#include <cstdint>

#include "varve/result.h"

namespace varve::serve {

/// What the store may have open while a log rolls, memtables are flushed and levels are compacted: log segments, table
/// and value files, the manifest, directories, rings. Of a larger limit the store has half, up to the second figure.
inline constexpr std::uint64_t kStoreDescriptorsMin = 32;
inline constexpr std::uint64_t kStoreDescriptorsMax = 4096;

struct DescriptorPlan {
  std::uint64_t process = 0;
  std::uint64_t store = 0;
  /// Connections of those who watch.
  std::uint64_t watch = 0;
  std::uint64_t connections = 0;
};

/// Of `limit` files, with so many threads that serve. Errors: kTooManyFiles: the limit is too small; the message names
/// the one that is needed.
Result<DescriptorPlan> plan_descriptors(std::uint64_t limit, unsigned threads);

}  // namespace varve::serve
