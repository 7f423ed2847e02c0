// Owns: the beginning of a commit that nobody waits for (async_commit.h).
// Must never: differ from Engine::commit() in what it refuses.
#include "engine/async/async_commit.h"

#include <cassert>
#include <utility>

namespace varve::engine {

AsyncCommit::AsyncCommit(EngineState& state, CommitRequest request, StepTaker& leaders, StepTaker& told,
                         Step& done) noexcept
    : state_(state),
      request_(std::move(request)),
      steps_{.lead = &turn_, .leaders = &leaders, .done = &done, .told = &told} {
  assert(request_.load == nullptr);
}

Status AsyncCommit::begin() {
  if (Status possible = check_committable(state_); !possible.ok()) return possible;
  if (Status described = describe(request_, member_); !described.ok()) return described;
  member_.steps = &steps_;
  return state_.queue->begin_commit(member_);
}

}  // namespace varve::engine
