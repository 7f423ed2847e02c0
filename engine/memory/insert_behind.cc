// Owns: the hand-over between the threads (insert_behind.h).
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
  for (io::Thread& thread : threads_) thread.join();
}

void InsertBehind::add(const Memtable::Reservation& room, std::string_view batch, CommitVersion version) {
  filling_.push_back({room, batch, version});
  filling_bytes_ += sizeof(Commit) + batch.size();
  if (filling_bytes_ >= kChunkBytes) hand_over();
}

void InsertBehind::hand_over() {
  if (thread_count_ == 0) (void)start();
  // If all chunks wait, the threads have fallen back, and another one starts.
  if (!try_hand_over() && !(start() && try_hand_over())) insert(filling_);
  filling_bytes_ = 0;
}

bool InsertBehind::try_hand_over() {
  if (thread_count_ == 0) return false;
  const io::MutexGuard guard(mutex_);
  if (waiting_count_ == kWaitingMax) return false;
  std::swap(chunks_[waiting_count_++], filling_);
  changed_.notify_all();
  return true;
}

/// A store must open even if the system has no thread to give.
bool InsertBehind::start() {
  if (was_refused_ || thread_count_ == kThreadsMax) return false;
  Result<io::Thread> thread = scheduler_.start("varve-replay", [this] { run(); });
  was_refused_ = !thread.ok();
  if (was_refused_) return false;
  threads_[thread_count_++] = *std::move(thread);
  return true;
}

void InsertBehind::wait() noexcept {
  insert(filling_);
  filling_bytes_ = 0;
  for (;;) {
    {
      const io::MutexGuard guard(mutex_);
      while (waiting_count_ == 0 && inserting_count_ > 0) changed_.wait(mutex_);
      if (!take(filling_)) return;
    }
    insert(filling_);
  }
}

void InsertBehind::run() noexcept {
  Chunk chunk;
  mutex_.lock();
  for (;;) {
    while (waiting_count_ == 0 && !ending_) changed_.wait(mutex_);
    if (!take(chunk)) break;
    ++inserting_count_;
    mutex_.unlock();
    insert(chunk);
    mutex_.lock();
    --inserting_count_;
    changed_.notify_all();
  }
  mutex_.unlock();
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
