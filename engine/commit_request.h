// Owns: the caller's input to a commit, and the check whether it may be committed.
// Must never: know how commits are ordered.
#pragma once

#include <optional>
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

/// One commit, complete except for its version.
struct CommitRequest {
  /// The batch, made by format::BatchBuilder. It may have ages (format/keys/ends.h), which the commit replaces.
  std::string batch;
  /// The places in the batch of Timestamps in keys of index entries (format/keys/index_key.h). The commit writes its version
  /// there.
  std::vector<std::uint32_t> timestamps{};
  /// The tables whose handles made the batch. If an earlier version retired one of them, the commit is refused.
  std::vector<TableId> tables;
  /// The shapes for which the batch was made, of those of the tables that have another one than kFirstShape. If an earlier
  /// commit gave one of the tables another shape, the commit is refused.
  std::vector<TableShape> shapes;
  /// The commit gives this table this shape, for all later commits.
  std::optional<TableShape> reshapes;
  /// The locks of every partition that the batch writes. They are released as soon as the next writer can read the
  /// entries.
  PartitionGuard locks;
  Durability durability = Durability::kSync;
  /// Set for commits that free space (a drop): they may use the space kept for a full disk.
  bool frees_space = false;
  /// The load whose table the batch adopts; the batch may contain no other `adopt`. The load ends with this commit,
  /// whatever the commit's result. Outlives the call.
  Load* load = nullptr;
  /// An entity on which the batch rests ends at this time, unless it is zero. The commit is refused if its version is not
  /// below.
  format::CommitVersion before = 0;
  /// Bytes of large values (kExternalValueBytesMin) that the batch replaces or removes, as far as its maker knows. When
  /// many have come together and writers rest, their space is given back (engine/compaction/compactor.h).
  std::uint64_t let_go_bytes = 0;
  /// Room in the write buffer, gathered after the commit was refused for lack of it (wait_for_room). Outlives the call;
  /// null if there is none.
  RoomGrant* room = nullptr;
  /// Gets the memory of the batch when Engine::commit() returns, for a later batch. Outlives the call; null if the memory
  /// is not wanted.
  std::string* spent_batch = nullptr;
};

/// Fills the queue's member from the request, locks included. The member refers to the request. Errors: kTooLarge,
/// kUnsupported, those of format::BatchReader.
Status describe(CommitRequest& request, Member& member);

}  // namespace varve::engine
