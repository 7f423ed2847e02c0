// Owns: room for the other files of a store if descriptors are short: open table files are closed for them.
// Must never: repeat a call that may have changed something.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "engine/tables/open_files.h"
#include "io/file_system.h"

namespace varve::engine {

/// Wraps a directory. It repeats a call while the system refuses a descriptor and one can be given up. (kTooManyFiles
/// says that nothing has changed.)
class RoomDirectory final : public io::Directory {
 public:
  RoomDirectory(std::unique_ptr<io::Directory> directory, std::shared_ptr<OpenFiles> open_files) noexcept
      : directory_(std::move(directory)), open_files_(std::move(open_files)) {}

  std::string_view path() const noexcept override { return directory_->path(); }
  Result<std::vector<io::DirectoryEntry>> list() override {
    return with_room([&] { return directory_->list(); });
  }
  Result<std::vector<io::DirectoryEntry>> list_names() override {
    return with_room([&] { return directory_->list_names(); });
  }
  Result<std::unique_ptr<io::WritableFile>> create(std::string_view name) override {
    return with_room([&] { return directory_->create(name); });
  }
  Result<std::unique_ptr<io::ReadableFile>> open(std::string_view name, io::ReadMode mode) override {
    return with_room([&] { return directory_->open(name, mode); });
  }
  Result<std::unique_ptr<io::LogSegment>> create_log_segment(std::string_view name, std::uint64_t bytes) override {
    return with_room([&] { return directory_->create_log_segment(name, bytes); });
  }
  Result<std::unique_ptr<io::LogSegment>> recycle_log_segment(std::string_view from, std::string_view to,
                                                              std::uint64_t bytes) override {
    // A call that was refused for a descriptor has changed nothing.
    return with_room([&] { return directory_->recycle_log_segment(from, to, bytes); });
  }
  Result<std::unique_ptr<io::SharedMemory>> create_shared_memory(std::string_view name, std::uint64_t bytes) override {
    return with_room([&] { return directory_->create_shared_memory(name, bytes); });
  }
  Status replace(std::string_view name, std::span<const std::byte> expected, std::span<const std::byte> content,
                 io::SyncPoint point) override {
    return directory_->replace(name, expected, content, point);  // None of its errors says that nothing has changed.
  }
  Status link(std::string_view name, io::Directory& into) override {
    return directory_->link(name, into);  // takes no descriptor
  }
  Status remove(std::string_view name) override { return directory_->remove(name); }
  Status sync(io::SyncPoint point) override { return directory_->sync(point); }
  Result<std::unique_ptr<io::DirectoryLock>> lock(std::string_view name, io::LockMode mode,
                                                  std::chrono::milliseconds wait_max) override {
    return with_room([&] { return directory_->lock(name, mode, wait_max); });
  }
  Status confirm_owner() override {
    return with_room([&] { return directory_->confirm_owner(); });
  }
  Status set_ballast(std::string_view name, std::uint64_t bytes) override {
    return with_room([&] { return directory_->set_ballast(name, bytes); });
  }

 private:
  static const Status& status_of(const Status& status) noexcept { return status; }
  template <typename T>
  static const Status& status_of(const Result<T>& result) noexcept {
    return result.status();
  }

  template <typename Call>
  std::invoke_result_t<const Call&> with_room(const Call& call) {
    for (;;) {
      auto answer = call();
      if (status_of(answer).code() != Code::kTooManyFiles || !open_files_->give_some_up()) return answer;
    }
  }

  const std::unique_ptr<io::Directory> directory_;
  const std::shared_ptr<OpenFiles> open_files_;
};

}  // namespace varve::engine
