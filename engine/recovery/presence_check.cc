// Owns: dividing a check among threads, and the order of their results (presence_check.h).
// Must never: fail because a thread was refused.
#include "engine/recovery/presence_check.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "io/os_error.h"

namespace varve::engine {

namespace {

/// Number of files for each helper. Starting a thread takes as long as checking a few files of a cached directory.
constexpr std::size_t kFilesForHelper = 32;
/// Limit of the helpers. A slow device serves this many at once; a fast device leaves no work for more.
constexpr std::size_t kHelpersMax = 7;

Status look_at(io::Directory& directory, const WrittenFile& wanted) {
  const NamedFile name = format::named_file(wanted.id.type, wanted.id.number);
  const Result<std::unique_ptr<io::ReadableFile>> file = directory.open(name, io::ReadMode::kCached);
  if (io::is_missing(file.status())) {
    return Status::corruption("the " + std::string(wanted.thing) + " that the manifest names is missing").in_file(name);
  }
  if (!file.ok()) return file.status();
  if ((*file)->size_bytes() == wanted.size_bytes) return Status();
  return Status::corruption("has " + std::to_string((*file)->size_bytes()) + " bytes, but the manifest records " +
                            std::to_string(wanted.size_bytes))
      .in_file(name);
}

/// Finds the first bad file. Each thread repeatedly takes the next file.
class Check {
 public:
  Check(io::Directory& directory, std::span<const WrittenFile> files) noexcept
      : directory_(directory), files_(files), first_bad_(files.size()) {}

  /// Any thread may call it. Files after a bad file are skipped; all files before it are checked.
  void run() noexcept {
    for (;;) {
      const std::size_t at = next_.fetch_add(1, std::memory_order_relaxed);
      if (at >= first_bad_.load(std::memory_order_relaxed)) return;
      if (is_good(at)) continue;
      std::size_t bad = first_bad_.load(std::memory_order_relaxed);
      while (at < bad && !first_bad_.compare_exchange_weak(bad, at, std::memory_order_relaxed)) continue;
    }
  }
  /// Returns the number of files before the first bad one. Call it after all threads have ended.
  std::size_t good_count() const noexcept { return first_bad_.load(std::memory_order_relaxed); }

 private:
  bool is_good(std::size_t at) const noexcept {
    try {
      return look_at(directory_, files_[at]).ok();
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  io::Directory& directory_;
  const std::span<const WrittenFile> files_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> first_bad_;
};

/// Returns the number of leading files that are known to be good.
std::size_t count_good(const io::Env& env, io::Directory& directory, std::span<const WrittenFile> files) {
  const std::size_t helpers = std::min(files.size() / kFilesForHelper, kHelpersMax);
  if (helpers == 0) return 0;
  Check check(directory, files);
  std::vector<io::Thread> threads;
  threads.reserve(helpers);
  while (threads.size() < helpers) {
    Result<io::Thread> thread = env.scheduler.start("varve-look", [&check] { check.run(); });
    if (!thread.ok()) break;
    threads.push_back(*std::move(thread));
  }
  check.run();
  threads.clear();  // waits for them
  return check.good_count();
}

}  // namespace

// This thread alone checks the remaining files again, in order. The helpers may have failed for lack of descriptors or
// memory, which a single thread has.
Status check_presence(const io::Env& env, io::Directory& directory, std::span<const WrittenFile> files) {
  for (const WrittenFile& file : files.subspan(count_good(env, directory, files))) {
    if (Status there = look_at(directory, file); !there.ok()) return there;
  }
  return Status();
}

}  // namespace varve::engine
