// Owns: one commit in progress without a thread that waits for it.
// Must never: be destroyed before its end was reported, or run a leader's turn on the thread of the operation.
#pragma once

#include "engine/async/executor.h"
#include "engine/base/step.h"
#include "engine/commit/commit_queue.h"
#include "engine/commit_request.h"
#include "engine/engine_state.h"
#include "varve/result.h"

namespace varve::engine {

/// Used by one thread at a time. Must not move.
class AsyncCommit {
 public:
  /// The step `done` is posted to the taker given with it when the commit has ended. If the commit leads a group,
  /// `leaders` run its turn and wait for the log. It is part of an operation of the executor. All arguments outlive it.
  /// The request has no load. begin() is called once.
  AsyncCommit(EngineState& state, CommitRequest request, Executor& executor, StepTaker& leaders, StepTaker& told,
              Step& done) noexcept;
  AsyncCommit(const AsyncCommit&) = delete;
  AsyncCommit& operator=(const AsyncCommit&) = delete;

  /// Begins the commit, on any thread. The commit may end, and this object may be destroyed, before the call returns.
  /// Errors: as Engine::commit; then the commit was not begun, and nothing is posted.
  Status begin();
  /// Returns the result, after `done` was posted. Errors: as Engine::commit.
  Result<CommitVersion> end() noexcept;
  /// Returns, after end(), the room in the write buffer for lack of which the commit was refused. With that room
  /// (AsyncEngine::wait_for_room) the commit may be repeated. Its `in_active` is zero if the commit must not be.
  const RoomNeed& room_need() const noexcept { return member_.room_need; }

 private:
  /// A turn of this commit's group.
  class Turn final : public Step {
   public:
    explicit Turn(AsyncCommit& commit) noexcept : commit_(commit) {}
    void run() noexcept override;

   private:
    AsyncCommit& commit_;
  };

  EngineState& state_;
  Executor& executor_;
  CommitRequest request_;
  Turn turn_{*this};
  const MemberSteps steps_;
  Member member_;
};

}  // namespace varve::engine
