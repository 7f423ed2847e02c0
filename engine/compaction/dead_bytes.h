// Owns: how many bytes of dropped tables a store still holds: in memtables, which is what the log holds of them, in
// table files and in value files.
// Must never: count what is live, or what nobody could give back.
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

/// Bytes of keys and values under the prefixes in all memtables of the state. The walk ends where they are `enough`.
std::uint64_t dead_bytes_in_memory(const ReadState& state, std::span<const format::DeadId> dead_ids,
                                   std::uint64_t enough = std::numeric_limits<std::uint64_t>::max());

/// Of a file with this directory. A block counts for the table of its first entry; where all tables are dead, all of
/// the file is.
std::uint64_t dead_bytes_of(const std::vector<format::DirectoryEntry>& directory, const DeadRanges& dead,
                            std::uint64_t file_bytes) noexcept;

/// Of table files that hold dead tables alone, and of what these use in value files. Nothing is read.
std::uint64_t dead_whole_file_bytes(const Levels& levels, const DeadRanges& dead) noexcept;
/// Of all table files. Reads the directory of those that hold dead tables beside live ones; what cannot be read counts
/// as live.
std::uint64_t dead_table_file_bytes(const Levels& levels, const DeadRanges& dead);
/// Of value files: what no live table points to, where that is worth giving back.
std::uint64_t dead_value_file_bytes(const Levels& levels, const DeadRanges& dead);

}  // namespace varve::engine
