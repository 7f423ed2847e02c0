// Owns: the thread that writes sealed memtables to tables of level 0 and lets the log behind them go.
// Must never: write what is not durable in the log, or let a segment go before the manifest has the table made of it.
//
// L1  memtables are flushed in the order in which they were sealed; a table's edit names no version above the durable
//     one.
// L2  in the same edit: the table, the version up to which the log is not needed, the ids dropped in that part of it,
//     its last tag, a ceiling above all its versions, and the segments that end at or below it.
// L3  also in it: the loaded tables that were adopted in that part of the log are ordinary ones from then on.
// L4  also in it: a segment that is mostly large values becomes a value file, and the table points into it.
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
  /// All outlive the flusher.
  Flusher(const io::Env& env, CommitQueue& queue, Memtables& memtables, Wal& wal, SegmentSupply& supply,
          Snapshots& snapshots, Tree& tree, EventSink* events);
  ~Flusher();

  /// Starts the thread. Errors: kOutOfMemory, kIoError.
  Status start();
  /// Ends it; a flush under way is given up, since the log still has all of it.
  void stop() noexcept;

  std::uint64_t written_bytes() const noexcept { return written_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t flushes() const noexcept { return flushes_.load(std::memory_order_relaxed); }

 private:
  void run() noexcept;
  Status do_work(const FlushWork& work);
  Status flush(const SealedMemtable& sealed);
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
