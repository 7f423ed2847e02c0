// Owns: the one order of commits: groups, versions, publication, acknowledgement, and the end of all these after a
// failure.
// Must never: show a version before it is durable as asked, acknowledge out of order, or let anything fail between a
// version's assignment and its publication.
//
// Q1  published <= inserted <= assigned. A group that must be durable is published only when the log is durable up to
//     the group's end.
// Q2  None of the three ever decreases, even across a restart: the clock starts above every durable ceiling, and no
//     version is published above the durable ceiling.
// Q3  The order of versions is the order of records in the log.
// Q4  After the first failed write, nothing assigned later is published, and nothing more is assigned.
// Q5  A batch is refused if an earlier version retired its table, or gave it another shape (table_shapes.h). Its caller
//     gets the refusal after that version's publication. A batch that requires an unwritten table is refused likewise, if
//     an earlier version wrote the table.
//
// A commit has these steps:
//
// 1. The caller joins the youngest waiting group, or begins a group.
// 2. The oldest group gets the lead when the lead is free and fewer writes are in flight than WriteDepth allows. A group
//    that must be durable gathers first, until it has as many commits as all groups on their way to the device together.
// 3. The group's leader is a thread that runs: the caller whose joining completed the group, or a caller that joins
//    before the first member, which got the lead, has woken up. Otherwise the first member leads.
// 4. Holding no mutex, the leader reserves log space and memory, which is the last step that can fail. It assigns
//    versions, frames one record, and passes the lead on.
// 5. In parallel with the next leader, it inserts its members' batches and releases their partition locks. So the next
//    writer of a hot partition can build on the batches before they are durable. Members that are awake insert their
//    own batches beside it. Then it performs the write on its own thread.
// 6. Groups are published in order.
//
// Groups gather because a write costs the same processor time for one commit as for many. Clients that wait for their
// commits return together. So they form two groups, and one gathers while the other is written. Without gathering, each
// write would contain only the few commits that arrived since the last write began. No commit waits longer than for the
// writes in progress.
//
// The leader inserts for members that sleep, because waking each member again would cost more context switches.
//
// A group without a `sync` commit waits for running threads only, unless the device delays an earlier group. Then its
// members watch for some microseconds before they sleep (io/watch.h), first for the lead, then for their batches'
// places, then for the end. A sleep would cost both threads more than the whole turn.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/commit/commit_group.h"
#include "engine/commit/write_watch.h"
#include "engine/log/version_clock.h"
#include "engine/log/wal.h"
#include "engine/log/write_depth.h"
#include "engine/manifest/manifest.h"
#include "engine/memory/dead_stretches.h"
#include "engine/memory/memtables.h"
#include "engine/memory/retired_ids.h"
#include "engine/settings/options.h"
#include "format/log/manifest_edit.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

struct CommitFigures {
  std::atomic<std::uint64_t> commits{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> groups{0};
  std::atomic<std::uint64_t> batch_bytes{0};
};

/// The start values of the queue, as recovered.
struct CommitStart {
  CommitVersion last_version = 0;
  CommitVersion version_ceiling = 0;
  /// Every version up to this one is in tables; see FileSet.
  CommitVersion flushed_version = 0;
  std::optional<format::CommitTag> last_tag;
  RetiredIds retired;
  /// Loaded tables adopted above flushed_version.
  std::vector<format::TableId> adopted;
  /// Bytes of dropped tables that are in the log and not in the memtable.
  std::uint64_t dead_log_bytes = 0;
};

/// The reason why writes are refused for a while.
enum class Pause : std::uint8_t {
  kLog = 1,     // nothing can be logged
  kFlush = 2,   // the write buffer is full, and this store's memtables cannot be flushed
  kOthers = 4,  // the write buffer is full with data of other stores
};

/// Thread-safe.
class CommitQueue {
 public:
  /// The queue calls `on_health` of `events` under no lock.
  CommitQueue(const io::Env& env, Wal& wal, Memtables& memtables, CommitStart start, EventSink* events);
  ~CommitQueue();

