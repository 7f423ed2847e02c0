// Owns: removing loads that were installed and never adopted from a file set during recovery.
// Must never: remove files that another table needs, or a table that a commit adopted.
#pragma once

#include <span>

#include "engine/manifest/file_set.h"

namespace varve::engine {

/// The drop version of an abandoned load, which no reader ever saw.
inline constexpr CommitVersion kNeverShown = 1;

/// Returns a table's id in the form of dead ids.
format::DeadId dead_load(format::TableId table);

/// Removes every loading id that is not in `adopted` from `files`, and the table files that contain only such tables.
/// Files that compaction merged with others remain; their ids become dead and are returned.
/// Errors: kCorruption (for example, a dead id that is named twice), as FileSet::apply().
Result<std::vector<format::DeadId>> drop_unfinished_loads(std::span<const format::TableId> adopted, FileSet& files);

}  // namespace varve::engine
