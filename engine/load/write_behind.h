// Owns: the threads that make table files from sorted entries while the loading thread prepares the next entries.
// Must never: reorder entries, or keep more than a few chunks of them waiting.
//
// Making blocks costs several times as much as producing their entries, mostly for zstd. A run does not depend on the
// rest of its file. So each thread makes the runs of its own chunk separately (format/table/run_maker.h). The threads
// append the runs to one row of files in turn, which costs little more than the write. If the threads made whole files
// in turn, two busy threads would need the entries of a whole file in memory. A full file is finished, synced and read
// back outside the turn, while the next file is being made.
//
// Until the row has learned its dictionary, within the first run, chunks are added to it one after another.
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
#include "engine/load/value_size.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::engine {

/// Writes puts of one table and version, in the order of their keys. One thread at a time may use it. After an error,
/// only destruction is allowed.
class WriteBehind {
 public:
  /// Starts the threads. The objects that `sink` refers to must outlive this object. Errors: those of
  /// Scheduler::start().
  static Result<std::unique_ptr<WriteBehind>> start(const TableSink& sink, const format::TableOptions& table,
                                                    const LoadOptions& options, CommitVersion version);
  /// Ends the threads, and removes the files that were not taken.
  ~WriteBehind();
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  /// Like SortedFiles::compare_with_last(), for the last added key, written or not.
  int compare_with_last(std::string_view key) const noexcept { return std::string_view(last_key_).compare(key); }
  /// Adds a put whose key is not below the last one (asserted). The value of a kPutExpiring begins with its end. Waits
  /// if the threads have too many chunks.
  /// Errors: those of SortedFiles::add(); also the error of an earlier entry, found meanwhile.
  Status add(std::string_view key, std::string_view value, Kind kind = Kind::kPut);

  /// Waits until everything is written. Returns the result of SortedFiles::finish(). The caller calls it once.
  Result<std::vector<format::TableFileEntry>> finish();

  /// Returns the approximate number of bytes of the finished files.
  std::uint64_t written_bytes() const noexcept { return written_bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kWaitingMax = 2;

  struct Chunk {
    struct Sizes {
      std::uint32_t key = 0;
      ValueSize value;
    };
    std::string bytes;  // keys and values, without gaps
    std::vector<Sizes> entries;
  };
  /// The present work of one thread.
  struct Work {
    Chunk chunk;
    std::uint64_t turn = 0;
    /// Null while the row learns: the chunk is then added entry by entry.
    const format::TableOptions* apart = nullptr;
    std::unique_ptr<format::RunMaker> maker;
    /// Set if the row learned its options with this chunk.
    std::optional<format::TableOptions> settled;
    /// Files that became full in this turn, to be finished after it.
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
  /// Chosen so that a chunk fills most of one run.
  std::atomic<std::size_t> chunk_bytes_;
  std::atomic<std::uint64_t> written_bytes_{0};

  // Used by the adding thread:
  Chunk filling_;
  std::string last_key_;
  bool any_ = false;

  // Used by the thread that has the turn and, after all threads have ended, by the adding thread.
  SortedFiles files_;

  io::Mutex mutex_;
  io::Condition changed_;
  std::deque<Chunk> waiting_ VARVE_GUARDED_BY(mutex_);
  std::vector<Chunk> empty_ VARVE_GUARDED_BY(mutex_);                   // for reuse of their memory
  std::uint64_t taken_ VARVE_GUARDED_BY(mutex_) = 0;                    // number of chunks taken
  std::uint64_t turn_ VARVE_GUARDED_BY(mutex_) = 0;                     // number of the chunk appended now or next
  std::optional<format::TableOptions> apart_ VARVE_GUARDED_BY(mutex_);  // never changes once set
  std::vector<format::TableFileEntry> ended_ VARVE_GUARDED_BY(mutex_);  // in any order
  std::size_t full_files_ VARVE_GUARDED_BY(mutex_) = 0;                 // files in ended_, and files being finished
  Status failure_ VARVE_GUARDED_BY(mutex_);                             // the first failure
  bool no_more_ VARVE_GUARDED_BY(mutex_) = false;
  bool given_up_ VARVE_GUARDED_BY(mutex_) = false;
  /// One for each thread. They outlive the threads: the destructor removes the files in them, because a thread without
  /// memory cannot.
  std::vector<Work> works_;
  std::vector<io::Thread> threads_;
};

}  // namespace varve::engine