  /// Commits the member's batch; blocks until the group is done. Errors: those of Engine::commit.
  Result<CommitVersion> commit(Member& member);
  /// Begins a commit without a waiting thread; `member.steps` gets the reports. Errors: as commit(); then the commit
  /// was not begun, and no step is posted.
  Status begin_commit(Member& member);
  /// Runs the turn of the member's group, for `member.steps->lead`.
  void lead_for(Member& member) noexcept;
  /// Returns the result, after `member.steps->done` was posted. Called once.
  Result<CommitVersion> end_commit(Member& member) noexcept { return result_of(member); }
  /// Makes everything acknowledged so far durable. With `watermark`, also writes a record to the log that marks its
  /// end.
  Status flush(bool watermark);
  /// Seals the active memtable if it has entries, and makes its entries durable.
  Status seal_memtable();
  /// Seals the memtable as seal_memtable() does, and ends the log's segment if there is room for another. Then its
  /// flush frees the whole log, whose segments begin small again.
  Status give_log_back();
  /// Closes the current log segment, if it contains a commit. Everything acknowledged before is then durable in
  /// segments that no longer change. Returns the last version in these segments. Errors: kNoSpace; those of commit().
  Result<CommitVersion> close_segment();
  /// Waits for the publication of an assigned version. Errors: kPoisoned, kFenced.
  Status await_published(CommitVersion version);
  /// Notes that a write was refused for this reason; health() reports it until resume(). Returns the writer's error. It
  /// equals the error in the health event while the cause is the same.
  Status pause(Pause why, const Status& cause) noexcept;
  void resume(Pause why) noexcept {
    Status none;
    if (health() != Health::kHealthy) set_paused(why, false, none);
  }
  /// Stops all acknowledgement until the store is reopened.
  void poison(const Status& cause) noexcept;
  /// Refuses later commits, waits for the commits in progress, and ends the log. Errors: kPoisoned, kFenced, those of
  /// Wal::close.
  Status close();

  CommitVersion visible() const noexcept { return visible_.load(std::memory_order_acquire); }
  /// Returns a bound of all versions assigned so far or known from before the open. Called after close().
  CommitVersion clock_floor() const noexcept { return clock_.last(); }
  /// Returns a value of the clock that is no commit's version. The version of a commit that begins later is above it.
  CommitVersion draw_tick() noexcept { return clock_.take(1); }
  /// Returns the time by the clock of the versions.
  CommitVersion time() noexcept { return clock_.time(); }
  /// As VersionClock::pass().
  void pass(CommitVersion end) noexcept { clock_.pass(end); }
  VersionClock& clock() noexcept { return clock_; }
  Health health() const noexcept { return health_.load(std::memory_order_relaxed); }
  std::optional<format::CommitTag> last_tag() const;
  std::size_t retired_count() const noexcept;
  /// Returns the ids dropped by commits in the active memtable, published or not.
  std::vector<format::DeadId> unsealed_drops() const;
  /// Returns unsealed_drops(), and the ids dropped by commits in memtables not flushed yet. The manifest does not
  /// contain these drops.
  std::vector<format::DeadId> unflushed_drops() const;
  /// Returns the bytes of dropped tables that only the log contains, because recovery left them out of the memtable.
  /// Zero once that memtable is flushed.
  std::uint64_t recovered_dead_bytes() const noexcept { return recovered_dead_bytes_.load(std::memory_order_relaxed); }
  /// Returns the bytes of large values that published commits have let go of since the open.
  std::uint64_t let_go_bytes() const noexcept { return let_go_bytes_.load(std::memory_order_relaxed); }
  /// Stops counting ids as retired if neither the manifest's files nor the log contain anything of them. Commits to
  /// such ids are still refused.
  void forget_drops(const Manifest& manifest) noexcept;
  /// Returns the watches that a commit can use to learn about writes of other commits.
  WriteWatches& watches() noexcept { return watches_; }
  /// Returns the known stretches of deleted keys. It is empty until know_stretches() is called.
  DeadStretches& stretches() noexcept { return stretches_; }
  void know_stretches();
  bool clock_jump_ignored() const noexcept { return clock_.jump_ignored(); }
  const CommitFigures& figures() const noexcept { return figures_; }
  /// Returns how many log writes may be in flight now.
  std::size_t writes_in_flight_max() const noexcept;

