#include "tests/lab/schedules/read_gate.h"

#include <string>
#include <utility>
#include <vector>

namespace varve::lab {
namespace {

class GatedFile final : public io::ReadableFile {
 public:
  GatedFile(std::unique_ptr<io::ReadableFile> file, std::string_view name, const BeforeRead& before_read)
      : file_(std::move(file)), name_(name), before_read_(before_read) {}
  std::uint64_t size_bytes() const noexcept override { return file_->size_bytes(); }
  io::FileKey key() const noexcept override { return file_->key(); }
  Status read_exactly(std::uint64_t offset, std::span<std::byte> bytes) const override {
    before_read_(name_);
    return file_->read_exactly(offset, bytes);
  }

 private:
  std::unique_ptr<io::ReadableFile> file_;
  std::string name_;
  const BeforeRead& before_read_;
};

class GatedDirectory final : public io::Directory {
 public:
  GatedDirectory(std::unique_ptr<io::Directory> directory, const BeforeRead& before_read)
      : directory_(std::move(directory)), before_read_(before_read) {}

  std::string_view path() const noexcept override { return directory_->path(); }
  Result<std::vector<io::DirectoryEntry>> list() override { return directory_->list(); }
  Result<std::unique_ptr<io::WritableFile>> create(std::string_view name) override { return directory_->create(name); }
  Result<std::unique_ptr<io::ReadableFile>> open(std::string_view name, io::ReadMode mode) override {
    Result<std::unique_ptr<io::ReadableFile>> file = directory_->open(name, mode);
    if (!file.ok()) return file.status();
    return std::unique_ptr<io::ReadableFile>(std::make_unique<GatedFile>(*std::move(file), name, before_read_));
  }
  Result<std::unique_ptr<io::LogSegment>> create_log_segment(std::string_view name, std::uint64_t bytes) override {
    return directory_->create_log_segment(name, bytes);
  }
  Result<std::unique_ptr<io::LogSegment>> recycle_log_segment(std::string_view from, std::string_view to,
                                                              std::uint64_t bytes) override {
    return directory_->recycle_log_segment(from, to, bytes);
  }
  Result<std::unique_ptr<io::SharedMemory>> create_shared_memory(std::string_view name, std::uint64_t bytes) override {
    return directory_->create_shared_memory(name, bytes);
  }
  Status replace(std::string_view name, std::span<const std::byte> expected, std::span<const std::byte> content,
                 io::SyncPoint point) override {
    return directory_->replace(name, expected, content, point);
  }
  Status link(std::string_view /*name*/, io::Directory& /*into*/) override {
    return Status::unsupported("links are not passed through the gate");
  }
  Status remove(std::string_view name) override { return directory_->remove(name); }
  Status sync(io::SyncPoint point) override { return directory_->sync(point); }
  Result<std::unique_ptr<io::DirectoryLock>> lock(std::string_view name, io::LockMode mode,
                                                  std::chrono::milliseconds wait_max) override {
    return directory_->lock(name, mode, wait_max);
  }
  Status confirm_owner() override { return directory_->confirm_owner(); }
  Status set_ballast(std::string_view name, std::uint64_t bytes) override {
    return directory_->set_ballast(name, bytes);
  }

 private:
  std::unique_ptr<io::Directory> directory_;
  const BeforeRead& before_read_;
};

class GatedFileSystem final : public io::FileSystem {
 public:
  GatedFileSystem(io::FileSystem& files, const BeforeRead& before_read) : files_(files), before_read_(before_read) {}

  std::string_view name() const noexcept override { return files_.name(); }
  Result<std::unique_ptr<io::Directory>> open_directory(std::string_view path) override {
    Result<std::unique_ptr<io::Directory>> directory = files_.open_directory(path);
    if (!directory.ok()) return directory.status();
    return std::unique_ptr<io::Directory>(std::make_unique<GatedDirectory>(*std::move(directory), before_read_));
  }
  Status create_directory(std::string_view path, io::SyncPoint point) override {
    return files_.create_directory(path, point);
  }
  Result<std::unique_ptr<io::ReadQueue>> make_read_queue(io::Scheduler& scheduler, std::size_t depth) override {
    return files_.make_read_queue(scheduler, depth);
  }

 private:
  io::FileSystem& files_;
  const BeforeRead& before_read_;
};

}  // namespace

std::unique_ptr<io::FileSystem> make_read_gate(io::FileSystem& files, const BeforeRead& before_read) {
  return std::make_unique<GatedFileSystem>(files, before_read);
}

}  // namespace varve::lab
