// Owns: the list of a damaged directory's files that belong to the store, and the facts about the whole store.
// Must never: omit a file that may be part of the store, or include one that is known not to be.
#pragma once

#include <string>
#include <vector>

#include "engine/manifest/file_set.h"
#include "engine/manifest/manifest.h"
#include "engine/repair/salvage.h"
#include "engine/repair/salvaged_index.h"

namespace varve::engine {

/// A log segment of which as much as possible is read.
struct SegmentSource {
  std::string name;
  LiveSegment segment;
  /// True if the manifest names it. Otherwise, the seed comes from the file's own header.
  bool is_named = false;
};

struct BufferSource {
  std::string name;
  format::LogBufferEntry entry;
  bool is_named = false;
};

struct SurveyedStore {
  /// The file set of the manifest, as far as it could be read. Empty without a manifest.
  FileSet files;
  /// True if the live files are exactly those listed here, unless the log knows better (SalvagedLog::mark).
  bool is_certain = false;
  ManifestMark manifest;
  std::string root_unknown_fields;
  /// The last version that CURRENT names, or zero if it names none.
  CommitVersion root_version = 0;
  std::vector<TableSource> tables;
  std::vector<SegmentSource> segments;  // in the order of their numbers
  std::vector<BufferSource> buffers;
};

enum class ManifestTrust : std::uint8_t {
  kAsFound,
  kWithoutRoot,  // the log names a newer manifest than CURRENT does, or more of it: CURRENT is outdated
  kNone,         // the newest manifest found is outdated as well
};

/// Reads all names, CURRENT, and the manifest to trust: the one that CURRENT names, or else the newest one of the
/// store. If the live files remain in doubt, all files are included except those known to have left the store. The
/// doubt is recorded as a loss without bounds.
/// Errors: kNotFound (no store is here), those that end a repair.
Result<SurveyedStore> survey_store(ManifestTrust trust, Salvage& salvage);

}  // namespace varve::engine
