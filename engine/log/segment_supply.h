// Owns: the next log segment, which it creates, fills and announces before the log needs it, and recording closed
// segments in the manifest.
// Must never: let a record be written to a segment that the manifest has not announced, or make the log wait for
// filling.
//
// One background thread does all of this. A segment is announced first, and then filled in steps, at the pace at which
// the log uses the current one (fill_pace.h). If it is needed earlier, it is handed over partly filled. Unfilled space is
// slower to write, never wrong. On a full disk, one spare segment and the ballast remain for drops and for closing the
// store.
//
// A segment that a flush releases may become a later segment under another number. Its space was written already, so it
// needs no zeros. An idle log keeps no such files.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/log/fill_pace.h"
#include "engine/log/log_files.h"
#include "engine/log/released_segments.h"
#include "engine/manifest/manifest.h"
#include "engine/settings/options.h"
#include "format/log/manifest_edit.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

class SegmentSupply {
 public:
  /// Both callbacks are called without a lock. `on_fatal` is called if the manifest failed permanently, so that the
  /// store must stop. `on_room` is called when a segment for common commits is available again after there was none.
  SegmentSupply(const io::Env& env, io::Directory& directory, Manifest& manifest,
                std::function<void(const Status&)> on_fatal, std::function<void()> on_room);
  ~SegmentSupply();

  /// Starts the thread. Errors: kOutOfMemory, kIoError.
  Status start();

  /// Returns the next segment, with room for at least `bytes_min`, and waits for it if needed. One thread at a time may
  /// call it (the leader). `may_use_ballast` is for commits that release space. Errors: kNoSpace and others of io;
  /// nothing is changed, and the next call tries again.
  Result<SegmentFile> take(std::uint64_t bytes_min, bool may_use_ballast);

  /// Sets whether later segments will mostly take large writes. Such segments are not filled, because filling would
  /// write as many bytes as it saves time. The thread that calls take() calls it before take().
  void expect_large_writes(bool expected) noexcept;

  /// Reports that the log begins to use a segment that this opening of the store made. The leader calls it, also for the
  /// first segment.
  void begin_use(std::uint64_t number, std::uint64_t segment_bytes) noexcept;
  /// Reports that the log uses the first `bytes` of the segment. The leader calls it after each turn.
  void used(std::uint64_t bytes) noexcept {
    used_now_.store(bytes, std::memory_order_relaxed);
    if (bytes >= fill_due_at_.load(std::memory_order_relaxed)) wake_filling(bytes);
  }

  /// Makes segments small again; they then grow as at first. Returns when the next segment is available, or cannot be
  /// created. Callers use it to release the log's space: otherwise, an empty store would keep segments as large as the
  /// log once needed. The leader must not call it.
  void begin_small() noexcept;

  /// Returns false if segments are known to lack space. The remaining space of a full disk is reserved for urgent
  /// callers.
  bool may_have_room() const;

  /// Reports a sealed and cut segment. The manifest records it soon, in an edit of its own or with the next
  /// announcement.
  void closed(const format::ClosedSegment& segment) noexcept;

  /// Returns the segments passed to closed() that the manifest does not record yet. Segments recorded before the call
  /// are omitted. Any thread may call it. It may throw std::bad_alloc.
  std::vector<format::ClosedSegment> unrecorded() const;

  /// Waits until the manifest records the segments passed to closed() before the call. Returns earlier if the manifest
  /// never will, or takes no edits at present.
  void wait_until_recorded() noexcept;

  /// Reports that an announced segment will not be used.
  void unused(std::uint64_t number) noexcept;

  /// Takes the file of a segment that the manifest no longer names, for a later segment. No reader and no hold on names
  /// may refer to it. Returns the number of the file that is not kept, which the caller removes, or zero. Any thread may
  /// call it.
  std::uint64_t release(std::uint64_t number) noexcept;
  /// Removes the files that wait for a later segment, since their space is needed. Any thread may call it.
  void give_up_released() noexcept;

  /// Lends a part of the ballast to a flush of drops, which had no room. Any thread may call it.
  void lend_ballast() noexcept { manifest_.ballast().lend(); }
  /// Takes given parts of the ballast back, since a flush may have freed space. Any thread may call it.
  void take_ballast_back() noexcept { manifest_.ballast().take_back(); }

  /// Ends the thread. Records the segments that are still unrecorded, and that the spare is removed. Errors: those of
  /// Manifest::append().
  Status stop();

