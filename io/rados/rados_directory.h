// Owns: one open directory of a store of objects.
// Must never: change a store that this handle has not locked.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_system.h"
#include "io/rados/rados_root.h"

namespace varve::io {

/// Functions that change something return kLocked, unless lock() was called through this handle.
class RadosDirectory final : public Directory {
 public:
  explicit RadosDirectory(std::shared_ptr<RadosRoot> root) noexcept : root_(std::move(root)) {}

  std::string_view path() const noexcept override { return root_->path(); }
  Result<std::vector<DirectoryEntry>> list() override;
  Result<std::unique_ptr<WritableFile>> create(std::string_view name) override;
  Result<std::unique_ptr<ReadableFile>> open(std::string_view name, ReadMode mode) override;
  Result<std::unique_ptr<LogSegment>> create_log_segment(std::string_view name, std::uint64_t bytes) override;
  Result<std::unique_ptr<SharedMemory>> create_shared_memory(std::string_view name, std::uint64_t bytes) override;
  Status replace(std::string_view name, std::span<const std::byte> expected, std::span<const std::byte> content,
                 SyncPoint point) override;
  Status link(std::string_view name, Directory& into) override;
  Status remove(std::string_view name) override;
  Status sync(SyncPoint point) override;
  /// The lock is the ownership of the root; `name` is the name of no file. A reader needs the ownership as well: a writer
  /// beside it would remove files that it reads.
  Result<std::unique_ptr<DirectoryLock>> lock(std::string_view name, LockMode mode,
                                              std::chrono::milliseconds wait_max) override;
  Status confirm_owner() override { return root_->confirm(); }
  /// Holds no space, since a cluster cannot set any aside: see RadosRoot::set_ballast().
  Status set_ballast(std::string_view name, std::uint64_t bytes) override;

 private:
  Status check_expected(std::string_view name, std::span<const std::byte> expected, const FailedCall& call);

  const std::shared_ptr<RadosRoot> root_;
};

}  // namespace varve::io
