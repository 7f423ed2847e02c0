// Owns: one walk over all that a state of the store holds.
// Must never: open a file that the walk does not come to.
#pragma once

#include <memory>

#include "engine/read/entry_cursor.h"
#include "engine/read/read_states.h"
#include "engine/tables/block_reader.h"

namespace varve::engine {

/// Both outlive the walk; the state is pinned meanwhile.
std::unique_ptr<EntryCursor> cursor_over(const ReadState& state, BlockReader& blocks);

}  // namespace varve::engine
