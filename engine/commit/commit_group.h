// Owns: a group of commits that share one log record, and the links to its members on their callers' stacks.
// Must never: outlive the moment when its last member reads its result.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/step.h"
#include "engine/commit/partition_locks.h"
#include "engine/commit/table_shapes.h"
#include "engine/commit/write_watch.h"
#include "engine/log/write_tracker.h"
#include "engine/memory/memtable.h"
#include "engine/memory/write_room.h"
#include "engine/settings/options.h"
#include "format/keys/sort_key.h"

namespace varve::engine {

/// The steps of a member without a waiting thread: who leads its group, and where its end is reported.
struct MemberSteps {
  /// Leads the group that this member begins. Posted at most once.
  Step* lead = nullptr;
  StepTaker* leaders = nullptr;
  /// Posted when the member's result is final.
  Step* done = nullptr;
  StepTaker* told = nullptr;
};

struct CommitGroup;

/// One caller in a group. Lives on the stack of its waiting caller, or with its steps, until the group is done.
struct Member {
  // Set by the caller. A member without a batch only asks that everything acknowledged before it becomes durable.
  std::string_view batch;
  std::string_view tag;
  bool has_tag = false;
  std::span<const format::TableId> tables;
  std::span<const TableShape> shapes;
  const TableShape* reshapes = nullptr;  // null: the commit changes no shape
  PartitionGuard* locks = nullptr;
  /// The commit is refused if an earlier commit wrote the table since the watch began. Null asks nothing.
  const WriteWatches::Watch* unwritten = nullptr;
  Durability durability = Durability::kSync;
  bool frees_space = false;
  bool watermark = false;
  bool seals_memtable = false;
  /// Set with seals_memtable after drops: also ends the log's segment, so that the flush frees all log space of the
  /// memtable.
  bool gives_log_back = false;
  bool closes_segment = false;
  MemtableDemand demand;
  /// The bytes of `batch`, if it has ages or Timestamps without a version. When the leader assigns the version, it replaces
  /// each age with an end, and writes the version into each Timestamp.
  char* open_batch = nullptr;
  /// The places of these Timestamps in `batch`.
  std::span<const std::uint32_t> timestamps;
  /// The commit is refused if its version is not below; zero asks nothing.
  CommitVersion before = 0;
  /// As CommitRequest::let_go_bytes.
  std::uint64_t let_go_bytes = 0;
  /// Room in the write buffer, gathered earlier for this batch; null if none was gathered.
  RoomGrant* room = nullptr;
  /// Null if the caller's thread waits.
  const MemberSteps* steps = nullptr;

  // Set by joining.
  CommitGroup* group = nullptr;
  Member* next = nullptr;
  /// No step of the group waits for the device. So other running threads will end the group at once, and the caller
  /// watches for that before it sleeps.
  bool is_prompt = false;

  // Set by the leader.
  Memtable::Reservation reservation;
  LogPlace in_log;            // place of the batch
  CommitVersion version = 0;  // zero: refused, or without a batch
  /// Set by the thread that inserts the batch: the leader, or the member's own.
  std::atomic<bool> is_inserted = false;
  Status status;
  RoomNeed room_need;             // if in_active is above zero: refused for lack of this room
  CommitVersion closed_upto = 0;  // of a member that closes a segment: the last version in closed segments
};

struct CommitGroup {
  explicit CommitGroup(io::Scheduler& scheduler) noexcept : lead(scheduler), placed(scheduler), done(scheduler) {}

  /// Set when the lead was granted, if the first member's thread waits for that, or when the group is finished.
  io::Event lead;
  /// Set when the members' batches can be inserted. Only watched, and only set if there are several members.
  io::Event placed;
  /// Set when every member's result is final.
  io::Event done;

  // Guarded by the queue's mutex until the lead is taken. Then the leader alone uses these fields, until the group
  // enters flight.
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
  /// A thread waits in line for a lock of a member, and therefore cannot join.
  bool is_awaited = false;
  /// The steps of the first member; null if its thread waits.
  const MemberSteps* first_steps = nullptr;
  /// The lead was granted to the group.
  bool has_lead = false;
  /// A leader runs the turn. No member joins.
  bool is_begun = false;
  /// The queue was poisoned when the turn began.
  bool is_refused = false;

  // Set by the leader before the group enters flight.
  Memtable* memtable = nullptr;  // takes the batches; a sealed one stays until every group placed in it is published
  CommitVersion first_version = 0;
  CommitVersion last_version = 0;
  LogPosition log_end = 0;
  bool framed = false;  // the log contains a record for the group
  bool needs_durable = false;
  std::string tag;                // of the last member with a tag; room for it is reserved before a version is assigned
  CommitVersion tag_version = 0;  // zero: no tag

  CommitGroup* next = nullptr;  // guarded by the queue's mutex

  /// Number of batches that are not inserted yet, plus one while the leader's turn goes on. The thread that ends the
  /// last of them publishes.
  std::atomic<std::size_t> unfinished{1};
  /// Number of members that have not read their result yet, plus one for the reporting thread, and one for each thread
  /// that hands the lead over. The last user deletes the group.
  std::atomic<std::size_t> users_left{1};
};

/// A queue of groups, linked through the groups, so that adding a group allocates nothing.
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
