// Owns: the verified part of a manifest.
// Must never: apply an edit after a lost edit.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>

#include "engine/manifest/file_set.h"

namespace varve::engine {

struct SalvagedManifest {
  /// The file set after the edits that could be read.
  FileSet files;
  /// Numbers of the tables and segments that those edits removed from the store.
  std::set<std::uint64_t> removed;
  std::uint64_t edits = 0;
  /// Offset in bytes of the end of the last edit read.
  std::uint64_t valid_bytes = 0;
  /// The reason why reading ended, or Ok at the manifest's end.
  Status ended;
};

/// Reads the edits of a manifest up to the first that does not verify or follow. The header is not checked, because the
/// records verify by number and seed. Errors: kUnsupported (an intact record of a newer build).
Result<SalvagedManifest> salvage_manifest(std::string_view bytes, std::uint64_t number, std::uint64_t seed);

}  // namespace varve::engine
