// Owns: which log segments are worth keeping for their values, and how much of each value file is still pointed to.
// Must never: count a value that no table points to.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/levels/dead_ranges.h"
#include "engine/manifest/file_set.h"
#include "engine/memory/memtable.h"

namespace varve::engine {

/// Of the closed segments that end at or below `flushed_version`, those that are at least half large values of the
/// memtable, not counting those of dead tables: kept as value files, they spare writing these to a table, and what
/// compaction would make of it.
std::vector<format::ValueFileEntry> segments_worth_keeping(const Memtable& memtable, const FileSet& files,
                                                           CommitVersion flushed_version, const DeadRanges& dead);

/// Whether at least one byte in `part` of a value file is garbage.
constexpr bool is_wasteful(std::uint64_t size_bytes, std::uint64_t used_bytes, std::uint64_t part) noexcept {
  return used_bytes < size_bytes && size_bytes - used_bytes >= size_bytes / part;
}
/// While writers are busy a value file must be mostly garbage to be worth the work; where they rest, be it that the
/// disk is full, a part is enough: more than the fifth that the log rounds up to sectors around the smallest of large
/// values, or files without garbage would be rewritten.
inline constexpr std::uint64_t kWastefulPart = 2;
inline constexpr std::uint64_t kWastefulPartAtRest = 4;

/// Value files of which at least one byte in `part` is pointed to by nobody any more. Their numbers rise.
std::vector<std::uint64_t> wasteful_value_files(const FileSet& files, std::uint64_t part);

}  // namespace varve::engine
