// Owns: what one read cost in blocks of tables.
// Must never: be shared by threads, or steer anything.
#pragma once

#include <cstdint>

namespace varve::engine {

/// Blocks of data, of indexes and of filters alike.
struct ReadCost {
  std::uint64_t blocks_read = 0;
  std::uint64_t blocks_from_cache = 0;
  /// Blocks of data that an index or a filter told to hold nothing for this read: passed unread.
  std::uint64_t blocks_skipped = 0;
};

}  // namespace varve::engine
