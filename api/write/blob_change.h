// Owns: the commit of a change of one blob: what it locks, the states it judges, and what follows for contents.
// Must never: leave a content without an owner, or change a blob whose conditions were judged by an older state.
//
// B1  The rows B and H of a name are read and written under their locks. What else a change touches is found by a read
//     before the locks are taken: the contents of the blob's row. If the row names others under the lock, the change is
//     planned again.
// B2  Each commit names the container's fence, so none is after its drop.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/blob/blob_rows.h"
#include "api/blob/content_owners.h"
#include "api/commit/commit.h"
#include "api/core/container_state.h"
#include "format/keys/batch.h"
#include "varve/blob.h"
#include "varve/result.h"

namespace varve {

/// The states of a name under the locks of a commit, and what the commit makes of them.
struct BlobDraft {
  const engine::ReadView& view;
  Ticks now = 0;
  format::TableId container = 0;
  std::string_view name;
  /// The newest states of BlobPlan::keys.
  std::span<const engine::Newest> others;
  /// The newest states of the heads of `owners`.
  std::span<const engine::Newest> heads;
  ContentOwners& owners;
  format::BatchBuilder& batch;

  /// The newest state of the blob, or nothing if it does not exist, and the commit on which it rests.
  std::optional<BlobRow> row{};
  engine::CommitVersion rests_on = 0;
  /// The same of the list of staged blocks.
  std::optional<StagedList> staged{};
  engine::CommitVersion staged_rests_on = 0;

  /// The row that the commit writes, if it writes one.
  std::optional<BlobRow> next{};
  /// Whether the commit leaves work to do in the background.
  bool leaves_work = false;

  /// Gives the name this row, in place of what it had. Contents that the row shares with the old one are kept. Contents
  /// that are new to the name get their owner from the caller.
  void replace(BlobRow with);
  void remove();
  /// Discards all staged blocks of the name.
  void discard_staged();
  /// Removes the list of staged blocks, all of which the caller removes.
  void end_staged();
  /// Refuses, with the state of the blob as the reason.
  Refusal refuse(Status status) const { return {std::move(status), rests_on}; }
};

/// What a change needs besides the rows of its name.
struct BlobPlan {
  /// Contents whose owners may change, besides those of the blob's row.
  std::vector<ContentId> contents;
  /// Rows that are locked, and whose newest states are read.
  std::vector<std::string> keys;
  /// Rows of which only the locks are needed.
  std::vector<std::string> locks;
  /// Ids whose retirement before the commit refuses it, besides the container's.
  std::vector<format::TableId> tables;
  /// Adds operations that depend on no state to the batch, before a lock is taken.
  std::function<void(format::BatchBuilder&)> fill;
  std::uint64_t bytes = 0;
};

struct BlobVerb {
  std::string_view name;
  Durability durability = Durability::kSync;
  /// Plans an attempt. `row` is the blob's row at the time, or null.
  std::function<Status(const ResolvedTable& at, const BlobRow* row, BlobPlan& plan)> plan;
  std::function<Refusal(BlobDraft& draft)> judge;
  /// Whether the caller needs WrittenBlob::state.
  bool wants_state = true;
};

/// What a change wrote, if it wrote a row. All of it is made before the commit, after which nothing may fail: a lack of
/// memory says that nothing changed.
struct WrittenBlob {
  std::optional<BlobRow> row;
  BlobState state;
  engine::CommitVersion version = 0;
};

/// Plans, judges and commits, again if the name changed meanwhile. Errors: those of the verb, of the container, and of
/// commits. A refusal with kConflict and without a service error makes another attempt.
Result<WrittenBlob> commit_blob(const Container::State& container, const BlobVerb& verb);

/// Returns the refusal that makes another attempt, when the commit on which it rests is published.
Refusal plan_again(engine::CommitVersion rests_on);

}  // namespace varve
