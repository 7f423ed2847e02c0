// Owns: a checkpoint of an open store: which state of it the checkpoint is, and the order of its steps.
// Must never: change the store but by closing a log segment, or keep a commit waiting for more than that.
//
// K1  the checkpoint is one state of the store: all commits up to its version, and none above.
// K2  everything acknowledged before the call is in it, durably.
// K3  no file of that state loses its name before the checkpoint has it under a name of its own.
// K4  CURRENT is written when everything it leads to is durable, names included: until then the target is no store.
#pragma once

#include <string_view>

#include "engine/commit/commit_queue.h"
#include "engine/compaction/tree.h"
#include "engine/log/segment_supply.h"
#include "engine/settings/statistics.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// The parts of the open store that a checkpoint is made of.
struct CheckpointSource {
  const io::Env& env;
  io::Directory& directory;
  CommitQueue& queue;
  SegmentSupply& supply;
  Manifest& manifest;
  Tree& tree;
};

/// Makes a checkpoint in `path`, a directory that is absent or empty. After an error the directory holds nothing that
/// opens as a store, save where what came last, CURRENT, may be durable or not. Any thread; several at once.
/// Errors: kExists (the directory holds something), kLocked (somebody is at work in it), kNotFound (its parent is
/// absent), kInvalidArgument (a file, not a directory), kPoisoned, kNoSpace; kCorruption (a file is not what the
/// manifest says); others of io.
Result<CheckpointFigures> make_checkpoint(const CheckpointSource& source, std::string_view path);

}  // namespace varve::engine
