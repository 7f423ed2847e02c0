// Owns: the next log segment, made, filled and announced before it is needed; and telling the manifest of closed ones.
// Must never: let a record be written to a segment that the manifest has not announced, or make the log wait for
// filling.
//
// One background thread does all of it. A segment that is wanted while it is being filled is handed over as far as it
// is; space not filled is slower to write, never wrong. One spare beyond need, and the ballast, are what a full disk
// leaves for drops and for closing.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/log/log_files.h"
#include "engine/manifest/manifest.h"
#include "engine/settings/options.h"
#include "format/log/manifest_edit.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

class SegmentSupply {
 public:
  /// Both are called under no lock: `on_fatal` when the manifest failed for good, and the store must stop; `on_room`
  /// when there is a segment for common commits again after there was none.
  SegmentSupply(const io::Env& env, io::Directory& directory, Manifest& manifest,
                std::function<void(const Status&)> on_fatal, std::function<void()> on_room);
  ~SegmentSupply();

  /// Starts the thread. Errors: kOutOfMemory, kIoError.
  Status start();

  /// The next segment, with room for at least `bytes_min`; waits for it if need be. One thread at a time (the holder of
  /// the lead). `may_use_ballast` is for commits that give space back.
  /// Errors: kNoSpace and others of io; nothing changed, and the next call tries again.
  Result<SegmentFile> take(std::uint64_t bytes_min, bool may_use_ballast);

  /// Whether segments made from now on will take large writes mostly: they are not filled then, since filling would
  /// cost as many bytes as it saves time. Before take(), by the same thread.
  void expect_large_writes(bool expected) noexcept;

  /// Segments are small again from now on, and grow as at first; returns when the next one is there, or cannot be. For
  /// who gives the log's space back: without it, an empty store would keep segments as large as the log once needed.
  /// Not by the holder of the lead.
  void begin_small() noexcept;

  /// Whether nothing says that there is no room for segments: what a full disk has left is kept for those who must.
  bool may_have_room() const;

  /// A segment was sealed and cut. Recorded in the manifest soon, in an edit of its own or with the next announcement.
  void closed(const format::ClosedSegment& segment) noexcept;

  /// Segments told to closed() that the manifest does not know as closed yet. What it came to know before the call is
  /// left out. Any thread. May throw std::bad_alloc.
  std::vector<format::ClosedSegment> unrecorded() const;

  /// Waits until the manifest knows of those told to closed() before the call, never will, or takes no edit at present.
  void wait_until_recorded() noexcept;

  /// An announced segment will not be used.
  void unused(std::uint64_t number) noexcept;

  /// Ends the thread and records what closed() left, and that the spare is gone. Errors: those of Manifest::append.
  Status stop();

  std::uint64_t filled_bytes() const noexcept { return filled_bytes_.load(std::memory_order_relaxed); }

 private:
  /// What one round of the thread does, decided under the mutex and done without it.
  struct Job {
    bool stop = false;
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
  void perform(const Job& job);
  void put_back(const Job& job, Result<SegmentFile> made, const Status& why);
  void report(Result<SegmentFile> made) noexcept;
  bool keep(Result<SegmentFile> made) noexcept;
  void report_fatal(const Status& status) noexcept;
  Result<SegmentFile> make(const Job& job);
  Result<SegmentFile> create(const Job& job, std::uint64_t number);
  Status prepare(SegmentFile& segment);
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
  io::LogSegment* filling_ VARVE_GUARDED_BY(mutex_) = nullptr;
  std::vector<format::ClosedSegment> closed_ VARVE_GUARDED_BY(mutex_);  // until they are recorded
  std::vector<std::uint64_t> removed_ VARVE_GUARDED_BY(mutex_);
  bool expects_large_writes_ VARVE_GUARDED_BY(mutex_) = false;
  std::uint64_t closed_told_ VARVE_GUARDED_BY(mutex_) = 0;
  std::uint64_t closed_recorded_ VARVE_GUARDED_BY(mutex_) = 0;
  Status last_failure_ VARVE_GUARDED_BY(mutex_);
  std::uint64_t attempts_ VARVE_GUARDED_BY(mutex_) = 0;
  std::uint64_t next_bytes_ VARVE_GUARDED_BY(mutex_) = 2 * kSegmentBytesMin;
  std::uint64_t wanted_bytes_ VARVE_GUARDED_BY(mutex_) = 0;  // nonzero: somebody waits in take()
  bool wanted_with_ballast_ VARVE_GUARDED_BY(mutex_) = false;
  bool retry_later_ VARVE_GUARDED_BY(mutex_) = false;
  bool edits_rest_ VARVE_GUARDED_BY(mutex_) = false;  // as long as retry_later_ says: the manifest took none
  bool stopping_ VARVE_GUARDED_BY(mutex_) = false;
  Status fatal_ VARVE_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> filled_bytes_{0};
  io::Thread thread_;
};

}  // namespace varve::engine
