// Owns: opening what is left of a table file: its index if that can be had, and the dictionaries.
// Must never: take another file's bytes for this one's, or a dictionary for one that it may not be.
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

/// A table file that is to be read as far as it goes.
struct TableSource {
  std::string name;
  /// By the manifest, if it names the file; else by the file itself, with nothing but its number certain.
  format::TableFileEntry entry;
  bool is_named = false;
  /// The entry has the bounds of keys and versions.
  bool has_bounds = false;
};

/// What could be opened. Without an index the blocks are looked for from the file's header to its end.
struct SalvagedIndex {
  std::unique_ptr<io::ReadableFile> file;
  std::uint64_t seed = 0;
  std::optional<format::TableIndex> index;
  std::map<std::uint64_t, std::shared_ptr<const format::Dictionary>> dictionaries;
  /// Whether every byte that was read here was as it should be.
  bool is_whole = true;

  const format::Dictionary* dictionary_of(const format::RunEntry& run) const noexcept;
};

/// Opens the file; what is amiss is noted. Nothing if there is no way to read a block of it: then the loss of all of it
/// is told. Errors: those that end a repair.
Result<std::optional<SalvagedIndex>> open_salvaged(const TableSource& source, Salvage& salvage);

/// Of a file that no manifest names: the entry with what its header and its index say. A file that is not readable at
/// all stays as it is. Errors: those that end a repair.
Status describe_unnamed(TableSource& source, Salvage& salvage);

}  // namespace varve::engine
