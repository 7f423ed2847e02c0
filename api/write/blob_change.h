// Owns: the commit of a change of one blob: what it locks, the states it judges, and what follows for contents.
// Must never: leave a content without an owner, or change a blob whose conditions were judged by an older state.
//
// B1  The rows B and H of a name are read and written under their locks. What else a change touches is found by a read
//     before the locks are taken: the contents of the blob's row, as far as the change touches them. If the row names
//     others under the lock, the change is planned again.
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
  /// Adds operations that depend on no state to the batch.
  std::function<void(format::BatchBuilder&)> fill;
  std::uint64_t bytes = 0;
};

struct BlobVerb {
  /// The contents of the blob's row whose heads the change needs. It may let go of these alone.
  enum class Touches : std::uint8_t { kAll, kLast, kNone };

  std::string_view name;
  Durability durability = Durability::kSync;
  Touches touches = Touches::kAll;
  /// Plans an attempt. `row` is the blob's row at the time, or null.
  std::function<Status(const ResolvedTable& at, const BlobRow* row, BlobPlan& plan)> plan;
  std::function<Refusal(BlobDraft& draft)> judge;
};

/// One verb in one attempt: what it locks and reads, and its judgement. The verb outlives the object.
class BlobAttempt {
 public:
  /// Reads the blob's row in the view, and plans. Errors: those of the verb's plan, and of reading.
  static Result<BlobAttempt> make(const ResolvedTable& at, const BlobVerb& verb);

  /// The id of the container.
  format::TableId container() const noexcept { return container_; }
  /// The rows that are locked, and whose newest states judge() needs.
  const std::vector<std::string>& keys() const noexcept { return keys_; }
  /// Rows of which only the locks are needed.
  const std::vector<std::string>& locks() const noexcept { return plan_.locks; }
  /// The contents whose owners may change.
  const std::vector<ContentId>& contents() const noexcept { return plan_.contents; }
  /// The ids that the commit must name.
  std::vector<format::TableId> tables() const;
  std::uint64_t bytes() const noexcept { return plan_.bytes + keys_.front().size(); }
  /// Adds what depends on no state to the batch.
  void fill(format::BatchBuilder& batch) const {
    if (plan_.fill) plan_.fill(batch);
  }

  /// What judge() needs: the newest states of keys(), and those of the owners' keys. The owners and the batch may be
  /// those of several verbs of different names, each of which sees the states before the commit.
  struct States {
    const engine::ReadView& view;
    Ticks now = 0;
    std::span<const engine::Newest> own;
    std::span<const engine::Newest> heads;
    ContentOwners& owners;
    format::BatchBuilder& batch;
  };
  /// Refuses, or adds the change to the batch and to the owners. Runs under the locks.
  Refusal judge(const States& states);
  /// The row that judge() wrote, if it wrote one.
  std::optional<BlobRow>& next() noexcept { return next_; }
  /// Whether judge() left work to do in the background.
  bool leaves_work() const noexcept { return leaves_work_; }
  /// Wakes those who follow the blob that judge() changed. Called after the publication of the commit.
  void wake_followers(BlobFollowers& followers) const noexcept {
    if (changes_append_blob_) followers.wake(keys_.front());
  }

 private:
  BlobAttempt(format::TableId container, const BlobVerb& verb) : container_(container), verb_(&verb) {}

  format::TableId container_;
  const BlobVerb* verb_;
  BlobPlan plan_;
  std::vector<std::string> keys_;
  std::optional<BlobRow> next_;
  bool leaves_work_ = false;
  bool changes_append_blob_ = false;  // Only these have followers.
};

/// Returns whether a refusal asks for another attempt: see plan_again().
bool asks_for_another_plan(const Status& status) noexcept;

/// Plans, judges and commits, again if the name changed meanwhile. Returns the state that the row describes which the
/// change wrote, if it wrote one. It is made before the commit: after it nothing may fail. Errors: those of the verb, of
/// the container, and of commits. A refusal with kConflict and without a service error makes another attempt.
Result<BlobState> commit_blob(const Container::State& container, const BlobVerb& verb);

/// Returns the refusal that makes another attempt, when the commit on which it rests is published.
Refusal plan_again(engine::CommitVersion rests_on);

}  // namespace varve
