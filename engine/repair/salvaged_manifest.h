// Owns: what a manifest says as far as it verifies.
// Must never: apply an edit behind one that was lost.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>

#include "engine/manifest/file_set.h"

namespace varve::engine {

struct SalvagedManifest {
  /// After the edits that could be read.
  FileSet files;
  /// Numbers of tables and segments that those edits took out of the store.
  std::set<std::uint64_t> removed;
  std::uint64_t edits = 0;
  /// Behind the last edit read.
  std::uint64_t valid_bytes = 0;
  /// Why the reading ended; ok at the manifest's end.
  Status ended;
};

/// The edits of a manifest up to the first that does not verify or follow. Nothing is asked of its header: the records
/// verify by number and seed. Errors: kUnsupported (an intact record of a newer build).
Result<SalvagedManifest> salvage_manifest(std::string_view bytes, std::uint64_t number, std::uint64_t seed);

}  // namespace varve::engine
