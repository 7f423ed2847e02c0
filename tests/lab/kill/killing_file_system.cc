#include "tests/lab/kill/killing_file_system.h"

#include <csignal>
#include <utility>

namespace varve::lab {

namespace {

/// Counts a step before the call and a step after it.
template <typename Call>
auto stepped(KillCount& count, const Call& call) {
  count.step();
  auto result = call();
  count.step();
  return result;
}

class KillingFile final : public io::WritableFile {
 public:
  KillingFile(std::unique_ptr<io::WritableFile> file, KillCount& count) : file_(std::move(file)), count_(count) {}
  Status append(std::span<const std::byte> bytes) override {
    count_.step();
    const std::size_t half = bytes.size() / 2;
    if (Status first = file_->append(bytes.first(half)); !first.ok()) return first;
    return stepped(count_, [&] { return file_->append(bytes.subspan(half)); });
  }
  Status sync(io::SyncPoint point) override {
    return stepped(count_, [&] { return file_->sync(point); });
  }
  std::uint64_t size_bytes() const noexcept override { return file_->size_bytes(); }

 private:
  std::unique_ptr<io::WritableFile> file_;
  KillCount& count_;
};

class KillingSegment final : public io::LogSegment {
 public:
  KillingSegment(std::unique_ptr<io::LogSegment> segment, KillCount& count)
      : segment_(std::move(segment)), count_(count) {}
  std::uint64_t allocated_bytes() const noexcept override { return segment_->allocated_bytes(); }
  Status fill_to(std::uint64_t end) override {
    return stepped(count_, [&] { return segment_->fill_to(end); });
  }
  void stop_filling() noexcept override { segment_->stop_filling(); }
  std::uint64_t filled_bytes() const noexcept override { return segment_->filled_bytes(); }
  std::uint64_t prepared_bytes() const noexcept override { return segment_->prepared_bytes(); }
  bool direct() const noexcept override { return segment_->direct(); }
  /// If the write has two or more sectors, it is made in two parts.
  Status write(std::uint64_t offset, std::span<const std::byte> bytes, io::SyncPoint point) override {
    count_.step();
    const std::size_t half = bytes.size() / 2 / io::kSectorBytes * io::kSectorBytes;
    if (half > 0) {
      if (Status first = segment_->write(offset, bytes.first(half), point); !first.ok()) return first;
    }
    return stepped(count_, [&] { return segment_->write(offset + half, bytes.subspan(half), point); });
  }
  Status cut(std::uint64_t size_bytes, io::SyncPoint point) override {
    return stepped(count_, [&] { return segment_->cut(size_bytes, point); });
  }

 private:
  std::unique_ptr<io::LogSegment> segment_;
  KillCount& count_;
};

class KillingDirectory final : public io::Directory {
 public:
  KillingDirectory(std::unique_ptr<io::Directory> directory, KillCount& count)
      : directory_(std::move(directory)), count_(count) {}
  std::string_view path() const noexcept override { return directory_->path(); }
  Result<std::vector<io::DirectoryEntry>> list() override { return directory_->list(); }
  Result<std::unique_ptr<io::WritableFile>> create(std::string_view name) override {
    auto made = stepped(count_, [&] { return directory_->create(name); });
    if (!made.ok()) return made.status();
    return std::unique_ptr<io::WritableFile>(std::make_unique<KillingFile>(*std::move(made), count_));
  }
  Result<std::unique_ptr<io::ReadableFile>> open(std::string_view name, io::ReadMode mode) override {
    return directory_->open(name, mode);
  }
  Result<std::unique_ptr<io::LogSegment>> create_log_segment(std::string_view name, std::uint64_t bytes) override {
    auto made = stepped(count_, [&] { return directory_->create_log_segment(name, bytes); });
    if (!made.ok()) return made.status();
    return std::unique_ptr<io::LogSegment>(std::make_unique<KillingSegment>(*std::move(made), count_));
  }
  Result<std::unique_ptr<io::LogSegment>> recycle_log_segment(std::string_view from, std::string_view to,
                                                              std::uint64_t bytes) override {
    auto made = stepped(count_, [&] { return directory_->recycle_log_segment(from, to, bytes); });
    if (!made.ok()) return made.status();
    return std::unique_ptr<io::LogSegment>(std::make_unique<KillingSegment>(*std::move(made), count_));
  }
  Result<std::unique_ptr<io::SharedMemory>> create_shared_memory(std::string_view name, std::uint64_t bytes) override {
    return stepped(count_, [&] { return directory_->create_shared_memory(name, bytes); });
  }
  Status replace(std::string_view name, std::span<const std::byte> expected, std::span<const std::byte> content,
                 io::SyncPoint point) override {
    return stepped(count_, [&] { return directory_->replace(name, expected, content, point); });
  }
  Status link(std::string_view name, io::Directory& into) override {
    auto* const wrapped = dynamic_cast<KillingDirectory*>(&into);
    if (wrapped == nullptr) return Status::invalid_argument("a directory of another file system");
    return stepped(count_, [&] { return directory_->link(name, *wrapped->directory_); });
  }
  Status remove(std::string_view name) override {
    return stepped(count_, [&] { return directory_->remove(name); });
  }
  Status sync(io::SyncPoint point) override {
    return stepped(count_, [&] { return directory_->sync(point); });
  }
  Result<std::unique_ptr<io::DirectoryLock>> lock(std::string_view name, io::LockMode mode,
                                                  std::chrono::milliseconds wait_max) override {
    return stepped(count_, [&] { return directory_->lock(name, mode, wait_max); });
  }
  Status confirm_owner() override { return directory_->confirm_owner(); }
  Status set_ballast(std::string_view name, std::uint64_t bytes) override {
    return stepped(count_, [&] { return directory_->set_ballast(name, bytes); });
  }

 private:
  std::unique_ptr<io::Directory> directory_;
  KillCount& count_;
};

}  // namespace

void KillCount::step() noexcept {
  taken_.fetch_add(1);
  if (left_.load(std::memory_order_relaxed) == kNever) return;
  if (left_.fetch_sub(1) == 1) {
    std::raise(SIGKILL);
  }
}

Result<std::unique_ptr<io::Directory>> KillingFileSystem::open_directory(std::string_view path) {
  Result<std::unique_ptr<io::Directory>> opened = files_.open_directory(path);
  if (!opened.ok()) return opened.status();
  return std::unique_ptr<io::Directory>(std::make_unique<KillingDirectory>(*std::move(opened), count_));
}

Status KillingFileSystem::create_directory(std::string_view path, io::SyncPoint point) {
  return stepped(count_, [&] { return files_.create_directory(path, point); });
}

}  // namespace varve::lab
