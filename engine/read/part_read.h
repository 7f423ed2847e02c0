// Owns: finding the place of a value, and reading a part of a value without the rest.
// Must never: read more of a value file than the sectors of the part, or cache a part.
//
// The hash in an entry covers the whole value, so a part cannot be compared with it. A caller that reads parts stores
// hashes of its own, for example one for each 64 KiB.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/read_cost.h"
#include "engine/base/read_queues.h"
#include "engine/memory/read_states.h"
#include "engine/read/point_read.h"
#include "engine/tables/block_reader.h"
#include "format/keys/value_pointer.h"
#include "varve/result.h"

namespace varve::engine {

/// The place of a value: in memory, or in a value file. Valid as long as the state that it was found in. Movable, not
/// copyable. Any number of threads may read parts of it.
class FoundPlace {
 public:
  /// The version of the put.
  CommitVersion version = 0;
  /// The time at which the entity ends; zero if it has no end.
  CommitVersion end = 0;
  /// Length of the value.
  std::uint64_t bytes = 0;

  /// Returns false if the value is in memory. Such a value was verified with its block, or never left memory.
  bool is_in_file() const noexcept { return pointer_.file != 0; }

  /// Makes the place of a put. `external` is the place of its value in a value file; without it, `put` has the value.
  static FoundPlace of(FoundEntry put, const std::optional<format::ValuePointer>& external = std::nullopt) noexcept;

  /// Returns the value in memory; empty if is_in_file().
  std::string_view value() const noexcept { return entry_.value; }
  /// Returns the place in a value file; of file zero if the value is in memory.
  const format::ValuePointer& pointer() const noexcept { return pointer_; }

 private:
  FoundEntry entry_;
  format::ValuePointer pointer_;
};

/// A part of a value, and the memory for it.
struct WantedPart {
  std::uint64_t offset = 0;  // in the value
  std::span<char> out;
};

/// Two parts of a value, the second one after the first.
using WantedPair = std::array<WantedPart, 2>;

/// Returns the place of the key's newest value that is not above `at_most`. Returns nothing if the newest entry is a
/// delete, or if there is none. Errors: as read_point().
Result<std::optional<FoundPlace>> locate_point(const ReadState& state, BlockReader& blocks, std::string_view sort_key,
                                               CommitVersion at_most, ReadCost* cost = nullptr);

/// Fills part.out from a value that locate_point() found in `state`. Bytes from a value file are not verified.
/// Errors: kInvalidArgument (the part ends after the value; nothing was done), those of may_use_disk(), kCorruption,
/// kUnsupported, kIoError (file and offset named), kTooManyFiles, kOutOfMemory.
Status read_found_part(const ReadState& state, BlockReader& blocks, const FoundPlace& place, const WantedPart& part,
                       ReadCost* cost = nullptr);
/// Fills both parts as read_found_part() fills one. Two reads of the disk are in flight together. Parts whose sectors
/// touch are one read.
Status read_found_pair(const ReadState& state, BlockReader& blocks, ReadQueues& queues, const FoundPlace& place,
                       const WantedPair& parts, ReadCost* cost = nullptr);

}  // namespace varve::engine
