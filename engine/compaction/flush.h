// Owns: the thread that writes sealed memtables to tables of level 0, and frees the log up to their end.
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
#pragma once

#include <atomic>
#include <functional>

#include "engine/base/snapshots.h"
#include "engine/commit/commit_queue.h"
#include "engine/compaction/retention.h"
#include "engine/compaction/tree.h"
#include "engine/log/segment_supply.h"
#include "engine/memory/memtables.h"
#include "engine/settings/options.h"
#include "io/env.h"
#include "varve/result.h"

namespace varve::engine {

class Flusher {
 public:
  /// All arguments outlive the flusher.
  Flusher(const io::Env& env, CommitQueue& queue, Memtables& memtables, Wal& wal, SegmentSupply& supply,
          Snapshots& snapshots, Tree& tree, EventSink* events);
  ~Flusher();

  /// Starts the thread. Errors: kOutOfMemory, kIoError.
  Status start();
  /// Ends the thread. A flush in progress is given up, since the log still contains all its entries.
  void stop() noexcept;

  std::uint64_t written_bytes() const noexcept { return written_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t flushes() const noexcept { return flushes_.load(std::memory_order_relaxed); }

 private:
  void run() noexcept;
  Status do_work(const FlushWork& work);
  Status flush(const SealedMemtable& sealed);
  void release_segment(std::uint64_t number) noexcept;
  Status make_durable(const SealedMemtable& sealed);
  Result<format::ManifestEdit> write_table(const SealedMemtable& sealed);
  bool will_be_merged(const Memtable& memtable) const;
  Status write_entries(const SealedMemtable& sealed, Retention& retention, const DeadRanges& dead,
                       format::ManifestEdit& edit);
  void describe_log(const SealedMemtable& sealed, format::ManifestEdit& edit) const;

  const io::Env& env_;
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
  io::Thread thread_;
};

}  // namespace varve::engine
