// Owns: reading the values in value files, for iterations over entries.
// Must never: return a value that was not compared with its entry.
#pragma once

#include <string_view>

#include "engine/base/read_cost.h"
#include "engine/levels/levels.h"
#include "engine/tables/block_reader.h"
#include "format/keys/value_pointer.h"
#include "varve/result.h"

namespace varve::engine {

/// Reads values. One thread at a time may use it.
class ExternalValues {
 public:
  /// For an iteration over memtables only, which contain their values.
  ExternalValues() noexcept = default;
  /// `blocks`, `levels`, and `cost`, which may be null, must outlive this object.
  ExternalValues(BlockReader& blocks, const Levels& levels, ReadCost* cost = nullptr) noexcept
      : blocks_(&blocks), levels_(&levels), cost_(cost) {}

  /// Returns the value that an entry of kind kPutExternal points to, from the cache or from the disk. A value from the
  /// disk is cached if there is room. Errors: kCorruption, kUnsupported (both name the file), kIoError, kTooManyFiles,
  /// kOutOfMemory.
  Result<PinnedBlock> read(std::string_view pointer);

 private:
  BlockReader* blocks_ = nullptr;
  const Levels* levels_ = nullptr;
  ReadCost* cost_ = nullptr;
};

/// Returns the block of the value. The levels must outlive it. Errors: kCorruption, those of may_use_disk(), and those
/// of opening the value file.
Result<BlockWanted> locate_value(const Levels& levels, std::string_view pointer, ReadCost* cost = nullptr);
Result<BlockWanted> locate_value(const Levels& levels, const format::ValuePointer& pointer, ReadCost* cost);

/// Reads the value from the disk and compares it with its entry. Errors: those of locate_value(), kCorruption (it is
/// another value), kIoError, kOutOfMemory.
Status check_value(const Levels& levels, std::string_view pointer);

}  // namespace varve::engine
