// Owns: filling a memtable by two threads, in no order: what is added is inserted by another thread, and by the one
// that adds where that is behind.
// Must never: make the filling depend on the other thread: where there is none, it takes longer.
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

/// Of one thread, but for the other one within.
class InsertBehind {
 public:
  /// Both outlive it. Little is inserted by the thread that adds, and no other one is started.
  InsertBehind(io::Scheduler& scheduler, Memtable& memtable) noexcept
      : scheduler_(scheduler), memtable_(memtable), mutex_(scheduler), changed_(scheduler) {}
  /// What was not waited for may be left out.
  ~InsertBehind();
  InsertBehind(const InsertBehind&) = delete;
  InsertBehind& operator=(const InsertBehind&) = delete;

  /// As Memtable::insert(), by the end of the next wait(). Until then the batch stays where it is. Throws
  /// std::bad_alloc; then nothing was added.
  void add(const Memtable::Reservation& room, std::string_view batch, CommitVersion version);
  /// Everything added is in the memtable when it returns.
  void wait() noexcept VARVE_EXCLUDES(mutex_);

  /// So much is handed over at once.
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
  void start();
  /// Empties the chunk.
  void insert(Chunk& chunk) noexcept;
  bool take(Chunk& chunk) noexcept VARVE_REQUIRES(mutex_);
  void run() noexcept VARVE_EXCLUDES(mutex_);

  io::Scheduler& scheduler_;
  Memtable& memtable_;

  // Of the thread that adds.
  Chunk filling_;
  std::size_t filling_bytes_ = 0;
  bool was_started_ = false;  // or was to be
  bool has_thread_ = false;

  io::Mutex mutex_;
  io::Condition changed_;
  // The first waiting_count_ wait; the memory of the others is used again.
  std::array<Chunk, kWaitingMax> chunks_ VARVE_GUARDED_BY(mutex_);
  std::size_t waiting_count_ VARVE_GUARDED_BY(mutex_) = 0;
  bool is_inserting_ VARVE_GUARDED_BY(mutex_) = false;
  bool ending_ VARVE_GUARDED_BY(mutex_) = false;
  io::Thread thread_;
};

}  // namespace varve::engine
