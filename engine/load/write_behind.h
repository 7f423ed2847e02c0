// Owns: the thread that makes table files of sorted entries while the thread that loads prepares what comes next.
// Must never: let entries pass each other, or keep more of them waiting than a few chunks.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/result.h"
#include "engine/load/load_options.h"
#include "engine/load/sorted_files.h"
#include "io/scheduler.h"

namespace varve::engine {

/// Puts of one version, in the order of their keys. One thread at a time; after an error nothing but destruction is
/// allowed.
class WriteBehind {
 public:
  /// Starts the thread. What `sink` refers to outlives this. Errors: those of Scheduler::start.
  static Result<std::unique_ptr<WriteBehind>> start(const TableSink& sink, const format::TableOptions& table,
                                                    const LoadOptions& options, CommitVersion version);
  /// Ends the thread, and removes what was not taken.
  ~WriteBehind();
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  /// As SortedFiles::compare_with_last(): of the last key added, written or not.
  int compare_with_last(std::string_view key) const noexcept { return std::string_view(last_key_).compare(key); }
  /// The key is not below the last one (asserted). Waits where the thread is far behind.
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

  WriteBehind(const TableSink& sink, const format::TableOptions& table, const LoadOptions& options,
              CommitVersion version);
  void run() noexcept;
  Status write(const Chunk& chunk) noexcept;
  Status hand_over() VARVE_EXCLUDES(mutex_);
  void end() noexcept VARVE_EXCLUDES(mutex_);

  // Of the thread that adds.
  const std::size_t chunk_bytes_;
  Chunk filling_;
  std::string last_key_;
  bool any_ = false;

  // Of the other one, and when it has ended, of the first again.
  SortedFiles files_;
  const CommitVersion version_;
  std::atomic<std::uint64_t> written_bytes_{0};

  io::Mutex mutex_;
  io::Condition changed_;
  std::deque<Chunk> waiting_ VARVE_GUARDED_BY(mutex_);
  std::vector<Chunk> empty_ VARVE_GUARDED_BY(mutex_);  // their memory is used again
  Status failure_ VARVE_GUARDED_BY(mutex_);
  bool ending_ VARVE_GUARDED_BY(mutex_) = false;
  io::Thread thread_;
};

}  // namespace varve::engine
