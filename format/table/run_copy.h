// Owns: what a run copied from another file must be, and the bytes it becomes.
// Must never: pass on a byte that was not verified where it came from, or decompress a data block.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "format/block/block.h"
#include "format/table/table_entries.h"
#include "varve/result.h"

namespace varve::format {

/// A run as it stands in its file.
struct RunSource {
  const RunEntry* run = nullptr;
  std::uint64_t file_seed = 0;
  /// All of it: run->bytes() bytes from run->offset.
  std::string_view bytes;
  /// The dictionary that the run names; empty if it names none.
  std::string_view dictionary;
};

/// Verifies every block of the run against the run's entry and its index partition, and gives the bytes of the run for
/// another place.
/// Errors: kCorruption, kUnsupported; kInvalidArgument (bytes or dictionary are not those of the run).
Result<std::string> copy_run(const RunSource& source, FilePlace to, Decompressor& decompressor);

}  // namespace varve::format
