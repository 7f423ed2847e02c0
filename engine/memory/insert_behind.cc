// Owns: the hand-over between the two threads (insert_behind.h).
// Must never: let the adding thread wait while there is a chunk to insert.
#include "engine/memory/insert_behind.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace varve::engine {

InsertBehind::~InsertBehind() {
  {
    const io::MutexGuard guard(mutex_);
    waiting_count_ = 0;  // The memtable will not be used.
    ending_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void InsertBehind::add(const Memtable::Reservation& room, std::string_view batch, CommitVersion version) {
  filling_.push_back({room, batch, version});
  filling_bytes_ += sizeof(Commit) + batch.size();
  if (filling_bytes_ >= kChunkBytes) hand_over();
}

void InsertBehind::hand_over() {
  if (!was_started_) start();
  if (has_thread_) {
    const io::MutexGuard guard(mutex_);
    if (waiting_count_ < kWaitingMax) {
      std::swap(chunks_[waiting_count_++], filling_);
      filling_bytes_ = 0;
      changed_.notify_all();
      return;
    }
  }
  insert(filling_);
  filling_bytes_ = 0;
}

/// Starts the second thread. A store must open even if the system has no thread to give.
void InsertBehind::start() {
  was_started_ = true;
  Result<io::Thread> thread = scheduler_.start("varve-replay", [this] { run(); });
  if (!thread.ok()) return;
  thread_ = *std::move(thread);
  has_thread_ = true;
}

void InsertBehind::wait() noexcept {
  insert(filling_);
  filling_bytes_ = 0;
  for (;;) {
    {
      const io::MutexGuard guard(mutex_);
      while (waiting_count_ == 0 && is_inserting_) changed_.wait(mutex_);
      if (!take(filling_)) return;
    }
    insert(filling_);
  }
}

void InsertBehind::run() noexcept {
  Chunk chunk;
  for (;;) {
    {
      const io::MutexGuard guard(mutex_);
      is_inserting_ = false;
      changed_.notify_all();
      while (waiting_count_ == 0 && !ending_) changed_.wait(mutex_);
      if (!take(chunk)) return;
      is_inserting_ = true;
    }
    insert(chunk);
  }
}

/// Takes a waiting chunk by swapping it with `chunk`, which is empty. The memory of `chunk` is reused by the array.
bool InsertBehind::take(Chunk& chunk) noexcept {
  if (waiting_count_ == 0) return false;
  std::swap(chunks_[--waiting_count_], chunk);
  return true;
}

void InsertBehind::insert(Chunk& chunk) noexcept {
  std::array<std::string_view, Memtable::kWaysMax> batches;
  for (std::span<const Commit> rest(chunk); !rest.empty();) {
    const std::span<const Commit> next = rest.first(std::min(rest.size(), batches.size()));
    std::transform(next.begin(), next.end(), batches.begin(), [](const Commit& commit) { return commit.batch; });
    memtable_.fetch_ways(std::span(batches).first(next.size()));
    for (const Commit& commit : next) memtable_.insert(commit.room, commit.batch, commit.version);
    rest = rest.subspan(next.size());
  }
  chunk.clear();
}

}  // namespace varve::engine
