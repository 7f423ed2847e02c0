// Owns: the checks of a run that is copied from another file, and the bytes of the copy.
// Must never: copy a byte that was not verified in its source, or decompress a data block.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "format/block/block.h"
#include "format/table/table_entries.h"
#include "varve/result.h"

namespace varve::format {

/// A run in its source file.
struct RunSource {
  const RunEntry* run = nullptr;
  std::uint64_t file_seed = 0;
  /// The whole run: run->bytes() bytes from run->offset.
  std::string_view bytes;
  /// The dictionary that the run names. Empty if it names none.
  std::string_view dictionary;
};

/// Verifies every block of the run against the run's entry and its index partition. Returns the bytes of the run for
/// the place `to`.
/// Errors: kCorruption, kUnsupported; kInvalidArgument (the bytes or the dictionary do not belong to the run).
Result<std::string> copy_run(const RunSource& source, FilePlace to, Decompressor& decompressor);

}  // namespace varve::format
