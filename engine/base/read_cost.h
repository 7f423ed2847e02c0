// Owns: the cost of one read in blocks of tables.
// Must never: be shared by threads, or control anything.
#pragma once

#include <cstdint>

namespace varve::engine {

/// Number of blocks of data, indexes and filters.
struct ReadCost {
  std::uint64_t blocks_read = 0;
  std::uint64_t blocks_from_cache = 0;
  /// Data blocks that were skipped without reading, because an index or a filter showed that they contain nothing for
  /// this read.
  std::uint64_t blocks_skipped = 0;
};

}  // namespace varve::engine
