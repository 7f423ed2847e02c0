// Owns: the one order of commits: groups, versions, publication, acknowledgement, and the end of all that after a
// failure.
// Must never: show a version before it is durable as asked, acknowledge out of order, or let anything fail between the
// assignment of a version and its publication.
//
// Q1  published <= inserted <= assigned; a group that must be durable is published only when the log is, up to its end.
// Q2  none of the three ever goes back, also across a restart: the clock starts above every durable ceiling, and no
//     version is published above the durable ceiling.
// Q3  the order of versions is the order of records in the log.
// Q4  after the first failed write nothing assigned later is published, and nothing more is assigned.
// Q5  a batch whose table was retired by an earlier version is refused, and told so after that version's publication.
//     So is one that asks for a table to be unwritten, if an earlier version wrote it.
//
// How a commit goes. A caller joins the youngest waiting group, or begins one. The oldest one gets the lead when it is
// free and fewer than kLogWritesInFlightMax writes are under way; a group that must be durable gathers first, until it
// is as large as all that are on their way to the device together. Its leader is the caller whose joining was the last
// that it wanted, who need not be woken for it; else the first. Holding no mutex, the leader reserves log space and
// memory (the last thing that can fail), assigns versions, frames one record, and hands the lead on. Beside the next
// leader it inserts its members' batches, lets go of their partition locks (so that the next writer of a hot partition
// builds on them before they are durable), and performs the write on its own thread. Groups are published in order.
//
// Why groups gather: a write costs the same processor time for one commit as for many, and clients that wait for their
// commits come back together. So they form two groups, one of which gathers while the other is written, where otherwise
// each write would take along the few that came since the last one began. Nobody waits for more than the writes that
// are under way.
//
// The leader inserts for its members: to wake each of them once more for it would cost more context switches.
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

/// What the queue begins with: as recovered.
struct CommitStart {
  CommitVersion last_version = 0;
  CommitVersion version_ceiling = 0;
  /// What tables hold already; see FileSet.
  CommitVersion flushed_version = 0;
  std::optional<format::CommitTag> last_tag;
  RetiredIds retired;
  /// Loaded tables adopted above flushed_version.
  std::vector<format::TableId> adopted;
  /// Of dropped tables, in the log and not in the memtable.
  std::uint64_t dead_log_bytes = 0;
};

/// Why writes are refused for a while.
enum class Pause : std::uint8_t {
  kLog = 1,     // nothing can be logged
  kFlush = 2,   // the write buffer is full, and this store's memtables cannot be flushed
  kOthers = 4,  // the write buffer is full of what others hold
};

/// Any thread.
class CommitQueue {
 public:
  /// `on_health` is called under no lock.
  CommitQueue(const io::Env& env, Wal& wal, Memtables& memtables, CommitStart start, EventSink* events);
  ~CommitQueue();

  /// Commits the member's batch; blocks until the group is done. Errors: those of Engine::commit.
  Result<CommitVersion> commit(Member& member);
  /// The same without a thread that waits: `member.steps` is told. Errors: as commit(); then it was not begun, and
  /// nobody is told.
  Status begin_commit(Member& member);
  /// What `member.steps->lead` does.
  void lead_for(Member& member) noexcept { run_turn(*member.group); }
  /// How it ended, after `member.steps->done` was posted; once.
  Result<CommitVersion> end_commit(Member& member) noexcept { return result_of(member); }
  /// Makes everything acknowledged so far durable. With `watermark` the log also gets a record that marks its end.
  Status flush(bool watermark);
  /// Seals the active memtable, if it holds anything, and makes what it holds durable.
  Status seal_memtable();
  /// seal_memtable(), and ends the log's segment with it if there is room for another: its flush then lets go of all of
  /// the log, whose segments are small again.
  Status give_log_back();
  /// Closes the log segment in use, if it holds a commit. Everything acknowledged before is durable then, in segments
  /// that do not change any more; returns the last version in them. Errors: kNoSpace; those of commit().
  Result<CommitVersion> close_segment();
  /// Waits for the publication of a version that was assigned. Errors: kPoisoned.
  Status await_published(CommitVersion version);
  /// A write was refused for this: so says health() until resume(). Returns what the writer is told: the same words as
  /// health was told, as long as the cause is the same.
  Status pause(Pause why, const Status& cause) noexcept;
  void resume(Pause why) noexcept {
    Status none;
    if (health() != Health::kHealthy) set_paused(why, false, none);
  }
  /// Stops all acknowledgement until the store is reopened.
  void poison(const Status& cause) noexcept;
  /// Refuses later commits, waits for those under way, and ends the log. Errors: kPoisoned, those of Wal::close.
  Status close();

