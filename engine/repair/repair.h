// Owns: the repair of a damaged store: a new store of everything in it that verifies.
// Must never: write to the damaged store, save a row that was not committed like that, or conceal a loss.
//
// S1  the repair only reads the damaged store, under the readers' lock, and does not disturb a writer.
// S2  every saved row was read from blocks and records that verify at their place, and is the newest version read.
// S3  if something newer may be lost, a loss names it, and the row counts as possibly stale.
// S4  the repair restores no table that is known to be dropped, and none without a catalog row, unless that row itself
//     was lost.
// S5  the target's CURRENT is written after everything else is durable: until then, the target is not a store.
#pragma once

#include <functional>
#include <string_view>

#include "engine/repair/repair_figures.h"
#include "engine/repair/repair_model.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// Reads as much as possible of the store in `path`, and creates a new store in `target`, which must be absent or
/// empty. A part that the device cannot read is a loss like a part that does not verify; reading continues after it.
/// `progress` is called now and then, and may be empty. After an error, `target` does not open as a store, except if
/// the last step failed: CURRENT may then be durable or not.
/// Errors:
/// - kNotFound (no store in `path`), kLocked (a writer has it open), kUnsupported (a newer build wrote it),
/// - kExists (the target is not empty), kInvalidArgument (the target is not a directory, or is inside the store),
/// - kNoSpace, kTooManyFiles, kOutOfMemory, kIoError (nothing of the store can be read, or the target not written).
Result<RepairFigures> repair_store(const io::Env& env, std::string_view path, std::string_view target,
                                   RepairModel& model, const std::function<void(const RepairReport&)>& progress);

}  // namespace varve::engine
