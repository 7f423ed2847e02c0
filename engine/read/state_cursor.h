// Owns: one walk over all that a state of the store holds.
// Must never: open a file that the walk does not come to.
#pragma once

#include <memory>

#include "engine/base/entry_cursor.h"
#include "engine/base/read_cost.h"
#include "engine/memory/read_states.h"
#include "engine/read/merge_cursor.h"
#include "engine/tables/block_reader.h"

namespace varve::engine {

/// What is wanted, and beside it whatever lies in the way: where it is known without reading that something is not
/// wanted, it is passed. It shows no entry that comes into the active memtable later, if that is empty now. All but
/// `wanted` outlive the walk; the state is pinned meanwhile. `cost`, which is told what the walk costs, may be null.
std::unique_ptr<EntryCursor> cursor_over(const ReadState& state, BlockReader& blocks, ReadCost* cost,
                                         Wanted wanted = Wanted());

}  // namespace varve::engine
