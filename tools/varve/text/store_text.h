// Owns: the texts for a store's figures, which all verbs share.
// Must never: open a store.
#pragma once

#include <cstdint>
#include <string>

#include "varve/statistics.h"

namespace varve::tool {

/// Returns "closed cleanly", or the findings of recovery.
std::string how_it_was_left(const RecoveryStatistics& recovery);

/// Returns how far the store's clock is ahead of the machine's clock, and the consequences. Empty if it is not ahead.
std::string clock_ahead_text(const Statistics& statistics);

std::uint64_t table_files_of(const Statistics& statistics) noexcept;
std::uint64_t table_bytes_of(const Statistics& statistics) noexcept;

/// Returns the bytes of all levels per byte of the lowest level. The lowest level contains nearly all live data, so the
/// ratio shows the space of newer versions, deletions and deleted data. Returns 1 if no level is above it. Returns 0 if
/// the ratio is unknown: without tables, and while the lowest level is level 0, whose files contain overlapping keys.
double space_amplification(const Statistics& statistics) noexcept;

/// Returns the bytes written to the device since the open, per byte that callers wrote. The device's bytes are log,
/// preparing zeros and table files. Returns 0 if callers wrote nothing.
double write_amplification(const Statistics& statistics) noexcept;
/// Returns "12.3 MB written for 5.1 MB of changes, 2.41 times: ...", followed by the kinds of writes.
std::string written_text(const Statistics& statistics);

/// Returns a ratio such as "1.25".
std::string times_text(double times);

/// Returns a bar for each level that contains data. The largest level's bar has full length. Deletions are the lighter
/// end of a bar. Returns an empty text if there are no tables.
std::string picture_of_levels(const Statistics& statistics);

}  // namespace varve::tool