  /// The next work of the log's timer thread. Records in the buffer are due kBufferedInterval after their arrival. The
  /// mark of an idle log is due kIdleInterval after the last turn.
  enum class TimerWork : std::uint8_t { kFlush, kWatermark, kDeferredWrites, kRestore, kEnd };
  TimerWork wait_for_timer_work();
  /// Performs the log's deferred writes. A failure poisons the queue.
  void write_deferred() noexcept;
  /// Restores the log buffer, once, after the failure that poisoned the queue. Waits for the leader.
  void restore_log_buffer() noexcept;

 private:
  /// The work of a member's thread for its group.
  enum class Part : std::uint8_t { kFollows, kAwaitsLead, kLeads };
  Result<Part> join(Member& member);
  static bool may_join(const CommitGroup& group, const Member& member) noexcept;
  static void add_member(CommitGroup& group, Member& member) noexcept;
  bool gathers(const CommitGroup& group) const noexcept VARVE_REQUIRES(mutex_);
  bool may_begin(const CommitGroup& group) noexcept VARVE_REQUIRES(mutex_);
  CommitGroup* grant_lead() noexcept VARVE_REQUIRES(mutex_);
  static void begin_lead(CommitGroup* group) noexcept;
  bool await_lead(Member& member) noexcept;
  void begin_turn(CommitGroup& group) noexcept VARVE_REQUIRES(mutex_);
  /// Called after a turn. Wakes the timer if the turn left it work that the timer is not already waiting for.
  void wake_timer() noexcept VARVE_REQUIRES(mutex_);

  // The turn of a leader, in this order. Steps before assign() may fail; assign() and later steps cannot.
  void run_turn(CommitGroup& group) noexcept;
  Status prepare(CommitGroup& group);
  Status reserve_for(CommitGroup& group);
  static bool reserve_memory(Memtable& memtable, Member& member);
  Status begin_memtable_if_due(const CommitGroup& group, std::size_t payload_bytes);
  bool ends_with_segment(std::uint64_t log_bytes, std::size_t payload_bytes) const;
  bool holds_mostly_values(std::uint64_t log_bytes) const;
  Status end_log_with_values(std::uint64_t log_bytes);
  Status end_log_for_drops(bool asked, bool* ended);
  Status make_room_for_drops(std::size_t retire_count);
  void count_drop(std::string_view prefix, CommitVersion version) noexcept;
  void note_success(bool finds_room) noexcept;
  Status close_segment_if_asked(CommitGroup& group);
  Status stop_after(const Status& log_failure);
  void refuse(CommitGroup& group, const Status& status) noexcept;
  void assign(CommitGroup& group) noexcept;
  bool assign_member(Member& member, CommitVersion version) noexcept;
  bool may_be_assigned(Member& member, CommitVersion version) noexcept;
  static void complete_batch(Member& member) noexcept;
  static void end_ages(Member& member) noexcept;
  void frame(CommitGroup& group) noexcept;
  void enter_flight(CommitGroup& group) noexcept;
  void insert(CommitGroup& group) noexcept;
  bool insert_member(CommitGroup& group, Member& member) noexcept;
  static bool end_part(CommitGroup& group) noexcept;
  void perform(LogWrites& writes, io::SyncPoint point) noexcept;
  void perform_deferred() noexcept;

  void publish() noexcept;
  bool can_publish(const CommitGroup& group) const noexcept VARVE_REQUIRES(mutex_);
  bool must_fail(const CommitGroup& group) const noexcept VARVE_REQUIRES(mutex_);
  void publish_group(CommitGroup& group) noexcept VARVE_REQUIRES(mutex_);
  void note_durable(std::uint64_t bytes) noexcept VARVE_REQUIRES(mutex_);
  void fail_group(CommitGroup& group) noexcept VARVE_REQUIRES(mutex_);
  Result<CommitVersion> result_of(Member& member) noexcept;
  static void tell(CommitGroup* group) noexcept;
  static void let_go(CommitGroup* group) noexcept;
  void set_paused(Pause why, bool is_paused, Status& told) noexcept;

