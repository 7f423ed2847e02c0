// Owns: one iteration over the whole content of a store's state.
// Must never: open a file that the iteration does not reach.
#pragma once

#include <memory>

#include "engine/base/entry_cursor.h"
#include "engine/base/read_cost.h"
#include "engine/memory/read_states.h"
#include "engine/read/merge_cursor.h"
#include "engine/tables/block_reader.h"

namespace varve::engine {

/// Returns a cursor over the wanted entries, and possibly unwanted ones: those are skipped if the indexes show that
/// they are unwanted. If the active memtable is empty now, later entries of it are not returned. All arguments except
/// `wanted` must outlive the cursor, and the state must stay pinned. `cost`, which may be null, receives the cost.
std::unique_ptr<EntryCursor> cursor_over(const ReadState& state, BlockReader& blocks, ReadCost* cost,
                                         const Wanted& wanted = Wanted());

}  // namespace varve::engine
