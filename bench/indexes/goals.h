// Owns: the list of goals that the race of indexes measures. bench/GOALS.md explains them.
// Must never: hold sizes of its own: bench/blobs/goals.h has those of all goals.
#pragma once

#include "bench/blobs/goals.h"

namespace varve::bench {

Rows indexed_inserts(const Bench& bench);  // IX-01
Rows index_lookups(const Bench& bench);    // IX-02
Rows index_builds(const Bench& bench);     // IX-03
Rows expiry(const Bench& bench);           // IX-04
Rows groups(const Bench& bench);           // IX-05
Rows ordered_pages(const Bench& bench);    // IX-06

}  // namespace varve::bench
