// Owns: what can be chosen of a table file that is made, and how large an entry of it may be.
// Must never: change how a file is read: what was chosen stands in it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "format/bytes/compression.h"
#include "format/table/run_builder.h"
#include "varve/result.h"

namespace varve::format {

/// Key and value of an entry together. What a table holds is far smaller.
inline constexpr std::size_t kTableEntryBytesMax = std::size_t{32} << 20;

struct TableOptions {
  /// 0: none; else kCompressionLevelMin to kCompressionLevelMax.
  int compression_level = 1;
  FilterChoice filter;
  /// A zstd dictionary for the data blocks; empty: none. It stands in the file, if a block was made with it.
  std::string dictionary;
  /// Without a dictionary one is learned from the first run, or taken over from the first copied run that has one, and
  /// used from then on. Nothing is learned where nothing is compressed.
  bool learns_dictionary = false;
};

/// Errors: kTooLarge.
Status check_entry_bytes(const DataEntry& entry);

/// That of the options; nothing where they ask for none. Errors: kInvalidArgument (a compression level, dictionary or
/// filter that cannot be).
Result<std::optional<Compressor>> make_compressor(const TableOptions& options);

}  // namespace varve::format
