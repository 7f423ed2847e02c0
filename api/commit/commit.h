// Owns: the one order of steps in which a change of the store is committed.
// Must never: hold a view while it waits or commits, or return a refusal before the commit on which it rests is
// published.
//
// 1. pace    Wait while commits are faster than flushes.
// 2. lock    Take the locks of the partitions that the change writes or rests on, or of one row.
// 3. view    Make a view under the locks, and read in it the newest states of the change's keys.
// 4. judge   Let the change refuse, or settle what it writes. A change of entities then calls its extension for each
//            operation (entity_change.h), so that other operations join the same batch.
// 5. drop    Drop the view, which would keep memory for which the commit may wait.
// 6. end     Commit, or release the locks and wait for the commit on which a refusal rests.
//
// What differs between changes is the object that implements Change. Two drivers walk it through the steps. commit()
// blocks. AsyncTable::Verbs::commit_once (api/async) is a coroutine, which ends where commit() would wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "api/commit/backend.h"
#include "engine/commit_request.h"
#include "engine/engine.h"
#include "varve/result.h"

namespace varve {

/// The reason why a change is refused, and the commit on which the refusal rests. The caller learns the refusal after
/// that commit is published. An error of reading rests on nothing. Ok means that the change is not refused.
struct [[nodiscard]] Refusal {
  Refusal() = default;
  Refusal(Status why, engine::CommitVersion version = 0) noexcept : status(std::move(why)), rests_on(version) {}
  bool is_refused() const noexcept { return !status.ok(); }

  Status status;
  engine::CommitVersion rests_on = 0;
};

/// Keys whose newest states a change needs, and the part of each state that it needs. The change owns the keys.
struct StatesWanted {
  std::span<const std::string_view> keys;
  engine::EntryPart part = engine::EntryPart::kAll;
};

/// One attempt to change the store. The drivers call the functions at most once, in this order. The keys and locks must
/// stay valid until the attempt ends.
class Change {
 public:
  Change() = default;
  virtual ~Change() = default;
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;

  /// The hashes of the partitions to lock, in any order.
  virtual std::span<const std::uint64_t> locks_needed() const noexcept = 0;
  /// The hash of the only row on which the change depends, if it writes no other row of a partition that it locks. Changes of
  /// other rows of the partition then go on beside it. None if the change needs its partitions whole.
  virtual std::optional<std::uint64_t> row_needed() const noexcept { return std::nullopt; }
  virtual StatesWanted states_wanted() = 0;
  /// Runs under the locks. `states` has the newest states of the wanted keys, in their order. They, and `view`, are
  /// valid only during the call.
  virtual Refusal judge(const engine::ReadView& view, std::span<const engine::Newest> states) = 0;
  /// Returns the batch of a change that was not refused.
  virtual std::string take_batch() = 0;

  /// The size of the commit for the pacing. Zero for a change that is not held back, such as a drop.
  std::uint64_t paced_bytes = 0;
  /// As WriteOptions::wait_max.
  std::optional<std::chrono::milliseconds> wait_max;
  /// Everything about the commit but its locks and its batch, which the driver adds.
  engine::CommitRequest request;
};

/// Waits for the commit on which a refusal rests. The locks must have been released. Returns the refusal's status, or
/// the error of the wait.
Status reported(Backend& backend, const Refusal& refusal);

/// Walks the change through all steps. Errors: those of the change's refusal, of reading, and of Engine::commit.
Result<engine::CommitVersion> commit(Backend& backend, Change& change);

}  // namespace varve
