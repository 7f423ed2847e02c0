// Owns: the repair of a damaged store: a new store of everything in it that verifies.
// Must never: write to the damaged store, save a row that was not committed as it is saved, or keep quiet about a loss.
//
// S1  the damaged store is only read, under the lock of readers; whoever has it open for writing is not disturbed.
// S2  what is saved was read from blocks and records that verify where they stand; of each key the newest version read.
// S3  where something newer may have stood, the loss names it, and the row counts as possibly stale.
// S4  no table comes back that is known to be dropped, and none without a catalog row, unless the row itself was lost.
// S5  CURRENT of the target is written when everything else is durable: until then the target is no store.
#pragma once

#include <functional>
#include <string_view>

#include "engine/repair/repair_figures.h"
#include "engine/repair/repair_model.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// Reads the store in `path` as far as it goes, and makes a new one in `target`, which is absent or empty. A part that
/// the device cannot read is a loss like a part that does not verify; reading goes on behind it. `progress` is called
/// now and then; it may be empty. After an error the target holds nothing that opens as a store, save where
/// what came last, CURRENT, may be durable or not.
/// Errors: kNotFound (no store in `path`), kLocked (it is open for writing), kUnsupported (it is a newer build's),
/// kExists (the target holds something), kInvalidArgument (the target is no directory, or lies in the store), kNoSpace,
/// kIoError (nothing of the store can be read, or the target cannot be written), kTooManyFiles, kOutOfMemory.
Result<RepairFigures> repair_store(const io::Env& env, std::string_view path, std::string_view target,
                                   RepairModel& model, const std::function<void(const RepairFigures&)>& progress);

}  // namespace varve::engine