  const io::Env& env_;
  Wal& wal_;
  Memtables& memtables_;
  EventSink* events_;
  VersionClock clock_;
  RetiredIds retired_;              // used by the holder of the lead
  TableShapes shapes_;              // this too
  CommitVersion assigned_version_;  // the last version assigned or recovered; used by the holder of the lead
  // Also used by the holder of the lead, about the active memtable:
  LogPosition memtable_log_start_ = 0;  // end of the log when the memtable began
  format::CommitTag assigned_tag_;      // the last tag with a version; its room is reserved
  std::vector<format::TableId> unsealed_adoptions_;
  const CommitVersion recovered_version_;
  std::atomic<std::uint64_t> recovered_dead_bytes_;
  std::atomic<std::uint64_t> let_go_bytes_{0};
  std::atomic<std::size_t> retired_count_;
  WriteWatches watches_;
  DeadStretches stretches_;
  CommitFigures figures_;
  std::atomic<Health> health_{Health::kHealthy};
  std::atomic<CommitVersion> visible_;

  mutable io::Mutex mutex_;
  io::Condition changed_;  // published, poisoned, idle: for await_published() and close()
  io::Condition timer_;
  GroupList waiting_ VARVE_GUARDED_BY(mutex_);
  GroupList flight_ VARVE_GUARDED_BY(mutex_);
  WriteDepth depth_ VARVE_GUARDED_BY(mutex_);
  bool lead_taken_ VARVE_GUARDED_BY(mutex_) = false;
  bool closed_ VARVE_GUARDED_BY(mutex_) = false;
  bool failing_ VARVE_GUARDED_BY(mutex_) = false;  // a group has failed, so every later group fails
  Status poisoned_ VARVE_GUARDED_BY(mutex_);       // Ok while the store works
  bool buffer_restored_ VARVE_GUARDED_BY(mutex_) = false;
  std::uint8_t pauses_ VARVE_GUARDED_BY(mutex_) = 0;
  Status pause_cause_ VARVE_GUARDED_BY(mutex_);  // as returned to writers
  Status unknown_ VARVE_GUARDED_BY(mutex_);      // the error of commits in flight after poisoning
  std::vector<format::DeadId> unsealed_drops_ VARVE_GUARDED_BY(mutex_);
  std::vector<format::DeadId> counted_drops_ VARVE_GUARDED_BY(mutex_);  // ids of which something may remain
  std::vector<std::string> forgotten_ VARVE_GUARDED_BY(mutex_);         // retired_ has not processed these yet
  std::size_t commits_in_flight_ VARVE_GUARDED_BY(mutex_) = 0;          // in groups that must be durable
  CommitVersion entered_version_ VARVE_GUARDED_BY(mutex_);              // the last version whose group entered flight
  std::size_t awaiting_ VARVE_GUARDED_BY(mutex_) = 0;
  std::optional<format::CommitTag> last_tag_ VARVE_GUARDED_BY(mutex_);
  // Set by the last leader, for the timer.
  bool slot_open_ VARVE_GUARDED_BY(mutex_) = false;
  bool mark_due_ VARVE_GUARDED_BY(mutex_) = false;
  /// What may wake the sleeping timer thread.
  ///
  /// - kForAnything: any work.
  /// - kForASlot: an open slot or deferred writes, while the mark of an idle log is due later.
  /// - kForDeferredWrites: only deferred writes, while the interval of an open slot passes. The timer never sleeps
  ///   while there are deferred writes.
  ///
  /// Otherwise it wakes only at the end of its time.
  enum class TimerSleep : std::uint8_t { kNone, kForAnything, kForASlot, kForDeferredWrites };
  TimerSleep timer_sleep_ VARVE_GUARDED_BY(mutex_) = TimerSleep::kNone;
  std::uint64_t turns_ VARVE_GUARDED_BY(mutex_) = 0;
};

inline constexpr std::chrono::milliseconds kBufferedInterval{10};
inline constexpr std::chrono::milliseconds kIdleInterval{100};
/// Largest total bytes of the batches in a group. A group of a single batch may be larger.
inline constexpr std::size_t kGroupBytesMax = 1 << 20;
/// Bytes of batches from which a group stops gathering. Such a write consists mostly of transfer, so it begins at once.
/// Large values go into space that was never written. There each write also waits for the file system's journal, so two
/// writes of 128 KiB end long before four of 64 KiB.
inline constexpr std::size_t kGatheredBytesMax = 256 << 10;
/// Largest bytes of a batch, since a record must fit into a segment.
inline constexpr std::size_t kBatchBytesMax = 32 << 20;

}  // namespace varve::engine