  CommitVersion visible() const noexcept { return visible_.load(std::memory_order_acquire); }
  /// Every version given so far, or known from before the open, is at or below it. After close().
  CommitVersion clock_floor() const noexcept { return clock_.last(); }
  Health health() const noexcept { return health_.load(std::memory_order_relaxed); }
  std::optional<format::CommitTag> last_tag() const;
  std::size_t retired_count() const noexcept;
  /// Ids dropped by commits in the active memtable, published or not.
  std::vector<format::DeadId> unsealed_drops() const;
  /// These, and those by commits in memtables that are not flushed yet: the manifest does not know of them.
  std::vector<format::DeadId> unflushed_drops() const;
  /// Of dropped tables: bytes that only the log holds, since recovery left them out of the memtable, until that is
  /// flushed.
  std::uint64_t recovered_dead_bytes() const noexcept { return recovered_dead_bytes_.load(std::memory_order_relaxed); }
  /// Ids of which neither the files of the manifest nor the log hold anything any more count no longer as retired.
  /// Commits to them are refused as before.
  void forget_drops(const Manifest& manifest) noexcept;
  /// What a commit can ask about the tables that others write.
  WriteWatches& watches() noexcept { return watches_; }
  /// What is known of keys beside each other that were deleted. Nothing, until somebody asked by know_stretches().
  DeadStretches& stretches() noexcept { return stretches_; }
  void know_stretches();
  bool clock_jump_ignored() const noexcept { return clock_.jump_ignored(); }
  const CommitFigures& figures() const noexcept { return figures_; }

  /// What the log's timer thread has to do next. Records in the buffer are due kBufferedInterval after they came; an
  /// idle log's mark is due kIdleInterval after the last turn.
  enum class TimerWork : std::uint8_t { kFlush, kWatermark, kDeferredWrites, kRestore, kEnd };
  TimerWork wait_for_timer_work();
  /// Performs the log's deferred writes. A failure poisons the queue.
  void write_deferred() noexcept;
  /// Once, behind the failure that poisoned the queue. Waits for the leader.
  void restore_log_buffer() noexcept;

 private:
  /// What a member's thread does for its group.
  enum class Part : std::uint8_t { kFollows, kAwaitsLead, kLeads };
  Result<Part> join(Member& member);
  static bool may_join(const CommitGroup& group, const Member& member) noexcept;
  static void add_member(CommitGroup& group, Member& member) noexcept;
  bool gathers(const CommitGroup& group) const noexcept VARVE_REQUIRES(mutex_);
  CommitGroup* grant_lead() noexcept VARVE_REQUIRES(mutex_);
  static void begin_lead(CommitGroup* group) noexcept;
  /// After a turn, if it left the timer something to do that the timer does not wait for already.
  void wake_timer() noexcept VARVE_REQUIRES(mutex_);

  // The turn of a leader, in this order. Up to assign() things may fail; from there on nothing can.
  void run_turn(CommitGroup& group) noexcept;
  Status prepare(CommitGroup& group);
  Status reserve_for(CommitGroup& group);
  static bool reserve_memory(Memtable& memtable, Member& member);
  Status begin_memtable_if_due(const CommitGroup& group);
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
  bool may_be_assigned(Member& member) noexcept;
  void frame(CommitGroup& group) noexcept;
  void enter_flight(CommitGroup& group) noexcept;
  void insert(CommitGroup& group) noexcept;
  void perform(LogWrites& writes, io::SyncPoint point) noexcept;
  void perform_deferred() noexcept;

