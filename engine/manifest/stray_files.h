// Owns: removing files of ours that nothing needs any more.
// Must never: remove a file that the set names, or one that is not ours. Nothing rests on its having been run.
#pragma once

#include <cstdint>

#include "engine/manifest/file_set.h"
#include "io/file_system.h"
#include "varve/status.h"

namespace varve::engine {

enum class StrayBallast : bool { kKeep, kRemove };

/// Removes numbered files that neither `files` nor `manifest_number` (zero: none) names and the temporary of CURRENT,
/// and syncs the directory if that changed it. Links, directories and files of other names are left alone.
/// Errors: those of Directory::list, remove and sync; some files may be left then.
Status remove_stray_files(io::Directory& directory, const FileSet& files, std::uint64_t manifest_number,
                          StrayBallast ballast);

}  // namespace varve::engine
