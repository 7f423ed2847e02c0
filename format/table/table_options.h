// Owns: the choices for a new table file, and the limit of an entry's size.
// Must never: change how a file is read. The file records the choices that its readers need.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "format/bytes/compression.h"
#include "format/table/run_builder.h"
#include "varve/result.h"

namespace varve::format {

/// Limit in bytes of an entry's key and value together. Usual entries are far smaller.
inline constexpr std::size_t kTableEntryBytesMax = std::size_t{32} << 20;

struct TableOptions {
  /// 0 means no compression. Otherwise from kCompressionLevelMin to kCompressionLevelMax, in which 0 does not occur.
  int compression_level = 1;
  FilterChoice filter;
  /// A zstd dictionary for the data blocks. Empty means no dictionary. The file contains it if a block was compressed
  /// with it.
  std::string dictionary;
  /// If true and no dictionary is given, the builder learns one from the first run, or takes over the dictionary of the
  /// first copied run that has one. It uses that dictionary from then on. Without compression, nothing is learned.
  bool learns_dictionary = false;
};

/// Returns whether a table file can contain the entry. Errors: kTooLarge; those of decode_value_pointer().
Status check_entry(const DataEntry& entry);

/// Returns the compressor of the options, or nothing if they ask for no compression. Errors: kInvalidArgument (an
/// invalid compression level, dictionary or filter).
Result<std::optional<Compressor>> make_compressor(const TableOptions& options);

}  // namespace varve::format
