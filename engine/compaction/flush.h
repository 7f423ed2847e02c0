// Owns: writing sealed memtables to tables of level 0, and freeing the log up to their end.
// Must never: write an entry that is not durable in the log, or free a segment before the manifest has the table made
// of it.
//
// L1  Memtables are flushed in the order in which they were sealed. A table's edit names no version above the durable
//     version.
// L2  The same edit contains the table and the version up to which the log is no longer needed. For that part of the
//     log it contains the dropped ids, the last tag, and a ceiling above all its versions. It also removes the segments
//     that end at or below that version.
// L3  The same edit makes ordinary tables of the loaded tables that were adopted in that part of the log.
// L4  In the same edit, a segment of mostly large values becomes a value file, and the table points into it.
// L5  A large memtable becomes several files, each with its part of the keys (flush_parts.h). One edit adds all of them.
// L6  If two memtables wait and a thread is free, it writes the tables of the second one *ahead*, beside the flush of the
//     first. They keep all deletes, since the first memtable may have what these hide. The second memtable's own flush
//     publishes them. If the first flush fails, they are removed.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "engine/base/background_pool.h"
#include "engine/base/snapshots.h"
#include "engine/commit/commit_queue.h"
#include "engine/compaction/job_run.h"
#include "engine/compaction/tree.h"
#include "engine/levels/tree_shape.h"
#include "engine/log/segment_supply.h"
#include "engine/memory/memtables.h"
#include "engine/settings/options.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

/// The pool calls it, one thread at a time.
class Flusher final : private BackgroundPool::Source {
 public:
  /// All arguments outlive the flusher.
  Flusher(BackgroundPool& pool, CommitQueue& queue, Memtables& memtables, Wal& wal, SegmentSupply& supply,
          Snapshots& snapshots, Tree& tree, EventSink* events);
  ~Flusher() override;

  /// Begins to flush. Throws std::bad_alloc.
  void start();
  /// Gives up a flush in progress, since the log still contains all its entries, and begins no other.
  void stop() noexcept;

  std::uint64_t written_bytes() const noexcept { return written_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t flushes() const noexcept { return flushes_.load(std::memory_order_relaxed); }

 private:
  BackgroundPool::Pause work(bool is_due) noexcept override;
  /// Returns whether a rest after a failure goes on.
  bool rests(bool is_due) noexcept;
  void make_room() noexcept;
  BackgroundPool::Pause note_failure(const Status& failure) noexcept;
  /// The edit of a memtable whose tables are written, but not published.
  struct Ahead {
    const Memtable* memtable = nullptr;  // null if there are no such tables
    format::ManifestEdit edit;
  };

  Status do_work(FlushWork& work, bool& is_reported);
  Status flush_oldest(FlushWork& work, bool& is_reported);
  void write_ahead(const SealedMemtable& sealed) noexcept;
  void give_up(Ahead& written) noexcept;
  void report(const Status& flushed) noexcept;
  Status flush(const SealedMemtable& sealed, Ahead& written);
  void release_segment(std::uint64_t number) noexcept;
  Status make_durable(const SealedMemtable& sealed);
  Result<format::ManifestEdit> write_table(const SealedMemtable& sealed, bool is_oldest);
  Status write_entries(const SealedMemtable& sealed, bool is_oldest, const JobView& view, format::ManifestEdit& edit);
  void describe_log(const SealedMemtable& sealed, format::ManifestEdit& edit) const;

  BackgroundPool& pool_;
  const TreeShape shape_ = tree_shape();
  CommitQueue& queue_;
  Memtables& memtables_;
  Wal& wal_;
  SegmentSupply& supply_;
  Snapshots& snapshots_;
  Tree& tree_;
  EventSink* events_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> flushes_{0};
  std::atomic<std::uint64_t> written_bytes_{0};

  // Used only by the flushing thread:
  std::chrono::milliseconds rest_;  // after the next failure
  bool is_resting_ = false;
  Code failed_ = Code::kOk;       // the last attempt
  bool retry_was_asked_ = false;  // a thread ended the last rest
  bool has_ended_ = false;        // the store is poisoned
  Ahead ahead_;                   // set by the thread that writes ahead, while the flushing thread does not use it

  BackgroundPool::Seat seat_;
};

}  // namespace varve::engine
