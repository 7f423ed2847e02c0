// Owns: the search for dead keys around keys that were just deleted.
// Must never: fail a commit, or take long.
#pragma once

#include <string_view>

#include "engine/commit/commit_queue.h"
#include "engine/engine.h"

namespace varve::engine {

/// Searches around a committed batch and reports dead ranges to `queue.stretches()`. The batch contains a delete, was
/// validated, and is visible to the view.
void look_around(const ReadView& view, std::string_view batch, CommitQueue& queue) noexcept;

}  // namespace varve::engine
