// Owns: the blocking driver of a commit (commit.h).
// Must never: know what a change means.
#include "api/commit/commit.h"

#include <utility>
#include <vector>

namespace varve {
namespace {

/// Steps 3 to 5.
Refusal judge_in_view(const Backend& backend, Change& change) {
  const StatesWanted wanted = change.states_wanted();
  const engine::ReadView view = backend.view();
  if (wanted.keys.empty()) return change.judge(view, {});
  if (wanted.keys.size() == 1) {  // the usual write, without the memory for a list
    const Result<engine::Newest> state = view.newest(wanted.keys.front(), wanted.part);
    if (!state.ok()) return state.status();
    return change.judge(view, {&*state, 1});
  }
  const Result<std::vector<engine::Newest>> states = view.newest_many(wanted.keys, wanted.part);
  if (!states.ok()) return states.status();
  return change.judge(view, *states);
}

}  // namespace

Status reported(Backend& backend, const Refusal& refusal) {
  if (Status published = backend.await_published(refusal.rests_on); !published.ok()) return published;
  return refusal.status;
}

Result<engine::CommitVersion> commit(Backend& backend, Change& change) {
  if (change.paced_bytes != 0) backend.pace(change.paced_bytes);
  Result<engine::PartitionGuard> locks =
      backend.lock_partitions(change.locks_needed(), change.wait_max, change.row_needed());
  if (!locks.ok()) return locks.status();
  if (const Refusal refusal = judge_in_view(backend, change); refusal.is_refused()) {
    locks->release();
    return reported(backend, refusal);
  }
  change.request.locks = std::move(*locks);
  change.request.batch = change.take_batch();
  return backend.commit(std::move(change.request));
}

}  // namespace varve
