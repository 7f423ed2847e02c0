// Owns: the beginning of a commit without a waiting thread (async_commit.h).
// Must never: refuse other commits than Engine::commit() does.
#include "engine/async/async_commit.h"

#include <cassert>
#include <utility>

#include "engine/base/read_cost.h"
#include "engine/engine.h"

namespace varve::engine {

AsyncCommit::AsyncCommit(EngineState& state, CommitRequest request, Executor& executor, StepTaker& leaders,
                         StepTaker& told, Step& done) noexcept
    : state_(state),
      executor_(executor),
      request_(std::move(request)),
      steps_{.lead = &turn_, .leaders = &leaders, .done = &done, .told = &told} {
  assert(request_.load == nullptr);
}

/// Runs the turn. Other operations that are running, or ready to run, may soon join the group. So the thread yields to
/// them first, since a write of the log costs more than the yield.
void AsyncCommit::Turn::run() noexcept {
  if (commit_.executor_.has_several_operations()) commit_.state_.env.scheduler.give_way();
  commit_.state_.queue->lead_for(commit_.member_);
}

Status AsyncCommit::begin() {
  if (Status possible = check_committable(state_); !possible.ok()) return possible;
  if (Status possible = check_durability(state_, request_.durability); !possible.ok()) return possible;
  if (Status described = describe(request_, member_); !described.ok()) return described;
  if (Status allowed = check_ends(state_, member_); !allowed.ok()) return allowed;
  member_.steps = &steps_;
  return state_.queue->begin_commit(member_);
}

Result<CommitVersion> AsyncCommit::end() noexcept {
  Result<CommitVersion> committed = state_.queue->end_commit(member_);
  if (committed.ok()) {
    ReadCost cost;
    cost.may_wait = false;
    Engine::learn_from_deletes(state_, request_.batch, member_.demand.delete_count, *committed, &cost);
  }
  return acknowledged(state_, member_.durability, std::move(committed));
}

}  // namespace varve::engine
