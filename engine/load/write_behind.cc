// Owns: the hand-over between the two threads (write_behind.h).
// Must never: write on behind an error.
#include "engine/load/write_behind.h"

#include <cassert>
#include <new>
#include <utility>

namespace varve::engine {

WriteBehind::WriteBehind(const TableSink& sink, const format::TableOptions& table, const LoadOptions& options,
                         CommitVersion version)
    : chunk_bytes_(options.chunk_bytes),
      files_(sink, table, options.file_bytes),
      version_(version),
      mutex_(sink.env.scheduler),
      changed_(sink.env.scheduler) {
  empty_.reserve(kWaitingMax + 1);
}

Result<std::unique_ptr<WriteBehind>> WriteBehind::start(const TableSink& sink, const format::TableOptions& table,
                                                        const LoadOptions& options, CommitVersion version) {
  std::unique_ptr<WriteBehind> made(new WriteBehind(sink, table, options, version));
  Result<io::Thread> thread = sink.env.scheduler.start("varve-load", [behind = made.get()] { behind->run(); });
  if (!thread.ok()) return thread.status();
  made->thread_ = *std::move(thread);
  return made;
}

WriteBehind::~WriteBehind() {
  {
    const io::MutexGuard guard(mutex_);
    waiting_.clear();  // Nobody will have the files.
  }
  end();
}

void WriteBehind::end() noexcept {
  {
    const io::MutexGuard guard(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

Status WriteBehind::add(std::string_view key, std::string_view value) {
  const int compared = any_ ? compare_with_last(key) : -1;
  assert(compared <= 0);
  if (compared == 0) return given_twice(key);
  assert(key.size() <= UINT32_MAX && value.size() <= UINT32_MAX);
  filling_.bytes.append(key).append(value);
  filling_.entries.push_back({static_cast<std::uint32_t>(key.size()), static_cast<std::uint32_t>(value.size())});
  last_key_.assign(key);
  any_ = true;
  return filling_.bytes.size() < chunk_bytes_ ? Status() : hand_over();
}

Status WriteBehind::hand_over() {
  const io::MutexGuard guard(mutex_);
  while (waiting_.size() >= kWaitingMax && failure_.ok()) changed_.wait(mutex_);
  if (!failure_.ok()) return failure_;
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
  }
  Result<std::vector<format::TableFileEntry>> files = files_.finish();
  written_bytes_.store(files_.written_bytes(), std::memory_order_relaxed);
  return files;
}

void WriteBehind::run() noexcept {
  Chunk chunk;
  for (;;) {
    {
      const io::MutexGuard guard(mutex_);
      while (waiting_.empty() && !ending_) changed_.wait(mutex_);
      if (waiting_.empty()) return;
      chunk = std::move(waiting_.front());
      waiting_.pop_front();
      changed_.notify_all();
    }
    Status written = write(chunk);
    chunk.bytes.clear();
    chunk.entries.clear();
    const io::MutexGuard guard(mutex_);
    if (!written.ok()) {
      failure_ = std::move(written);
      waiting_.clear();
      changed_.notify_all();
      return;
    }
    if (empty_.size() < empty_.capacity()) empty_.push_back(std::move(chunk));
  }
}

Status WriteBehind::write(const Chunk& chunk) noexcept {
  try {
    std::string_view rest = chunk.bytes;
    for (const Chunk::Sizes& sizes : chunk.entries) {
      const std::string_view key = rest.substr(0, sizes.key);
      const std::string_view value = rest.substr(sizes.key, sizes.value);
      if (Status added = files_.add({key, version_, Kind::kPut, value}); !added.ok()) return added;
      rest.remove_prefix(std::size_t{sizes.key} + sizes.value);
    }
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
  written_bytes_.store(files_.written_bytes(), std::memory_order_relaxed);
  return Status();
}

}  // namespace varve::engine
