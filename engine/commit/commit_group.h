// Owns: a group of commits that share one log record, and the places of its members on their callers' stacks.
// Must never: outlive its last member's look at the result.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/step.h"
#include "engine/commit/partition_locks.h"
#include "engine/commit/write_watch.h"
#include "engine/log/write_tracker.h"
#include "engine/memory/memtable.h"
#include "engine/memory/write_room.h"
#include "engine/settings/options.h"
#include "format/keys/sort_key.h"

namespace varve::engine {

/// Whom to tell where no thread waits, and who leads then.
struct MemberSteps {
  /// Leads the group this member begins. Posted once, or never.
  Step* lead = nullptr;
  StepTaker* leaders = nullptr;
  /// Posted when the member's result stands.
  Step* done = nullptr;
  StepTaker* told = nullptr;
};

struct CommitGroup;

/// One caller in a group. Lives where its caller waits until the group is done.
struct Member {
  // What the caller brings. A member without a batch only wants what was acknowledged before it to be durable.
  std::string_view batch;
  std::string_view tag;
  bool has_tag = false;
  std::span<const format::TableId> tables;
  PartitionGuard* locks = nullptr;
  /// The commit is refused if the table was written by an earlier one since the watch began; null asks nothing.
  const WriteWatches::Watch* unwritten = nullptr;
  Durability durability = Durability::kSync;
  bool frees_space = false;
  bool watermark = false;
  bool seals_memtable = false;
  /// With that: for what was dropped, so that the log's space behind the memtable comes back whole.
  bool gives_log_back = false;
  bool closes_segment = false;
  MemtableDemand demand;
  /// Of the write buffer, gathered for the batch before; null if none was.
  RoomGrant* room = nullptr;
  /// Null where the caller's thread waits.
  const MemberSteps* steps = nullptr;

  // What joining adds.
  CommitGroup* group = nullptr;
  Member* next = nullptr;

  // What the leader adds.
  Memtable::Reservation reservation;
  LogPlace in_log;            // of the batch
  CommitVersion version = 0;  // zero: refused, or without a batch
  Status status;
  RoomNeed room_need;             // in_active above zero: refused for that
  CommitVersion closed_upto = 0;  // of one that closes a segment: the last version in closed ones
};

struct CommitGroup {
  explicit CommitGroup(io::Scheduler& scheduler) noexcept : lead(scheduler), done(scheduler) {}

  /// Set when the first member is to lead the group, if its thread waits for that; or when all is over, if another
  /// member led it.
  io::Event lead;
  /// Set when every member's result stands.
  io::Event done;

  // Under the queue's mutex until the lead is taken; the leader's alone from then to its entry into flight.
  Member* first = nullptr;
  Member* last = nullptr;
  std::size_t batch_bytes = 0;
  std::size_t batch_count = 0;
  bool wants_durable = false;
  bool frees_space = false;
  bool wants_watermark = false;
  bool seals_memtable = false;
  bool gives_log_back = false;
  bool closes_segment = false;
  /// Somebody waits in line for a lock of a member's, and so cannot join.
  bool is_awaited = false;
  /// The one whose joining got the lead runs the turn, in place of the first.
  bool is_led_by_joiner = false;

  // Set by the leader before the group enters flight.
  Memtable* memtable = nullptr;  // takes its batches; sealed ones stay until every group placed in them is published
  CommitVersion first_version = 0;
  CommitVersion last_version = 0;
  LogPosition log_end = 0;
  bool framed = false;  // a record stands in the log for it
  bool needs_durable = false;
  std::string tag;                // of the last member that has one; its room is made before a version is assigned
  CommitVersion tag_version = 0;  // zero: no tag

  // Under the queue's mutex.
  bool inserted = false;
  CommitGroup* next = nullptr;

  /// Members that have not looked at their result yet, and who tells them; the last one deletes the group.
  std::atomic<std::size_t> users_left{1};
};

/// A queue of groups, linked through them, so that joining it allocates nothing.
class GroupList {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  CommitGroup* front() const noexcept { return first_; }
  CommitGroup* back() const noexcept { return last_; }
  void push_back(CommitGroup* group) noexcept {
    group->next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = group;
    last_ = group;
  }
  CommitGroup* pop_front() noexcept {
    CommitGroup* group = first_;
    first_ = group->next;
    if (first_ == nullptr) last_ = nullptr;
    return group;
  }

 private:
  CommitGroup* first_ = nullptr;
  CommitGroup* last_ = nullptr;
};

}  // namespace varve::engine
