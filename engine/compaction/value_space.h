// Owns: which log segments are worth keeping for their values, and how much of each value file is still pointed to.
// Must never: count a value that no table points to.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/levels/dead_ranges.h"
#include "engine/manifest/file_set.h"
#include "engine/memory/memtable.h"

namespace varve::engine {

/// Returns the closed segments up to `flushed_version` that are at least half large values of the memtable. Values of
/// dead tables do not count. Such segments are kept as value files. So their values are neither written to a table nor
/// rewritten by compactions.
std::vector<format::ValueFileEntry> segments_worth_keeping(const Memtable& memtable, const FileSet& files,
                                                           CommitVersion flushed_version, const DeadRanges& dead);

/// Returns whether at least one byte in `part` of a value file is garbage.
constexpr bool is_wasteful(std::uint64_t size_bytes, std::uint64_t used_bytes, std::uint64_t part) noexcept {
  return used_bytes < size_bytes && size_bytes - used_bytes >= size_bytes / part;
}
/// The garbage parts from which a value file is rewritten: half while writers are busy, a quarter while they rest, for
/// example on a full disk. A quarter is more than the fifth by which the log rounds up the smallest large values to
/// sectors. Otherwise files without garbage would be rewritten.
inline constexpr std::uint64_t kWastefulPart = 2;
inline constexpr std::uint64_t kWastefulPartAtRest = 4;

/// Returns the value files in which at least one byte in `part` is no longer pointed to. Ascending numbers.
std::vector<std::uint64_t> wasteful_value_files(const FileSet& files, std::uint64_t part);

}  // namespace varve::engine
