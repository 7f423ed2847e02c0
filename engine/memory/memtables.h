// Owns: which memtable takes the next commits, when it is sealed, and the queue of sealed ones that wait to be written
// to a table.
// Must never: let a commit into a sealed memtable that was not placed there before it was sealed.
//
// T1  memtables hold ranges of versions that do not overlap, in the order in which they were active.
// T2  a memtable leaves the readers' state only in the step that brings the table made of it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/memory/memtable.h"
#include "engine/memory/read_states.h"
#include "engine/memory/write_room.h"
#include "format/log/manifest_edit.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::engine {

/// A memtable that takes no new commits; those placed in it may still be on their way.
struct SealedMemtable {
  std::shared_ptr<const Memtable> memtable;
  /// Every version in it is at or below it, and above that of the one sealed before.
  CommitVersion last_version = 0;
  /// What the commits up to last_version retired, and their last tag.
  std::vector<format::DeadId> retired;
  std::optional<format::CommitTag> tag;
  /// Loaded tables that commits up to last_version adopted.
  std::vector<format::TableId> adopted;
  /// The log's segment ended with it, so that its flush lets all of them go.
  bool ends_segment = false;
};

/// What the thread that flushes is to do next.
struct FlushWork {
  enum class Kind : std::uint8_t {
    kEnd,
    kFlush,  // `oldest`
    kSeal,   // the active memtable, since a commit of some store lacks room
    kHeal,   // tell that there is room again
  };
  Kind kind = Kind::kEnd;
  std::optional<SealedMemtable> oldest;
};

class Memtables final : private RoomGiver {
 public:
  /// `states` has the first active memtable, which may hold what was recovered. A memtable is sealed when it has
  /// `memtable_bytes_max`. The share outlives this. From now on other stores may ask for room. Throws std::bad_alloc.
  Memtables(io::Scheduler& scheduler, ReadStates& states, WriteShare& share, std::uint64_t memtable_bytes_max);
  ~Memtables() override { share_.leave(); }

  // By the holder of the lead alone:

  /// Where the turn's batches go.
  Memtable& active() noexcept { return *active_; }
  /// Whether it is time for a new one. `log_bytes` is what the log has taken since the active one began.
  bool must_seal(std::uint64_t log_bytes) const noexcept;
  /// Whether there is anything to write to a table, or to let go in the log.
  bool holds_anything(std::uint64_t log_bytes) const noexcept { return active_->entry_count() > 0 || log_bytes > 0; }
  /// Ends the active memtable and begins another. Errors: kOutOfMemory; nothing changed.
  Status seal(CommitVersion last_version, std::vector<format::DeadId> retired, std::optional<format::CommitTag> tag,
              std::vector<format::TableId> adopted, bool ends_segment = false);

  // By the thread that flushes:

  /// Waits for it. Throws std::bad_alloc.
  FlushWork wait_for_work();
  /// How the sealing ended that was asked for. An error counts as that of a flush.
  void report_seal(const Status& sealed) noexcept;
  /// How the flush of the oldest sealed one ended. After Ok it is in a table and out of the readers' state, and leaves
  /// the queue; after an error it stays, and those who wait for room are told.
  void report_flush(const Status& flushed) noexcept;
  enum class Rest : std::uint8_t { kStopped, kAsked, kOver };
  /// Waits before a further attempt, until someone asks for one at the longest.
  Rest wait_before_retry(std::chrono::nanoseconds pause) noexcept;
  /// Nothing more will be flushed: the store is poisoned. Who waits is told how the last attempt ended.
  void end_flushing() noexcept;

  // Any thread:

  /// Waits while the memtables take too much of the budget and a flush that may succeed is under way: the door at which
  /// commits are held up when they are faster than flushes, before they hold anything. Returns at once when nothing is
  /// to be hoped for: then a commit that finds no room is refused.
  void wait_for_room() noexcept;
  /// Whether wait_for_room() may wait.
  bool is_crowded() const noexcept;
  /// Waits until every memtable sealed so far is flushed, and has a retry that is due made at once.
  /// Errors: those of an attempt made after the call; kClosed.
  Status wait_until_flushed();
  /// What commits in sealed memtables retired. May throw std::bad_alloc.
  std::vector<format::DeadId> sealed_drops() const;
  void stop_waiting() noexcept;

 private:
  void note_to_others(const Status& flushed) noexcept;

  /// At this share of the budget commits wait for a flush, so that those under way still find room.
  static constexpr std::uint64_t kBudgetParts = 4;
  static constexpr std::uint64_t kPartsUsedMax = 3;
  /// A smaller part of a whole memtable is not worth a table of its own.
  static constexpr std::uint64_t kPartsWorthSealing = 8;

  void make_room() noexcept override;
  void room_came() noexcept override;

  ReadStates& states_;
  WriteShare& share_;
  const std::uint64_t memtable_bytes_max_;
  std::shared_ptr<Memtable> active_;

  mutable io::Mutex mutex_;
  io::Condition changed_;
  std::vector<SealedMemtable> sealed_ VARVE_GUARDED_BY(mutex_);
  std::uint64_t flushed_ VARVE_GUARDED_BY(mutex_) = 0;  // memtables, so far
  Status last_flush_ VARVE_GUARDED_BY(mutex_);
  std::uint64_t attempts_ VARVE_GUARDED_BY(mutex_) = 0;        // to flush, begun so far
  std::uint64_t failed_attempt_ VARVE_GUARDED_BY(mutex_) = 0;  // the last that failed
  bool has_ended_ VARVE_GUARDED_BY(mutex_) = false;
  bool retry_asked_ VARVE_GUARDED_BY(mutex_) = false;
  bool seal_asked_ VARVE_GUARDED_BY(mutex_) = false;
  bool room_came_ VARVE_GUARDED_BY(mutex_) = false;
  bool stopping_ VARVE_GUARDED_BY(mutex_) = false;
};

/// A memtable is also sealed when the log has grown by this since it began, so that recovery has a bounded way to go.
inline constexpr std::uint64_t kLogBytesPerMemtable = std::uint64_t{128} << 20;

}  // namespace varve::engine
