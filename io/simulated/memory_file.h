// Owns: the handles of an in-memory file system.
// Must never: keep bytes of its own. The bytes that a handle wrote are on the disk: cached, pending or in flight.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "io/file.h"
#include "io/file_system.h"
#include "io/posix/posix_handle.h"
#include "io/scheduler.h"
#include "io/simulated/memory_change.h"
#include "io/simulated/memory_state.h"

namespace varve::io {

/// The common part of the handles: a file, the directory in which it was opened, and its first failure.
class MemoryHandle {
 public:
  MemoryHandle(FileHold hold, std::shared_ptr<MemorySession> session, std::string_view name);

 protected:
  /// Errors: kLocked, the first failure of this handle, kFenced.
  Status check_writable(std::string_view call) const;
  /// Returns the description of a step on this file.
  Operation operation(OperationKind kind, SyncPoint point = {}) const noexcept;
  /// Makes earlier changes of this file durable, as a step that may fail.
  Status sync_as(OperationKind kind, SyncPoint point);
  Status no_space(std::string_view call, std::uint64_t offset) const;
  /// Called under the disk's lock. Errors: kFenced (the name is free or belongs to another file now).
  Status check_place(MemoryDisk::State& state, std::string_view call) const;

  FileHold hold_;
  const std::shared_ptr<MemorySession> session_;
  const std::string name_;
  HandleGuard guard_;
};

class MemoryWritableFile final : public WritableFile, private MemoryHandle {
 public:
  using MemoryHandle::MemoryHandle;
  Status append(std::span<const std::byte> bytes) override;
  Status sync(SyncPoint point) override;
  std::uint64_t size_bytes() const noexcept override { return size_bytes_; }

 private:
  Status append_once(std::span<const std::byte> bytes);

  std::uint64_t size_bytes_ = 0;
};

class MemoryReadableFile final : public ReadableFile, private MemoryHandle {
 public:
  MemoryReadableFile(FileHold hold, std::shared_ptr<MemorySession> session, std::string_view name, ReadMode mode);
  std::uint64_t size_bytes() const noexcept override { return size_bytes_; }
  FileKey key() const noexcept override { return {0, hold_.id()}; }
  Status read_exactly(std::uint64_t offset, std::span<std::byte> bytes) const override;

 private:
  const ReadMode mode_;
  const std::uint64_t size_bytes_;
};

class MemoryLogSegment final : public LogSegment, private MemoryHandle {
 public:
  MemoryLogSegment(FileHold hold, std::shared_ptr<MemorySession> session, std::string_view name, std::uint64_t bytes,
                   std::uint64_t prepared_bytes = kSectorBytes);
  std::uint64_t allocated_bytes() const noexcept override { return allocated_bytes_; }
  Status fill_to(std::uint64_t end) override;
  void stop_filling() noexcept override;
  std::uint64_t filled_bytes() const noexcept override { return filled_bytes_.load(std::memory_order_acquire); }
  std::uint64_t prepared_bytes() const noexcept override { return prepared_bytes_.load(std::memory_order_acquire); }
  Status write(std::uint64_t offset, std::span<const std::byte> bytes, SyncPoint point) override;
  Status cut(std::uint64_t size_bytes, SyncPoint point) override;

 private:
  Status pass_to(std::uint64_t end);
  Status write_once(std::uint64_t offset, std::span<const std::byte> bytes, SyncPoint point);
  Status cut_once(std::uint64_t size_bytes, SyncPoint point);

  const std::uint64_t allocated_bytes_;
  std::atomic<std::uint64_t> filled_bytes_{0};
  std::atomic<std::uint64_t> prepared_bytes_;
  std::atomic<bool> is_stopped_{false};
  Mutex fill_mutex_;
  Condition fill_ended_;
  bool is_filling_ VARVE_GUARDED_BY(fill_mutex_) = false;
};

class MemorySharedMemory final : public SharedMemory, private MemoryHandle {
 public:
  MemorySharedMemory(FileHold hold, std::shared_ptr<MemorySession> session, std::string_view name);
  ~MemorySharedMemory() override;
  std::span<std::byte> bytes() noexcept override;
  /// The file always contains all of the memory.
  Status keep(std::size_t /*offset*/, std::size_t /*size_bytes*/) noexcept override { return Status(); }
  Status check() noexcept override { return Status(); }

 private:
  std::shared_ptr<SharedPages> pages_;
};

}  // namespace varve::io
