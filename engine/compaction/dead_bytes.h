// Owns: the count of the bytes of dropped tables that a store still holds: in memtables (and so in the log), in table
// files and in value files.
// Must never: count live bytes, or bytes that cannot be freed.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/levels/dead_ranges.h"
#include "engine/levels/levels.h"
#include "engine/memory/memtable.h"
#include "engine/memory/read_states.h"
#include "format/log/manifest_edit.h"
#include "format/table/table_entries.h"

namespace varve::engine {

/// Returns the bytes of keys and values under the prefixes in all memtables of the state. Stops counting at `enough`.
std::uint64_t dead_bytes_in_memory(const ReadState& state, std::span<const format::DeadId> dead_ids,
                                   std::uint64_t enough = std::numeric_limits<std::uint64_t>::max());

/// Returns the dead bytes of a file with this directory. A block counts for the table of its first entry. If all tables
/// are dead, the whole file counts.
std::uint64_t dead_bytes_of(const std::vector<format::DirectoryEntry>& directory, const DeadRanges& dead,
                            std::uint64_t file_bytes) noexcept;

/// Returns the bytes of table files with only dead tables, and of their values in value files. Reads nothing.
std::uint64_t dead_whole_file_bytes(const Levels& levels, const DeadRanges& dead) noexcept;
/// Returns the dead bytes of all table files. Reads the directories of files with dead and live tables. A file that
/// cannot be read counts as live.
std::uint64_t dead_table_file_bytes(const Levels& levels, const DeadRanges& dead);
/// Returns the bytes of value files that no live table points to, for the files that are worth rewriting.
std::uint64_t dead_value_file_bytes(const Levels& levels, const DeadRanges& dead);

}  // namespace varve::engine
