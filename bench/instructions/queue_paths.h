// Owns: the hot paths of queues, and the inserts that they are compared with.
// Must never: count a path beside a comparison of other sizes or promises.
#pragma once

#include <vector>

#include "bench/instructions/hot_paths.h"

namespace varve::bench {

const std::vector<HotPath>& queue_paths();

}  // namespace varve::bench
