// Owns: what a caller brings to a commit, and the judgement whether it may be one.
// Must never: know how commits are ordered.
#pragma once

#include <string>
#include <vector>

#include "engine/commit/commit_group.h"
#include "engine/commit/partition_locks.h"
#include "engine/settings/options.h"
#include "format/keys/sort_key.h"
#include "varve/result.h"

namespace varve::engine {

class Load;
using format::TableId;

/// One commit, complete but for its version.
struct CommitRequest {
  /// Made by format::BatchBuilder.
  std::string batch;
  /// The tables by whose handles the batch was made: if one was retired by an earlier version, the commit is refused.
  std::vector<TableId> tables;
  /// The locks of every partition the batch writes; let go as soon as the entries can be read by the next writer.
  PartitionGuard locks;
  Durability durability = Durability::kSync;
  /// Set for commits that give space back (a drop): they may use the space kept aside for a full disk.
  bool frees_space = false;
  /// The load that the batch brings to life by its `adopt`, the only one it may hold. The load ends with this commit,
  /// however the commit does. Outlives the call.
  Load* load = nullptr;
  /// Of the write buffer, gathered after the commit was refused for want of it (wait_for_room). Outlives the call; null
  /// if there is none.
  RoomGrant* room = nullptr;
};

/// What the queue is given of it, locks included; refers to the request. Errors: kTooLarge, kUnsupported, those of
/// format::BatchReader.
Status describe(CommitRequest& request, Member& member);

}  // namespace varve::engine
