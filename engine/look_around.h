// Owns: the look at what lies beside keys that were just deleted.
// Must never: fail a commit, or take long.
#pragma once

#include <string_view>

#include "engine/commit/commit_queue.h"
#include "engine/engine.h"

namespace varve::engine {

/// The batch, which holds a delete and was read through, is committed and visible to the view. What is dead around it
/// becomes known to `queue.stretches()`.
void look_around(const ReadView& view, std::string_view batch, CommitQueue& queue) noexcept;

}  // namespace varve::engine
