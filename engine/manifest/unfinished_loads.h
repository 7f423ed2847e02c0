// Owns: the end of loads that were installed and never adopted, in a file set that is being recovered.
// Must never: take from the set what another table needs, or a table that a commit adopted.
#pragma once

#include <span>

#include "engine/manifest/file_set.h"

namespace varve::engine {

/// The drop version of a load that was given up: no version ever showed it to anybody.
inline constexpr CommitVersion kNeverShown = 1;

/// The id of a table as dead ids name it.
format::DeadId dead_load(format::TableId table);

/// Takes every loading id out of `files` that is not among `adopted`, and with it the table files that hold nothing
/// else. Those that compaction merged with others stay, and their ids become dead; these are returned.
/// Errors: kCorruption (a dead account or id is named twice, say), as FileSet::apply.
Result<std::vector<format::DeadId>> drop_unfinished_loads(std::span<const format::TableId> adopted, FileSet& files);

}  // namespace varve::engine
