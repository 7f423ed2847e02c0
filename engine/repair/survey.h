// Owns: which files of a damaged directory are the store's, and what is known of the store as a whole.
// Must never: leave out a file that may be part of the store, or take one for it that is known not to be.
#pragma once

#include <string>
#include <vector>

#include "engine/manifest/file_set.h"
#include "engine/manifest/manifest.h"
#include "engine/repair/salvage.h"
#include "engine/repair/salvaged_index.h"

namespace varve::engine {

/// A log segment that is to be read as far as it goes.
struct SegmentSource {
  std::string name;
  LiveSegment segment;
  /// The manifest names it; otherwise its seed is its own header's.
  bool is_named = false;
};

struct BufferSource {
  std::string name;
  format::LogBufferEntry entry;
  bool is_named = false;
};

struct SurveyedStore {
  /// By the manifest, as far as it could be read. Empty without one.
  FileSet files;
  /// The files are exactly these, unless the log knows better (SalvagedLog::mark).
  bool is_certain = false;
  ManifestMark manifest;
  std::string root_unknown_fields;
  /// The last version by CURRENT; zero where it says none.
  CommitVersion root_version = 0;
  std::vector<TableSource> tables;
  std::vector<SegmentSource> segments;  // in the order of their numbers
  std::vector<BufferSource> buffers;
};

enum class ManifestTrust : std::uint8_t {
  kAsFound,
  kWithoutRoot,  // the log knows a newer one than CURRENT leads to, or more of it: CURRENT is of an earlier day
  kNone,         // and so is the newest that is here
};

/// Looks at all names, CURRENT, and the manifest that is to be believed: the one that CURRENT names, else the newest
/// that belongs to the store. Where that leaves a doubt which files are live, all are taken that are not known to have
/// left the store, and the doubt is told as a loss without bounds.
/// Errors: kNotFound (no store is here), those that end a repair.
Result<SurveyedStore> survey_store(ManifestTrust trust, Salvage& salvage);

}  // namespace varve::engine
