// Owns: what asynchronous operations on a store run on: one thread for their steps, a few for what has to wait.
// Must never: be part of a store that nobody uses so: it is made with the first operation.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "engine/async/async_commit.h"
#include "engine/async/executor.h"
#include "engine/async/workers.h"
#include "engine/commit/partition_locks.h"
#include "engine/engine.h"
#include "engine/engine_state.h"
#include "io/posix/posix_process.h"
#include "varve/result.h"

namespace varve::engine {

/// Any thread.
class AsyncEngine {
 public:
  /// Calls that have no other form than one that waits, side by side.
  static constexpr std::size_t kWaitingCallsMax = 8;

  /// The engine outlives it. Errors: those of Executor::start and Workers::start.
  static Result<std::unique_ptr<AsyncEngine>> start(Engine& engine);
  /// For start() alone.
  explicit AsyncEngine(Engine& engine);
  /// stop() if need be.
  ~AsyncEngine() { stop(); }

  /// Lets no operation begin any more, and waits for the end of all. Not on the executor's thread.
  void stop() noexcept;
  bool is_on_its_thread() const noexcept { return executor_->is_this_thread(); }
  /// Not in a fork of the process that started it, which has none of its threads.
  bool is_usable() const noexcept { return owner_.is_this_process(); }

  Executor& executor() noexcept { return *executor_; }
  /// For calls that wait.
  Workers& workers() noexcept { return workers_; }

  /// For a commit refused with AsyncCommit::may_be_repeated(): waits for its room, which goes with the next request.
  /// Not on the executor's thread, and by nobody who holds a lock: a flush may need a commit. Errors: those of
  /// engine::wait_for_room().
  Status wait_for_room(const RoomNeed& need, RoomGrant& room) noexcept {
    return engine::wait_for_room(*engine_.state_, need, room);
  }

  // The parts of an operation. On any thread, without a wait: the lock of a partition that nobody has. Else the guard
  // holds none. Errors: kOutOfMemory.
  Result<PartitionGuard> try_lock(std::uint64_t partition_hash) noexcept {
    return engine_.state_->locks.try_lock(partition_hash);
  }
  // Its turns are told by steps that run on the executor's thread.
  LockRequest lock_request(Step& turn) noexcept { return {engine_.state_->locks, *executor_, turn}; }
  // Its end is told by a step that `told` takes.
  AsyncCommit commit(CommitRequest request, Step& done, StepTaker& told) noexcept {
    return {*engine_.state_, std::move(request), *executor_, leaders_, told, done};
  }

 private:
  Engine& engine_;
  const io::OwnerProcess owner_ = io::OwnerProcess::current();
  // Each has one write of the log at a time, and a group leads only when one of these is free. Apart from the workers,
  // whose calls may wait for a commit.
  Workers leaders_;
  Workers workers_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace varve::engine
