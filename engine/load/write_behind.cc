// Owns: the queue between the loading thread and the writing threads, and the turns of the latter (write_behind.h).
// Must never: write after an error, or fail to end a turn, which would block all later turns.
#include "engine/load/write_behind.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

namespace varve::engine {

namespace {

/// Number of blocks that a chunk should fill. It is below a run's limit, because a chunk slightly above the limit would
/// leave a tiny run.
constexpr std::uint64_t kBlocksOfChunk = format::kRunBlocksMax - format::kRunBlocksMax / 8;
/// The smallest and the first chunk, as inverse shares of the largest.
constexpr std::size_t kChunkShareMin = 8;
constexpr std::size_t kChunkShareFirst = 4;

}  // namespace

WriteBehind::WriteBehind(const TableSink& sink, const format::TableOptions& table, const LoadOptions& options,
                         CommitVersion version)
    : sink_(sink),
      chunk_bytes_max_(options.chunk_bytes_max),
      version_(version),
      chunk_bytes_(options.chunk_bytes_max / kChunkShareFirst),
      files_(sink, table, options.file_bytes),
      mutex_(sink.env.scheduler),
      changed_(sink.env.scheduler),
      apart_(files_.settled()) {
  assert(options.write_threads > 0);
  empty_.reserve(kWaitingMax + options.write_threads);
  works_.resize(options.write_threads);
  threads_.reserve(options.write_threads);
}

Result<std::unique_ptr<WriteBehind>> WriteBehind::start(const TableSink& sink, const format::TableOptions& table,
                                                        const LoadOptions& options, CommitVersion version) {
  std::unique_ptr<WriteBehind> made(new WriteBehind(sink, table, options, version));
  for (Work& work : made->works_) {
    Result<io::Thread> thread =
        sink.env.scheduler.start("varve-load", [behind = made.get(), &work] { behind->run(work); });
    if (!thread.ok()) return thread.status();
    made->threads_.push_back(*std::move(thread));
  }
  return made;
}

WriteBehind::~WriteBehind() {
  {
    const io::MutexGuard guard(mutex_);
    given_up_ = true;
    waiting_.clear();  // No caller will take the files.
  }
  end();
  const io::MutexGuard guard(mutex_);
  sink_.tables.discard(ended_);
}

void WriteBehind::end() noexcept {
  {
    const io::MutexGuard guard(mutex_);
    no_more_ = true;
    changed_.notify_all();
  }
  for (io::Thread& thread : threads_) thread.join();
}

Status WriteBehind::add(std::string_view key, std::string_view value, Kind kind) {
  const int compared = any_ ? compare_with_last(key) : -1;
  assert(compared <= 0);
  if (compared == 0) return given_twice(key);
  assert(key.size() <= UINT32_MAX);
  filling_.bytes.append(key).append(value);
  filling_.entries.push_back({static_cast<std::uint32_t>(key.size()), ValueSize(value.size(), kind)});
  last_key_.assign(key);
  any_ = true;
  return filling_.bytes.size() < chunk_bytes_.load(std::memory_order_relaxed) ? Status() : hand_over();
}

Status WriteBehind::hand_over() {
  const io::MutexGuard guard(mutex_);
  while (waiting_.size() >= kWaitingMax && failure_.ok()) changed_.wait(mutex_);
  if (!failure_.ok()) return failure_;
  if (filling_.entries.empty()) return Status();
  waiting_.push_back(std::exchange(filling_, Chunk()));
  changed_.notify_all();
  if (empty_.empty()) return Status();
  filling_ = std::move(empty_.back());
  empty_.pop_back();
  return Status();
}

Result<std::vector<format::TableFileEntry>> WriteBehind::finish() {
  Status handed = hand_over();
  end();
  if (!handed.ok()) return handed;
  {
    const io::MutexGuard guard(mutex_);
    if (!failure_.ok()) return failure_;
    files_.take(ended_);
  }
  const std::uint64_t written_before = files_.written_bytes();
  Result<std::vector<format::TableFileEntry>> files = files_.finish();
  count_written(files_.written_bytes() - written_before);
  return files;
}

void WriteBehind::run(Work& work) noexcept {
  while (take(work)) {
    Status done = make_runs(work);
    if (wait_for_turn(work) && done.ok()) done = append(work);
    const bool goes_on = done.ok();
    end_turn(work, std::move(done));
    if (!goes_on) return;
    if (Status ended = end_full_files(work); !ended.ok()) {
      const io::MutexGuard guard(mutex_);
      fail(std::move(ended));
      return;
    }
    give_back(work);
  }
}

/// Returns false if there is no more work.
bool WriteBehind::take(Work& work) {
  const io::MutexGuard guard(mutex_);
  while (waiting_.empty() && !no_more_ && failure_.ok()) changed_.wait(mutex_);
  if (waiting_.empty()) return false;
  work.chunk = std::move(waiting_.front());
  waiting_.pop_front();
  work.turn = taken_++;
  work.apart = apart_ ? &*apart_ : nullptr;
  changed_.notify_all();
  return true;
}

void WriteBehind::give_back(Work& work) noexcept {
  work.chunk.bytes.clear();
  work.chunk.entries.clear();
  if (work.maker) work.maker->clear();
  const io::MutexGuard guard(mutex_);
  if (empty_.size() < empty_.capacity()) empty_.push_back(std::move(work.chunk));
}

template <typename Visit>
Status WriteBehind::for_each_entry(const Chunk& chunk, Visit visit) const {
  std::string_view rest = chunk.bytes;
  for (const Chunk::Sizes& sizes : chunk.entries) {
    const std::string_view key = rest.substr(0, sizes.key);
    const std::string_view value = rest.substr(sizes.key, sizes.value.bytes());
    if (Status visited = visit({key, version_, sizes.value.kind(), value}); !visited.ok()) return visited;
    rest.remove_prefix(std::size_t{sizes.key} + sizes.value.bytes());
  }
  return Status();
}

Status WriteBehind::make_runs(Work& work) noexcept {
  if (work.apart == nullptr) return Status();
  try {
    return make_runs_of(work);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Status WriteBehind::make_runs_of(Work& work) {
  if (!work.maker) {
    Result<std::unique_ptr<format::RunMaker>> made = format::RunMaker::make(*work.apart);
    if (!made.ok()) return made.status();
    work.maker = *std::move(made);
  }
  Status added = for_each_entry(work.chunk, [&](const Entry& entry) {
    return work.maker->add({entry.sort_key, entry.version, entry.kind, entry.value});
  });
  if (!added.ok()) return added;
  work.maker->finish();
  choose_chunk_bytes(work);
  return Status();
}

/// Assumes that the next chunk compresses like this one.
void WriteBehind::choose_chunk_bytes(const Work& work) noexcept {
  std::uint64_t blocks = 0;
  for (const format::MadeRun& run : work.maker->runs()) blocks += run.entry.block_count;
  const std::uint64_t wanted = work.chunk.bytes.size() * kBlocksOfChunk / blocks;
  chunk_bytes_.store(std::clamp<std::uint64_t>(wanted, chunk_bytes_max_ / kChunkShareMin, chunk_bytes_max_),
                     std::memory_order_relaxed);
}

/// Returns false if the turn should end without any work.
bool WriteBehind::wait_for_turn(const Work& work) {
  const io::MutexGuard guard(mutex_);
  while (turn_ != work.turn) changed_.wait(mutex_);
  return failure_.ok() && !given_up_;
}

Status WriteBehind::append(Work& work) noexcept {
  const std::uint64_t written_before = files_.written_bytes();
  Status appended;
  try {
    appended = append_runs(work);
  } catch (const std::bad_alloc&) {
    appended = Status::out_of_memory();
  }
  count_written(files_.written_bytes() - written_before);
  return appended;
}

Status WriteBehind::append_runs(Work& work) {
  if (work.apart == nullptr) {
    Status added = for_each_entry(work.chunk, [&](const Entry& entry) { return files_.add(entry); });
    work.settled = files_.settled();
    return added;
  }
  for (const format::MadeRun& run : work.maker->runs()) {
    work.full.reserve(work.full.size() + 1);
    if (std::unique_ptr<TableWriter> full = files_.cut()) work.full.push_back(std::move(full));
    if (Status appended = files_.append(*work.maker, run); !appended.ok()) return appended;
  }
  return Status();
}

void WriteBehind::end_turn(Work& work, Status appended) noexcept {
  const io::MutexGuard guard(mutex_);
  if (!apart_ && work.settled) apart_ = std::move(work.settled);
  if (!appended.ok()) fail(std::move(appended));
  ++turn_;
  changed_.notify_all();
}

void WriteBehind::fail(Status status) noexcept {
  if (failure_.ok()) failure_ = std::move(status);
  waiting_.clear();
  changed_.notify_all();
}

Status WriteBehind::end_full_files(Work& work) noexcept {
  try {
    return end_each(work.full);
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
}

Status WriteBehind::end_each(std::vector<std::unique_ptr<TableWriter>>& files) {
  for (std::unique_ptr<TableWriter>& full : files) {
    {
      const io::MutexGuard guard(mutex_);
      ended_.reserve(++full_files_);  // First, so that a finished file is not lost for lack of memory.
    }
    Result<format::TableFileEntry> file = full->finish(0);
    if (!file.ok()) return file.status();
    full.reset();
    count_written(file->size_bytes);
    const io::MutexGuard guard(mutex_);
    ended_.push_back(*std::move(file));
  }
  files.clear();
  return Status();
}

}  // namespace varve::engine
