// Owns: what CURRENT says of a store that was closed, when it is written and when it is believed.
// Must never: vouch for bytes that were not read back, or let a closed store differ from its description.
#pragma once

#include <string_view>

#include "engine/manifest/file_set.h"
#include "engine/manifest/manifest_file.h"
#include "format/log/root.h"
#include "io/file_system.h"
#include "varve/result.h"

namespace varve::engine {

/// CURRENT for the end of a clean close: `open` with the state "clean", and the sizes and hashes of the manifest and of
/// all live segments, each of them closed (asserted). Reads the manifest and the segments' footers back. Errors:
/// kCorruption (what is on disk is not what was written), kIoError.
Result<format::Root> make_clean_root(io::Directory& directory, const format::Root& open, const FileSet& files,
                                     const ManifestFile& manifest, CommitVersion last_version);

/// The live segments of a manifest against those that CURRENT lists. Errors: kCorruption.
Status check_clean_segments(const format::Root& clean, const FileSet& files);

/// The bytes of one of them against its footer's hash. Errors: kCorruption.
Status check_clean_footer(const format::Root& clean, std::uint64_t number, std::string_view segment);

}  // namespace varve::engine
