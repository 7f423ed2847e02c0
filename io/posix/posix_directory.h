// Owns: one directory, used through plain system calls. Every name is relative to its descriptor.
// Must never: resolve the path again to access a file. A directory that was moved or replaced meanwhile remains the
// opened one. (posix_place.h compares the directory with its path, so that an owner learns of it.)
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_system.h"
#include "io/posix/posix_descriptor.h"
#include "io/posix/posix_handle.h"
#include "io/posix/posix_lock.h"
#include "io/posix/posix_place.h"

namespace varve::io {

/// Limit in bytes of a replaced file's content: replace() is for one small root file.
inline constexpr std::size_t kReplaceBytesMax = std::size_t{4} << 20;

class PosixDirectory final : public Directory {
 public:
  PosixDirectory(Descriptor descriptor, std::string path, OwnerProcess owner)
      : descriptor_(std::move(descriptor)),
        owner_(owner),
        place_(std::make_shared<const DirectoryPlace>(descriptor_.get(), path)),
        guard_(std::move(path), owner) {}

  std::string_view path() const noexcept override { return guard_.path(); }
  Result<std::vector<DirectoryEntry>> list() override { return list_entries(Sizes::kWanted); }
  Result<std::vector<DirectoryEntry>> list_names() override { return list_entries(Sizes::kNotWanted); }
  Result<std::unique_ptr<WritableFile>> create(std::string_view name) override;
  Result<std::unique_ptr<ReadableFile>> open(std::string_view name, ReadMode mode) override;
  Result<std::unique_ptr<LogSegment>> create_log_segment(std::string_view name, std::uint64_t bytes) override;
  Result<std::unique_ptr<LogSegment>> recycle_log_segment(std::string_view from, std::string_view to,
                                                          std::uint64_t bytes) override;
  Result<std::unique_ptr<SharedMemory>> create_shared_memory(std::string_view name, std::uint64_t bytes) override;

  /// Writes `name`.tmp and renames it. Errors besides those of the interface: kInvalidArgument (content empty or above
  /// kReplaceBytesMax); nothing is changed.
  Status replace(std::string_view name, std::span<const std::byte> expected, std::span<const std::byte> content,
                 SyncPoint point) override;
  Status link(std::string_view name, Directory& into) override;
  Status remove(std::string_view name) override;
  /// After a failed sync, including one inside replace(), every later sync returns the same error. This handle can then
  /// no longer find out whether earlier names are durable.
  Status sync(SyncPoint point) override;
  Result<std::unique_ptr<DirectoryLock>> lock(std::string_view name, LockMode mode,
                                              std::chrono::milliseconds wait_max) override;
  Status confirm_owner() override;
  Status set_ballast(std::string_view name, std::uint64_t bytes) override;

 private:
  /// A file of this directory. It owns the strings that FileAt refers to.
  struct Target {
    std::string name;
    std::string path;
  };
  enum class Access : std::uint8_t { kRead, kWrite };
  enum class Sizes : std::uint8_t { kWanted, kNotWanted };

  /// Checks the name and, for kWrite, the process. Errors: kInvalidArgument, kLocked.
  Result<Target> target(std::string_view call, std::string_view name, Access access) const;
  FileAt at(const Target& target) const noexcept { return {descriptor_.get(), target.name, target.path}; }

  Result<std::vector<DirectoryEntry>> list_entries(Sizes sizes) const;
  static Status cannot_link(const Target& target, std::string_view why);
  Status check_content(const Target& target, std::span<const std::byte> expected) const;
  Status write_temporary(const Target& temporary, std::span<const std::byte> content, SyncPoint point) const;

  Descriptor descriptor_;
  const OwnerProcess owner_;
  const std::shared_ptr<const DirectoryPlace> place_;
  std::weak_ptr<HeldLock> held_;  // The last exclusive lock taken through this handle.
  HandleGuard guard_;             // Remembers a failed directory sync. Other functions check only the process.
};

}  // namespace varve::io
