// Owns: the threads that make table files of sorted entries while the thread that loads prepares what comes next.
// Must never: let entries pass each other, or keep more of them waiting than a few chunks.
//
// Making blocks costs several times what it costs to bring their entries, zstd most of it, and a run is a piece of a
// file that no other piece knows of: so each thread makes the runs of a chunk of its own, apart
// (format/table/run_maker.h), and the threads append them to one row of files in turn, which is little more than the
// write. Whole files by turns would need the entries of a whole file in memory for two threads to be busy. A file that
// is full is ended, synced and read back outside of the turn, beside the making of the next one.
//
// Until the row has learned its dictionary, within the first run, chunks are added to it one after the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/load/load_options.h"
#include "engine/load/sorted_files.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::engine {

/// Puts of one table and version, in the order of their keys. One thread at a time; after an error nothing but
/// destruction is allowed.
class WriteBehind {
 public:
  /// Starts the threads. What `sink` refers to outlives this. Errors: those of Scheduler::start.
  static Result<std::unique_ptr<WriteBehind>> start(const TableSink& sink, const format::TableOptions& table,
                                                    const LoadOptions& options, CommitVersion version);
  /// Ends the threads, and removes what was not taken.
  ~WriteBehind();
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  /// As SortedFiles::compare_with_last(): of the last key added, written or not.
  int compare_with_last(std::string_view key) const noexcept { return std::string_view(last_key_).compare(key); }
  /// The key is not below the last one (asserted). Waits where the threads are far behind.
  /// Errors: those of SortedFiles::add; that of an earlier entry, found meanwhile.
  Status add(std::string_view key, std::string_view value);

  /// Waits until everything is written. As SortedFiles::finish(). Once.
  Result<std::vector<format::TableFileEntry>> finish();

  /// Bytes of finished files, about now.
  std::uint64_t written_bytes() const noexcept { return written_bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kWaitingMax = 2;

  struct Chunk {
    struct Sizes {
      std::uint32_t key = 0;
      std::uint32_t value = 0;
    };
    std::string bytes;  // keys and values, one behind the other
    std::vector<Sizes> entries;
  };
  /// What one of the threads works on.
  struct Work {
    Chunk chunk;
    std::uint64_t turn = 0;
    /// Null as long as the row learns: the chunk is added entry by entry.
    const format::TableOptions* apart = nullptr;
    std::unique_ptr<format::RunMaker> maker;
    /// What it was that the row learned with this chunk.
    std::optional<format::TableOptions> settled;
    /// Cut in this turn, to be ended behind it.
    std::vector<std::unique_ptr<TableWriter>> full;
  };

  WriteBehind(const TableSink& sink, const format::TableOptions& table, const LoadOptions& options,
              CommitVersion version);
  Status hand_over() VARVE_EXCLUDES(mutex_);
  void end() noexcept VARVE_EXCLUDES(mutex_);

  void run(Work& work) noexcept;
  bool take(Work& work) VARVE_EXCLUDES(mutex_);
  void give_back(Work& work) noexcept VARVE_EXCLUDES(mutex_);
  Status make_runs(Work& work) noexcept;
  Status make_runs_of(Work& work);
  bool wait_for_turn(const Work& work) VARVE_EXCLUDES(mutex_);
  Status append(Work& work) noexcept;
  Status append_runs(Work& work);
  void end_turn(Work& work, Status appended) noexcept VARVE_EXCLUDES(mutex_);
  Status end_full_files(Work& work) noexcept;
  Status end_each(std::vector<std::unique_ptr<TableWriter>>& files) VARVE_EXCLUDES(mutex_);
  void fail(Status status) noexcept VARVE_REQUIRES(mutex_);
  void choose_chunk_bytes(const Work& work) noexcept;
  void count_written(std::uint64_t bytes) noexcept { written_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  template <typename Visit>
  Status for_each_entry(const Chunk& chunk, Visit visit) const;

  const TableSink sink_;
  const std::size_t chunk_bytes_max_;
  const CommitVersion version_;
  /// So many that a chunk fills most of one run.
  std::atomic<std::size_t> chunk_bytes_;
  std::atomic<std::uint64_t> written_bytes_{0};

  // Of the thread that adds.
  Chunk filling_;
  std::string last_key_;
  bool any_ = false;

  // Of the thread whose turn it is, and when all have ended, of the one that adds.
  SortedFiles files_;

  io::Mutex mutex_;
  io::Condition changed_;
  std::deque<Chunk> waiting_ VARVE_GUARDED_BY(mutex_);
  std::vector<Chunk> empty_ VARVE_GUARDED_BY(mutex_);                   // their memory is used again
  std::uint64_t taken_ VARVE_GUARDED_BY(mutex_) = 0;                    // chunks
  std::uint64_t turn_ VARVE_GUARDED_BY(mutex_) = 0;                     // the chunk that is appended now, or next
  std::optional<format::TableOptions> apart_ VARVE_GUARDED_BY(mutex_);  // never changes once it is there
  std::vector<format::TableFileEntry> ended_ VARVE_GUARDED_BY(mutex_);  // in any order
  std::size_t full_files_ VARVE_GUARDED_BY(mutex_) = 0;                 // those in ended_, and on their way there
  Status failure_ VARVE_GUARDED_BY(mutex_);                             // the first one
  bool no_more_ VARVE_GUARDED_BY(mutex_) = false;
  bool given_up_ VARVE_GUARDED_BY(mutex_) = false;
  /// One for each thread. They outlive the threads: whoever destroys this removes the files in them, since a thread
  /// without memory cannot.
  std::vector<Work> works_;
  std::vector<io::Thread> threads_;
};

}  // namespace varve::engine
