// Owns: dividing equal work among a few threads, and reporting the results in order.
// Must never: fail because a thread was refused, or report a result that depends on the number of threads.
#pragma once

#include <cstddef>
#include <functional>

#include "io/scheduler.h"
#include "varve/status.h"

namespace varve::engine {

/// Number of threads that help the caller. More would need much memory on a machine that has few processors.
inline constexpr std::size_t kSideHelpersMax = 7;

/// Calls `work` once for each number below `count`, on this thread and its helpers. Then calls `report` with each number
/// and its result on this thread, in ascending order, as soon as all lower numbers are reported.
///
/// Several threads may need more descriptors or memory together than the process has. So work that fails with
/// kTooManyFiles or kOutOfMemory is done again by this thread, after the helpers have ended.
void do_side_by_side(io::Scheduler& scheduler, std::size_t count, const std::function<Status(std::size_t)>& work,
                     const std::function<void(std::size_t, const Status&)>& report);

}  // namespace varve::engine
