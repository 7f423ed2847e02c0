// Owns: how figures of a store as a whole are told to people, by every verb alike.
// Must never: open a store.
#pragma once

#include <cstdint>
#include <string>

#include "varve/statistics.h"

namespace varve::tool {

/// "closed cleanly", or what recovery found.
std::string how_it_was_left(const RecoveryStatistics& recovery);

/// How far the store's clock is ahead of the machine's, and what follows. Empty where it is not.
std::string clock_ahead_text(const Statistics& statistics);

std::uint64_t table_files_of(const Statistics& statistics) noexcept;
std::uint64_t table_bytes_of(const Statistics& statistics) noexcept;

/// Bytes of all levels for each byte of the lowest level, which holds nearly all that is live: how much space newer
/// versions, deletions and what they hide take. 1 where nothing is above it; 0 where it is not known: without tables,
/// and while the lowest level is level 0, whose files hold the same keys.
double space_amplification(const Statistics& statistics) noexcept;

/// Bytes written to the device since the open (log, zeros that prepare it, table files) for each byte that callers
/// wrote; 0 where they wrote nothing.
double write_amplification(const Statistics& statistics) noexcept;
/// "12.3 MB written for 5.1 MB of changes, 2.41 times: ...", and what was written.
std::string written_text(const Statistics& statistics);

/// "1.25".
std::string times_text(double times);

/// A bar for each level that holds anything, the largest one of full length; deletions are its lighter end. Empty
/// without tables.
std::string picture_of_levels(const Statistics& statistics);

}  // namespace varve::tool
