// Owns: which memtable takes the next commits, when it is sealed, and the queue of sealed memtables that wait for a
// flush.
// Must never: let a commit into a sealed memtable, unless the commit was placed there before the sealing.
//
// T1  Memtables hold ranges of versions that do not overlap. The ranges are in the order in which the memtables were
//     active.
// T2  A memtable leaves the readers' state only in the step that adds the table made of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
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

/// A memtable that takes no new commits. Commits placed in it before the sealing may still be inserting.
struct SealedMemtable {
  std::shared_ptr<const Memtable> memtable;
  /// Every version in the memtable is at or below this one, and above last_version of the memtable sealed before.
  CommitVersion last_version = 0;
  /// The ids that commits up to last_version retired, and the last tag of those commits.
  std::vector<format::DeadId> retired;
  std::optional<format::CommitTag> tag;
  /// Loaded tables that commits up to last_version adopted.
  std::vector<format::TableId> adopted;
  /// The log's segment ended with this memtable, so its flush frees all segments up to that end.
  bool ends_segment = false;
};

/// The next work of flushing.
struct FlushWork {
  enum class Kind : std::uint8_t {
    kNone,   // nothing to do now
    kFlush,  // flush `oldest`
    kSeal,   // seal the active memtable, since a commit of some store lacks room
    kHeal,   // report that there is room again
  };
  Kind kind = Kind::kNone;
  std::optional<SealedMemtable> oldest;
  std::optional<SealedMemtable> next;  // the one sealed after `oldest`, if it waits already
};

class Memtables final : private RoomGiver {
 public:
  /// `states` has the first active memtable, which may contain recovered entries. A memtable is sealed at
  /// `memtable_bytes_max` bytes. The share outlives this object. From now on other stores may ask for room. Throws
  /// std::bad_alloc.
  Memtables(io::Scheduler& scheduler, ReadStates& states, WriteShare& share, std::uint64_t memtable_bytes_max);
  ~Memtables() override { share_.leave(); }

  // Only the holder of the lead calls these functions:

  /// Returns the memtable that takes the batches of the current turn.
  Memtable& active() noexcept { return *active_; }
  /// Returns whether the active memtable must be sealed. `log_bytes` is the growth of the log since that memtable
  /// began.
  bool must_seal(std::uint64_t log_bytes) const noexcept;
  /// Returns whether the active memtable is so large that it may be sealed a little early.
  bool is_nearly_full() const noexcept {
    return active_->used_bytes() >= memtable_bytes_max_ / kPartsOfNearlyFull * (kPartsOfNearlyFull - 1);
  }
  /// Returns whether there is anything to flush to a table, or to free in the log.
  bool holds_anything(std::uint64_t log_bytes) const noexcept { return active_->entry_count() > 0 || log_bytes > 0; }
  /// Seals the active memtable and begins another. Errors: kOutOfMemory; then nothing has changed.
  Status seal(CommitVersion last_version, std::vector<format::DeadId> retired, std::optional<format::CommitTag> tag,
              std::vector<format::TableId> adopted, bool ends_segment = false);

  // Only the flusher calls these functions:

  /// From now on calls `on_work` whenever there may be work to take, until stop_waiting(). It is called under the mutex,
  /// so it must not wait or call this object. It must not throw.
  void announce_work(std::function<void()> on_work);
  /// Returns the next work. Throws std::bad_alloc.
  FlushWork take_work();
  /// Reports the result of a requested sealing. An error counts as the error of a flush.
  void report_seal(const Status& sealed) noexcept;
  /// Reports the result of flushing the oldest sealed memtable. After Ok, the memtable leaves the queue; its entries
  /// are in a table, and it is out of the readers' state. After an error it stays, and the commits that wait for room
  /// are notified.
  void report_flush(const Status& flushed) noexcept;
  /// Returns whether a thread asked for a retry since the last call.
  bool take_retry_request() noexcept;
  /// Reports that nothing more will be flushed, since the store is poisoned. Waiting threads get the error of the last
  /// attempt.
  void end_flushing() noexcept;

  // Any thread may call these functions:

  /// Waits while the memtables take too much of the budget and a flush that may succeed is in progress. Commits that
  /// are faster than flushes wait here, before they hold anything. Returns at once if no flush can succeed; then a
  /// commit that finds no room is refused.
  void wait_for_room() noexcept;
  /// Returns whether wait_for_room() may wait.
  bool is_crowded() const noexcept;
  /// Waits until every memtable sealed so far is flushed. If a retry is pending, it is made at once.
  /// Errors: those of an attempt that began after the call; kClosed.
  Status wait_until_flushed();
  /// Returns the ids that commits in sealed memtables retired. May throw std::bad_alloc.
  std::vector<format::DeadId> sealed_drops() const;
  void stop_waiting() noexcept;
  StretchRoom& stretch_room() noexcept { return share_.budget()->stretch_room(); }

 private:
  void note_to_others(const Status& flushed) noexcept;
  void announce() noexcept VARVE_REQUIRES(mutex_) {
    if (on_work_) on_work_();
  }

  /// From this share of the budget on (3 of 4 parts), commits wait for a flush. Commits in progress still find room.
  static constexpr std::uint64_t kBudgetParts = 4;
  static constexpr std::uint64_t kPartsUsedMax = 3;
  /// An active memtable below this part of its full size is not worth a table of its own.
  static constexpr std::uint64_t kPartsWorthSealing = 8;
  /// A nearly full memtable lacks one of so many parts at most.
  static constexpr std::uint64_t kPartsOfNearlyFull = 8;

  void make_room() noexcept override;
  void room_came() noexcept override;

  ReadStates& states_;
  WriteShare& share_;
  const std::uint64_t memtable_bytes_max_;
  std::shared_ptr<Memtable> active_;

  mutable io::Mutex mutex_;
  io::Condition changed_;
  std::function<void()> on_work_ VARVE_GUARDED_BY(mutex_);
  std::vector<SealedMemtable> sealed_ VARVE_GUARDED_BY(mutex_);
  std::uint64_t flushed_ VARVE_GUARDED_BY(mutex_) = 0;  // number of memtables flushed so far
  Status last_flush_ VARVE_GUARDED_BY(mutex_);
  std::uint64_t attempts_ VARVE_GUARDED_BY(mutex_) = 0;        // number of flush attempts begun so far
  std::uint64_t failed_attempt_ VARVE_GUARDED_BY(mutex_) = 0;  // number of the last attempt that failed
  bool has_ended_ VARVE_GUARDED_BY(mutex_) = false;
  bool retry_asked_ VARVE_GUARDED_BY(mutex_) = false;
  bool seal_asked_ VARVE_GUARDED_BY(mutex_) = false;
  bool room_came_ VARVE_GUARDED_BY(mutex_) = false;
  bool stopping_ VARVE_GUARDED_BY(mutex_) = false;
};

/// Bytes of log since a memtable began at which it is also sealed. This bounds the log that a recovery reads.
inline constexpr std::uint64_t kLogBytesPerMemtable = std::uint64_t{128} << 20;
/// A log is sparse if it has at least so many times the bytes of the memtable: most of it is the rests of sectors, as commits
/// that wait for nothing else leave them. A memtable is sealed after so many bytes of a sparse log. So its segments return
/// soon, and fewer bytes of new space must be filled with zeros.
inline constexpr std::uint64_t kSparseLogParts = 8;
inline constexpr std::uint64_t kSparseLogBytes = std::uint64_t{16} << 20;

}  // namespace varve::engine
