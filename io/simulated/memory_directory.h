// Owns: one open directory of an in-memory file system.
// Must never: make a name durable, except in sync(), and replace()'s own name in replace().
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_system.h"
#include "io/posix/posix_handle.h"
#include "io/simulated/memory_change.h"
#include "io/simulated/memory_state.h"

namespace varve::io {

class MemoryDirectory final : public Directory {
 public:
  MemoryDirectory(std::shared_ptr<MemoryState> state, std::shared_ptr<MemorySession> session);

  std::string_view path() const noexcept override { return session_->path; }
  Result<std::vector<DirectoryEntry>> list() override;
  Result<std::unique_ptr<WritableFile>> create(std::string_view name) override;
  Result<std::unique_ptr<ReadableFile>> open(std::string_view name, ReadMode mode) override;
  Result<std::unique_ptr<LogSegment>> create_log_segment(std::string_view name, std::uint64_t bytes) override;
  Result<std::unique_ptr<LogSegment>> recycle_log_segment(std::string_view from, std::string_view to,
                                                          std::uint64_t bytes) override;
  Result<std::unique_ptr<SharedMemory>> create_shared_memory(std::string_view name, std::uint64_t bytes) override;
  Status replace(std::string_view name, std::span<const std::byte> expected, std::span<const std::byte> content,
                 SyncPoint point) override;
  Status link(std::string_view name, Directory& into) override;
  Status remove(std::string_view name) override;
  Status sync(SyncPoint point) override;
  Result<std::unique_ptr<DirectoryLock>> lock(std::string_view name, LockMode mode,
                                              std::chrono::milliseconds wait_max) override;
  Status confirm_owner() override;
  Status set_ballast(std::string_view name, std::uint64_t bytes) override;

 private:
  struct NewFile {
    std::uint64_t size_bytes = 0;      // the file reads as this many zeros
    std::uint64_t reserved_bytes = 0;  // and uses this much space
    std::shared_ptr<SharedPages> mapped;
  };

  Operation operation(OperationKind kind, std::string_view name, SyncPoint point = {}) const noexcept;
  Status check_writable(std::string_view call, std::string_view name) const;
  DirectoryState* find_directory(MemoryDisk::State& state) const;
  Status no_such_directory(std::string_view call) const;
  /// Returns the file with this name, or zero.
  FileId find_file(MemoryDisk::State& state, std::string_view name) const;
  /// Returns the number of names that the file has, in all directories.
  static std::size_t link_count(const MemoryDisk::State& state, FileId file);
  bool is_directory(const MemoryDisk::State& state, std::string_view name) const;

  /// Creates a file under a free name, as a step. The file is created and held, or nothing is changed.
  Result<FileHold> make(OperationKind kind, std::string_view name, const NewFile& wanted);

  Status check_content(std::string_view name, std::span<const std::byte> expected) const;
  /// The steps of replace(). If the first step fails, the temporary file is removed.
  Result<FileHold> write_temporary(const std::string& temporary, std::span<const std::byte> content, SyncPoint point);
  Status sync_temporary(const FileHold& file, std::string_view temporary, SyncPoint point);
  Status take_name(const FileHold& file, const std::string& temporary, std::string_view name, SyncPoint point);
  Status sync_name(std::string_view temporary, std::string_view name, SyncPoint point);
  void drop_temporary(const std::string& temporary);

  const std::shared_ptr<MemoryState> state_;
  const std::shared_ptr<MemorySession> session_;
  HandleGuard guard_;  // for sync()
};

}  // namespace varve::io