  std::uint64_t filled_bytes() const noexcept { return filled_bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kNoFill = ~std::uint64_t{0};

  /// The work of one round of the thread, decided under the mutex and done without it.
  struct Job {
    bool stop = false;
    bool fill = false;  // then nothing else
    bool rest = false;  // likewise: the log was idle for a while
    bool make_spare = false;
    std::uint64_t bytes = 0;
    std::uint64_t bytes_min = 0;
    bool may_use_ballast = false;
    std::vector<format::ClosedSegment> closed;
    std::vector<std::uint64_t> removed;
  };

  void run();
  Job next_job();
  bool must_make() const VARVE_REQUIRES(mutex_);
  bool must_fill() const VARVE_REQUIRES(mutex_);
  void wake_filling(std::uint64_t used_bytes) noexcept;
  void fill_spare();
  void await_filling() VARVE_REQUIRES(mutex_);
  void plan_filling() VARVE_REQUIRES(mutex_);
  bool has_idle_space() const VARVE_REQUIRES(mutex_);
  void wait_for_a_while(Job& job) VARVE_REQUIRES(mutex_);
  void give_space_back() noexcept;
  void perform(const Job& job);
  void put_back(const Job& job, Result<SegmentFile> made, const Status& why);
  void put_off(const Status& why) noexcept;
  void report(Result<SegmentFile> made) noexcept;
  bool keep(Result<SegmentFile> made) noexcept;
  void report_fatal(const Status& status) noexcept VARVE_EXCLUDES(mutex_);
  Result<SegmentFile> make(const Job& job);
  Result<SegmentFile> recycle(const Job& job, std::uint64_t number);
  Result<SegmentFile> create(const Job& job, std::uint64_t number);
  Status record(const SegmentFile* announced, const Job& job);
  void discard_spare() VARVE_REQUIRES(mutex_);

  const io::Env& env_;
  io::Directory& directory_;
  Manifest& manifest_;
  std::function<void(const Status&)> on_fatal_;
  std::function<void()> on_room_;

  mutable io::Mutex mutex_;
  io::Condition changed_;
  std::optional<SegmentFile> spare_ VARVE_GUARDED_BY(mutex_);
  io::LogSegment* filling_ VARVE_GUARDED_BY(mutex_) = nullptr;  // the spare, or a spare that was discarded since
  FillPace pace_ VARVE_GUARDED_BY(mutex_);
  std::uint64_t current_bytes_ VARVE_GUARDED_BY(mutex_) = kSegmentBytesMin;  // of the segment in use
  std::uint64_t used_bytes_ VARVE_GUARDED_BY(mutex_) = 0;  // of the segment in use, when a step was last due
  ReleasedSegments released_ VARVE_GUARDED_BY(mutex_);
  std::vector<format::ClosedSegment> closed_ VARVE_GUARDED_BY(mutex_);  // until they are recorded
  std::vector<std::uint64_t> removed_ VARVE_GUARDED_BY(mutex_);
  bool expects_large_writes_ VARVE_GUARDED_BY(mutex_) = false;
  std::uint64_t closed_told_ VARVE_GUARDED_BY(mutex_) = 0;
  std::uint64_t closed_recorded_ VARVE_GUARDED_BY(mutex_) = 0;
  Status last_failure_ VARVE_GUARDED_BY(mutex_);
  std::uint64_t attempts_ VARVE_GUARDED_BY(mutex_) = 0;
  std::uint64_t next_bytes_ VARVE_GUARDED_BY(mutex_) = 2 * kSegmentBytesMin;
  std::uint64_t wanted_bytes_ VARVE_GUARDED_BY(mutex_) = 0;  // nonzero: a thread waits in take()
  bool wanted_with_ballast_ VARVE_GUARDED_BY(mutex_) = false;
  bool retry_later_ VARVE_GUARDED_BY(mutex_) = false;
  bool edits_rest_ VARVE_GUARDED_BY(mutex_) = false;  // while retry_later_ is true: the manifest took no edits
  bool stopping_ VARVE_GUARDED_BY(mutex_) = false;
  Status fatal_ VARVE_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> filled_bytes_{0};
  std::atomic<std::uint64_t> used_now_{0};           // of the segment in use
  std::atomic<std::uint64_t> fill_due_at_{kNoFill};  // the use at which the next step is due
  io::Thread thread_;
};

}  // namespace varve::engine
