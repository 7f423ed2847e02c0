// Owns: a file system that wraps a real one and kills the process at the n-th step of mutating calls. A step is before
// a call, after it, or in the middle of a write.
// Must never: change the effect of a call.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "io/file_system.h"

namespace varve::lab {

/// Counts steps, and kills the process (SIGKILL) at the last step. Can be used by any thread.
class KillCount {
 public:
  static constexpr std::uint64_t kNever = UINT64_MAX;
  explicit KillCount(std::uint64_t steps) noexcept : left_(steps) {}
  /// Counts one step. Does not return from the last one.
  void step() noexcept;
  std::uint64_t steps_taken() const noexcept { return taken_.load(); }

 private:
  std::atomic<std::uint64_t> left_;
  std::atomic<std::uint64_t> taken_{0};
};

/// `files` and `count` must outlive this object and everything that it creates.
class KillingFileSystem final : public io::FileSystem {
 public:
  KillingFileSystem(io::FileSystem& files, KillCount& count) noexcept : files_(files), count_(count) {}
  std::string_view name() const noexcept override { return files_.name(); }
  Result<std::unique_ptr<io::Directory>> open_directory(std::string_view path) override;
  Status create_directory(std::string_view path, io::SyncPoint point) override;
  Result<std::unique_ptr<io::ReadQueue>> make_read_queue(io::Scheduler& scheduler, std::size_t depth) override {
    return files_.make_read_queue(scheduler, depth);
  }

 private:
  io::FileSystem& files_;
  KillCount& count_;
};

}  // namespace varve::lab
