// Owns: the description of a cleanly closed store in CURRENT: writing it, and checking it.
// Must never: vouch for bytes that were not read back, or let a closed store differ from its description.
#pragma once

#include <string_view>

#include "engine/manifest/file_set.h"
#include "engine/manifest/manifest_file.h"
#include "format/log/root.h"
#include "io/file_system.h"
#include "varve/result.h"

namespace varve::engine {

/// Returns the CURRENT of a clean close: `open` with the state "clean", and the sizes and hashes of the manifest and of
/// all live segments. Each segment must be closed (asserted). Reads back the manifest and the segments' footers.
/// Errors: kCorruption (the disk does not have the written bytes), kIoError.
Result<format::Root> make_clean_root(io::Directory& directory, const format::Root& open, const FileSet& files,
                                     const ManifestFile& manifest, CommitVersion last_version);

/// Compares the live segments of a manifest with those that CURRENT lists. Errors: kCorruption.
Status check_clean_segments(const format::Root& clean, const FileSet& files);

/// Compares a segment's bytes with its footer's hash. Errors: kCorruption.
Status check_clean_footer(const format::Root& clean, std::uint64_t number, std::string_view segment);

}  // namespace varve::engine
