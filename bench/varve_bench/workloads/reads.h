// Owns: reads as measurements, for every workload that reads.
// Must never: write.
#pragma once

#include "bench/varve_bench/workload.h"

namespace varve::bench {

/// Choice::entities into table 0, and everything merged to the end.
Status load_and_compact(Session& session);

/// Random gets in table 0, of entities that are there or of keys between them. `warmed`: everything is scanned first.
WorkloadRow get_row(std::string name, int threads, bool present, bool warmed, Limit limit);

/// Table 0 again and again, in entities a second.
Result<Outcome> scan_everything(Session& session, Scanned scanned);

/// A cache of an eighth of what is stored, and no help from the page cache.
Settings scarce_cache(const Choice& choice);

}  // namespace varve::bench
