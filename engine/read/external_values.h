// Owns: bringing a value that lies in a value file, for those who walk over entries.
// Must never: hand out a value that was not compared with what its entry says of it.
#pragma once

#include <string_view>

#include "engine/base/read_cost.h"
#include "engine/levels/levels.h"
#include "engine/tables/block_reader.h"
#include "varve/result.h"

namespace varve::engine {

/// One thread at a time.
class ExternalValues {
 public:
  /// For a walk over memtables alone, which hold their values.
  ExternalValues() noexcept = default;
  /// `blocks`, `levels`, and `cost`, which may be null, outlive it.
  ExternalValues(BlockReader& blocks, const Levels& levels, ReadCost* cost = nullptr) noexcept
      : blocks_(&blocks), levels_(&levels), cost_(cost) {}

  /// What an entry of kind kPutExternal points to; from the cache, or from the disk, and then kept in the cache where
  /// there is room. Errors: kCorruption, kUnsupported (both name the file), kIoError, kTooManyFiles, kOutOfMemory.
  Result<PinnedBlock> read(std::string_view pointer);

 private:
  BlockReader* blocks_ = nullptr;
  const Levels* levels_ = nullptr;
  ReadCost* cost_ = nullptr;
};

/// The value to be read. The levels outlive it. Errors: kCorruption, and those of opening the value file.
Result<BlockWanted> locate_value(const Levels& levels, std::string_view pointer);

/// Reads it from the disk and compares it with what its entry says of it. Errors: those of locate_value(), kCorruption
/// (it is another value), kIoError, kOutOfMemory.
Status check_value(const Levels& levels, std::string_view pointer);

}  // namespace varve::engine
