// Owns: the beginning of a commit that nobody waits for (async_commit.h).
// Must never: differ from Engine::commit() in what it refuses.
#include "engine/async/async_commit.h"

#include <cassert>
#include <utility>

namespace varve::engine {

AsyncCommit::AsyncCommit(EngineState& state, CommitRequest request, Executor& executor, StepTaker& leaders,
                         StepTaker& told, Step& done) noexcept
    : state_(state),
      executor_(executor),
      request_(std::move(request)),
      steps_{.lead = &turn_, .leaders = &leaders, .done = &done, .told = &told} {
  assert(request_.load == nullptr);
}

/// Operations that a processor is at, or is wanted for, may be about to join the group: a write of the log costs more
/// than it takes to let them.
void AsyncCommit::Turn::run() noexcept {
  if (commit_.executor_.has_several_operations()) commit_.state_.env.scheduler.give_way();
  commit_.state_.queue->lead_for(commit_.member_);
}

Status AsyncCommit::begin() {
  if (Status possible = check_committable(state_); !possible.ok()) return possible;
  if (Status described = describe(request_, member_); !described.ok()) return described;
  member_.steps = &steps_;
  return state_.queue->begin_commit(member_);
}

}  // namespace varve::engine
