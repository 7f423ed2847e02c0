// Owns: reads as measurements, for every workload that reads.
// Must never: write.
#pragma once

#include "bench/varve_bench/workload.h"

namespace varve::bench {

/// Loads Choice::entities into table 0, and merges everything completely.
Status load_and_compact(Session& session);

/// Returns a row of random gets in table 0, either of existing entities or of keys between them. `warmed`: everything
/// is scanned first.
WorkloadRow get_row(std::string name, int threads, bool present, bool warmed, Limit limit);

/// Scans table 0 repeatedly. The value is in entities per second.
Result<Outcome> scan_everything(Session& session, Scanned scanned);

/// Returns settings with a cache of an eighth of the stored data, and without the page cache.
Settings scarce_cache(const Choice& choice);

}  // namespace varve::bench
