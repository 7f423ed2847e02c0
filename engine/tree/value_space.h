// Owns: which log segments are worth keeping for their values, and how much of each value file is still pointed to.
// Must never: count a value that no table points to.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/commit/memtable.h"
#include "engine/files/file_set.h"

namespace varve::engine {

/// Of the closed segments that end at or below `flushed_version`, those that are at least half large values of the
/// memtable: kept as value files, they spare writing these to a table, and what compaction would make of it.
std::vector<format::ValueFileEntry> segments_worth_keeping(const Memtable& memtable, const FileSet& files,
                                                           CommitVersion flushed_version);

/// Value files of which at least one byte in `part` is pointed to by nobody any more. Their numbers rise.
std::vector<std::uint64_t> wasteful_value_files(const FileSet& files, std::uint64_t part);

}  // namespace varve::engine
