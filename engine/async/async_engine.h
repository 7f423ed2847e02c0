// Owns: the threads of a store's asynchronous operations: one thread for their steps, and a few for calls that wait.
// Must never: exist in a store without asynchronous operations: the first operation creates it.
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
#include "varve/result.h"

namespace varve::engine {

/// Thread-safe.
class AsyncEngine {
 public:
  /// Number of calls that may wait at once. Such calls have only a blocking form, and most of them wait for the disk, so
  /// there are as many as a fast device serves at once. Their threads start when they are needed.
  static constexpr std::size_t kWaitingCallsMax = 64;

  /// Starts the threads. The engine outlives them. Errors: those of Executor::start and Workers::start.
  static Result<std::unique_ptr<AsyncEngine>> start(Engine& engine);
  /// Called only by start().
  explicit AsyncEngine(Engine& engine);
  /// Calls stop() if necessary.
  ~AsyncEngine() { stop(); }

  /// Prevents new operations, and waits for the end of all. Not called on the executor's thread.
  void stop() noexcept;
  bool is_on_its_thread() const noexcept { return executor_->is_this_thread(); }

  Executor& executor() noexcept { return *executor_; }
  /// Returns the threads for calls that wait.
  Workers& workers() noexcept { return workers_; }

  /// Waits for the room of a commit refused with a need that is not zero. The next request takes the room. Not
  /// called on the executor's thread, and not by a thread with a lock, since a flush may need a commit.
  /// Errors: those of engine::wait_for_room().
  Status wait_for_room(const RoomNeed& need, RoomGrant& room) noexcept {
    return engine::wait_for_room(*engine_.state_, need, room);
  }

  // The parts of an operation.
  /// Takes the lock of a partition, or of one row of it, if it is free. Otherwise the guard is empty. On any thread,
  /// without a wait. Errors: kOutOfMemory.
  Result<PartitionGuard> try_lock(std::uint64_t partition_hash, std::optional<std::uint64_t> row) noexcept {
    return engine_.state_->locks.try_lock(partition_hash, row);
  }
  /// Returns a request whose turns are reported by steps on the executor's thread.
  LockRequest lock_request(Step& turn) noexcept { return {engine_.state_->locks, *executor_, turn}; }
  /// Returns a commit that posts `done` to the given taker at its end.
  AsyncCommit commit(CommitRequest request, Step& done, StepTaker& told) noexcept {
    return {*engine_.state_, std::move(request), *executor_, leaders_, told, done};
  }

 private:
  Engine& engine_;
  // Each leader has one write of the log at a time, and a group leads only when a leader is free. They are separate
  // from the workers, whose calls may wait for a commit.
  Workers leaders_;
  Workers workers_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace varve::engine
