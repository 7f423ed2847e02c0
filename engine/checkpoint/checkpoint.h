// Owns: a checkpoint of an open store: the state that it contains, and the order of its steps.
// Must never: change the store except by closing a log segment, or keep a commit waiting longer than that.
//
// K1  the checkpoint is one state of the store: all commits up to its version, and none above.
// K2  the checkpoint contains everything acknowledged before the call, durably.
// K3  no file of that state loses its name before the checkpoint has it under a name of its own.
// K4  CURRENT is written after everything it leads to is durable, names included: until then the target is not a store.
#pragma once

#include <string_view>

#include "engine/commit/commit_queue.h"
#include "engine/compaction/tree.h"
#include "engine/log/segment_supply.h"
#include "io/env.h"
#include "varve/result.h"
#include "varve/statistics.h"

namespace varve::engine {

/// The parts of the open store that a checkpoint uses.
struct CheckpointSource {
  const io::Env& env;
  io::Directory& directory;
  CommitQueue& queue;
  SegmentSupply& supply;
  Manifest& manifest;
  Tree& tree;
};

/// Makes a checkpoint in `path`, a directory that is absent or empty. After an error, the directory does not open as a
/// store, except if the last step failed: CURRENT may then be durable or not. Any thread may call it; several calls may
/// run at once.
/// Errors: kExists (the directory is not empty), kLocked (another process uses it), kNotFound (its parent is absent),
/// kInvalidArgument (a file, not a directory), kPoisoned, kNoSpace; kCorruption (a file differs from its manifest
/// entry); others of io.
Result<CheckpointStatistics> make_checkpoint(const CheckpointSource& source, std::string_view path);

}  // namespace varve::engine