  void mark_inserted(CommitGroup& group) noexcept;
  void publish() noexcept;
  bool can_publish(const CommitGroup& group) const noexcept VARVE_REQUIRES(mutex_);
  bool must_fail(const CommitGroup& group) const noexcept VARVE_REQUIRES(mutex_);
  void publish_group(CommitGroup& group) noexcept VARVE_REQUIRES(mutex_);
  void fail_group(CommitGroup& group) noexcept VARVE_REQUIRES(mutex_);
  static Result<CommitVersion> result_of(Member& member) noexcept;
  static void tell(CommitGroup* group) noexcept;
  static void let_go(CommitGroup* group) noexcept;
  void set_paused(Pause why, bool is_paused, Status& told) noexcept;

  const io::Env& env_;
  Wal& wal_;
  Memtables& memtables_;
  EventSink* events_;
  VersionClock clock_;              // of the holder of the lead
  RetiredIds retired_;              // of the holder of the lead
  CommitVersion assigned_version_;  // the last one given to a commit, or recovered; of the holder of the lead
  // Likewise, about the active memtable:
  LogPosition memtable_log_start_ = 0;  // where the log stood when it began
  format::CommitTag assigned_tag_;      // the last tag given a version; its room is reserved
  std::vector<format::TableId> unsealed_adoptions_;
  const CommitVersion recovered_version_;
  std::atomic<std::uint64_t> recovered_dead_bytes_;
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
  bool lead_taken_ VARVE_GUARDED_BY(mutex_) = false;
  bool closed_ VARVE_GUARDED_BY(mutex_) = false;
  bool failing_ VARVE_GUARDED_BY(mutex_) = false;  // a group has failed: so does every later one
  Status poisoned_ VARVE_GUARDED_BY(mutex_);       // Ok while the store lives
  bool buffer_restored_ VARVE_GUARDED_BY(mutex_) = false;
  std::uint8_t pauses_ VARVE_GUARDED_BY(mutex_) = 0;
  Status pause_cause_ VARVE_GUARDED_BY(mutex_);  // as writers are told
  Status unknown_ VARVE_GUARDED_BY(mutex_);      // what commits in flight are told then
  std::vector<format::DeadId> unsealed_drops_ VARVE_GUARDED_BY(mutex_);
  std::vector<format::DeadId> counted_drops_ VARVE_GUARDED_BY(mutex_);  // of which something may remain
  std::vector<std::string> forgotten_ VARVE_GUARDED_BY(mutex_);         // retired_ is to hear of them
  std::size_t commits_in_flight_ VARVE_GUARDED_BY(mutex_) = 0;          // of groups that must be durable
  CommitVersion entered_version_ VARVE_GUARDED_BY(mutex_);              // the last one whose group entered flight
  std::size_t awaiting_ VARVE_GUARDED_BY(mutex_) = 0;
  std::optional<format::CommitTag> last_tag_ VARVE_GUARDED_BY(mutex_);
  // For the timer, as the last leader left them.
  bool slot_open_ VARVE_GUARDED_BY(mutex_) = false;
  bool mark_due_ VARVE_GUARDED_BY(mutex_) = false;
  /// What the timer thread sleeps for: something to do, or, an idle log's mark being due later, an open slot; while
  /// that slot's interval passes, for deferred writes alone, which it never sleeps over. It wakes by itself only when a
  /// time has passed.
  enum class TimerSleep : std::uint8_t { kNone, kForAnything, kForASlot, kForDeferredWrites };
  TimerSleep timer_sleep_ VARVE_GUARDED_BY(mutex_) = TimerSleep::kNone;
  std::uint64_t turns_ VARVE_GUARDED_BY(mutex_) = 0;
};

inline constexpr std::chrono::milliseconds kBufferedInterval{10};
inline constexpr std::chrono::milliseconds kIdleInterval{100};
/// A group grows no further once its batches are this large; one batch alone may be larger.
inline constexpr std::size_t kGroupBytesMax = 1 << 20;
/// Nor does it gather any longer then: the write is mostly transfer, and best begun.
inline constexpr std::size_t kGatheredBytesMax = 64 << 10;
/// No batch may be larger: a record must fit a segment.
inline constexpr std::size_t kBatchBytesMax = 32 << 20;

}  // namespace varve::engine
