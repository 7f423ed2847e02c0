// Owns: what deletes show about dead keys: the search around keys that were just deleted, and the closing of cuts.
// Must never: fail a commit, or take long.
#pragma once

#include <string_view>

#include "engine/commit/commit_queue.h"
#include "engine/engine.h"

namespace varve::engine {

/// Joins the stretches between which a key that the batch deletes lies alone, because a put of it had cut them. So keys
/// that are put and deleted among dead ones leave no cuts. The batch was validated, and is visible with this version.
void close_cuts(std::string_view batch, CommitVersion version, DeadStretches& stretches) noexcept;

/// Searches around a committed batch and reports dead ranges to `queue.stretches()`. The batch contains a delete, was
/// validated, and is visible to the view. If `cost` is not null and says that the search may not wait, the search ends where
/// it needs the disk.
void look_around(const ReadView& view, std::string_view batch, CommitQueue& queue, ReadCost* cost) noexcept;

}  // namespace varve::engine
