// Owns: opening the readable parts of a table file: its index, if possible, and its dictionaries.
// Must never: accept another file's bytes, or a dictionary that may be the wrong one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "engine/repair/salvage.h"
#include "format/bytes/compression.h"
#include "format/log/manifest_edit.h"
#include "format/table/table_index.h"
#include "io/file.h"
#include "varve/result.h"

namespace varve::engine {

/// A table file of which as much as possible is read.
struct TableSource {
  std::string name;
  /// The manifest's entry, if the manifest names the file. Otherwise, the file's own data, of which only the number is
  /// certain.
  format::TableFileEntry entry;
  bool is_named = false;
  /// True if the entry has the bounds of keys and versions.
  bool has_bounds = false;
};

/// The parts that could be opened. Without an index, blocks are searched from the file's header to its end.
struct SalvagedIndex {
  std::unique_ptr<io::ReadableFile> file;
  std::uint64_t seed = 0;
  std::optional<format::TableIndex> index;
  std::map<std::uint64_t, std::shared_ptr<const format::Dictionary>> dictionaries;
  /// True if every byte read here was intact.
  bool is_whole = true;

  const format::Dictionary* dictionary_of(const format::RunEntry& run) const noexcept;
};

/// Opens the file and notes irregularities. Returns nothing if no block of it can be read, and then records the loss of
/// the whole file. Errors: those that end a repair.
Result<std::optional<SalvagedIndex>> open_salvaged(const TableSource& source, Salvage& salvage);

/// Describes a file that no manifest names: fills the entry from its header and its index. If the file cannot be read,
/// `source` is unchanged. Errors: those that end a repair.
Status describe_unnamed(TableSource& source, Salvage& salvage);

}  // namespace varve::engine
