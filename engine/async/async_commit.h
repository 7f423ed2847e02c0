// Owns: one commit on its way without a thread that waits for it.
// Must never: go before it was told the end, or run a turn of a leader on the thread of the operation.
#pragma once

#include "engine/async/executor.h"
#include "engine/base/step.h"
#include "engine/commit/commit_queue.h"
#include "engine/commit_request.h"
#include "engine/engine_state.h"
#include "varve/result.h"

namespace varve::engine {

/// One thread at a time. Stays where it is.
class AsyncCommit {
 public:
  /// `done` is posted to `told` when the commit has ended; `leaders` wait for the log, should it come to lead a group.
  /// It is part of an operation of the executor. All outlive it. The request holds no load. Begun once.
  AsyncCommit(EngineState& state, CommitRequest request, Executor& executor, StepTaker& leaders, StepTaker& told,
              Step& done) noexcept;
  AsyncCommit(const AsyncCommit&) = delete;
  AsyncCommit& operator=(const AsyncCommit&) = delete;

  /// Any thread; once begun, this may have ended and be gone before the call returns. Errors: as Engine::commit; it was
  /// not begun then, and nobody is told.
  Status begin();
  /// After `done`: how it ended. Errors: as Engine::commit.
  Result<CommitVersion> end() noexcept { return state_.queue->end_commit(member_); }
  /// After end(): the room in the write buffer for want of which it was refused, if it was. With that room
  /// (AsyncEngine::wait_for_room) it may be repeated.
  const RoomNeed& room_need() const noexcept { return member_.room_need; }
  bool may_be_repeated() const noexcept { return member_.room_need.in_active > 0; }

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
