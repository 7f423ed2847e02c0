// Owns: removing the store's files that are no longer needed.
// Must never: remove a file that the set names, or a file of another program. No other code depends on the removal.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/manifest/file_set.h"
#include "io/file_system.h"
#include "varve/status.h"

namespace varve::engine {

enum class StrayBallast : bool { kKeep, kRemove };

/// The file that an interrupted replacement of WARM may leave.
inline constexpr std::string_view kWarmListTemporaryName = "WARM.tmp";

/// Removes the temporaries of CURRENT and WARM, and numbered files that neither `files` nor `manifest_number` (zero: none) names.
/// Syncs the directory if it changed. Links, directories and files with other names remain. Errors: those of
/// Directory::list(), remove() and sync(); some files may then remain.
Status remove_stray_files(io::Directory& directory, const FileSet& files, std::uint64_t manifest_number,
                          StrayBallast ballast);

}  // namespace varve::engine
