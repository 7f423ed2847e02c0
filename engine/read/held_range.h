// Owns: the only entry of a range of keys, found in memory without a cursor.
// Must never: read the disk, or answer where another entry of the range may exist.
//
// A look-up by an index reads a range that has one entry most often. A cursor pins blocks and keeps bounds for moves that
// such a range does not need.
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/key_span.h"
#include "engine/base/read_cost.h"
#include "engine/memory/read_states.h"
#include "engine/tables/block_reader.h"

namespace varve::engine {

/// What memory shows of a range of keys.
struct HeldRange {
  enum class Has : std::uint8_t {
    /// It may have entries. A cursor shows them.
    kUnknown,
    kNothing,
    /// One entry, which is below.
    kOne,
  };

  Has has = Has::kUnknown;
  std::string sort_key{};
  std::string value{};
  /// The time at which the entity ends; zero if it has no end. The reader compares it with its time.
  CommitVersion end = 0;
};

/// Looks for the only entry of a range, whose upper bound is not empty, at a version. Answers only if one table may have keys
/// of the range, its blocks are cached, and the entry is a put that has its value. Errors of blocks are no answer either.
/// Throws std::bad_alloc. `cost` counts the blocks of an answer, and may be null.
HeldRange look_at_range(const ReadState& state, BlockCache& cache, const KeySpan& range, CommitVersion at_most,
                        ReadCost* cost);

}  // namespace varve::engine
