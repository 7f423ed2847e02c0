// Owns: filling a memtable with several threads, in no order. The other threads insert the batches; the adding thread
// helps when they all fall back.
// Must never: depend on the other threads: without them, filling only takes longer.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "engine/base/file_scale.h"
#include "engine/memory/memtable.h"
#include "io/scheduler.h"
#include "io/thread_annotations.h"

namespace varve::engine {

/// One thread uses it; the others are internal.
class InsertBehind {
 public:
  /// `scheduler` and `memtable` outlive it. Fewer than kChunkBytes are inserted by the calling thread; then no thread
  /// is started.
  InsertBehind(io::Scheduler& scheduler, Memtable& memtable) noexcept
      : scheduler_(scheduler), memtable_(memtable), mutex_(scheduler), changed_(scheduler) {}
  /// Drops batches that no wait() has covered yet.
  ~InsertBehind();
  InsertBehind(const InsertBehind&) = delete;
  InsertBehind& operator=(const InsertBehind&) = delete;

  /// Inserts like Memtable::insert(), by the end of the next wait() at the latest. The bytes of `batch` must stay in
  /// place until then. Throws std::bad_alloc; then nothing was added.
  void add(const Memtable::Reservation& room, std::string_view batch, CommitVersion version);
  /// Waits until everything added is in the memtable.
  void wait() noexcept VARVE_EXCLUDES(mutex_);

  /// Number of internal threads. The first one starts with the first chunk, and each further one when all chunks wait.
  static constexpr std::size_t kThreadsMax = 3;
  /// Bytes that add() gathers before it hands them over together.
  static constexpr std::size_t kChunkBytes = (std::size_t{256} << 10) / kFileScale;

 private:
  static constexpr std::size_t kWaitingMax = 4;

  struct Commit {
    Memtable::Reservation room;
    std::string_view batch;
    CommitVersion version = 0;
  };
  using Chunk = std::vector<Commit>;

  void hand_over() VARVE_EXCLUDES(mutex_);
  bool try_hand_over() VARVE_EXCLUDES(mutex_);
  /// Starts another thread. Returns false if there are enough, or the system has none to give.
  bool start();
  /// Inserts the chunk's commits and empties the chunk.
  void insert(Chunk& chunk) noexcept;
  bool take(Chunk& chunk) noexcept VARVE_REQUIRES(mutex_);
  void run() noexcept VARVE_EXCLUDES(mutex_);

  io::Scheduler& scheduler_;
  Memtable& memtable_;

  // Fields of the thread that adds.
  Chunk filling_;
  std::size_t filling_bytes_ = 0;
  std::size_t thread_count_ = 0;
  bool was_refused_ = false;

  io::Mutex mutex_;
  io::Condition changed_;
  // The first waiting_count_ chunks wait to be inserted. The others are empty and keep their memory for reuse.
  std::array<Chunk, kWaitingMax> chunks_ VARVE_GUARDED_BY(mutex_);
  std::size_t waiting_count_ VARVE_GUARDED_BY(mutex_) = 0;
  std::size_t inserting_count_ VARVE_GUARDED_BY(mutex_) = 0;
  bool ending_ VARVE_GUARDED_BY(mutex_) = false;
  std::array<io::Thread, kThreadsMax> threads_;
};

}  // namespace varve::engine
