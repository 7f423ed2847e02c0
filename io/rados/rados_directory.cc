// Owns: the verbs of a directory, over the files of its root.
// Must never: make the first object of a file before its name (S4).
#include "io/rados/rados_directory.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

#include "io/posix/posix_descriptor.h"
#include "io/rados/rados_file.h"

namespace varve::io {

namespace {

/// Limits of a replaced file.
constexpr std::size_t kReplacedBytesMax = std::size_t{4} << 20;

class RadosLease final : public Lease {
 public:
  explicit RadosLease(std::shared_ptr<RadosRoot> root) noexcept : root_(std::move(root)) {}
  Status check() const noexcept override { return root_->check_answer(); }
  Status confirm() const noexcept override { return root_->confirm_answer(); }
  bool may_wait() const noexcept override { return root_->process().options().verified_reads; }

 private:
  const std::shared_ptr<RadosRoot> root_;
};

class RadosLock final : public DirectoryLock {
 public:
  explicit RadosLock(std::shared_ptr<RadosRoot> root) noexcept : root_(std::move(root)) {}
  ~RadosLock() override {
    if (epoch_ != 0) root_->let_go();
  }
  /// The root was taken.
  void begin() noexcept { epoch_ = root_->epoch(); }
  std::uint64_t epoch() const noexcept override { return epoch_; }
  Status check() const noexcept override { return root_->check({"write under the lock of", root_->path()}); }
  std::shared_ptr<const Lease> lease() const override {
    const RadosOptions& options = root_->process().options();
    if (!options.takeover_wait && !options.verified_reads) return nullptr;
    return std::make_shared<RadosLease>(root_);
  }

 private:
  const std::shared_ptr<RadosRoot> root_;
  std::uint64_t epoch_ = 0;  // zero: the root was not taken
};

}  // namespace

Result<std::vector<DirectoryEntry>> RadosDirectory::list() {
  const Result<FileMap> files = root_->files();
  if (!files.ok()) return files.status();
  std::vector<DirectoryEntry> entries;
  entries.reserve(files->size());
  for (const auto& [name, entry] : *files) {
    const Result<std::uint64_t> size = root_->size_of(entry, {"list", root_->path()});
    if (!size.ok()) return size.status();
    entries.push_back({name, *size, true});
  }
  return entries;
}

Result<std::unique_ptr<WritableFile>> RadosDirectory::create(std::string_view name) {
  if (Status valid = check_file_name(name, path()); !valid.ok()) return valid;
  const std::string whole = root_->path_of(name);
  const FileEntry entry = root_->new_entry(FilePhase::kGrowing, 0);
  if (Status added = root_->add(name, entry, {"create", whole}); !added.ok()) return added;
  return RadosWritableFile::make(root_, name, entry);
}

Result<std::unique_ptr<ReadableFile>> RadosDirectory::open(std::string_view name, ReadMode mode) {
  if (Status valid = check_file_name(name, path()); !valid.ok()) return valid;
  const std::string whole = root_->path_of(name);
  const FailedCall call{"open", whole};
  const Result<FileEntry> entry = root_->find_file(name, call);
  if (!entry.ok()) return entry.status();
  const Result<std::uint64_t> size = root_->size_of(*entry, call);
  if (!size.ok()) return size.status();
  return std::unique_ptr<ReadableFile>(std::make_unique<RadosReadableFile>(root_, name, *entry, *size, mode));
}

Result<std::unique_ptr<LogSegment>> RadosDirectory::create_log_segment(std::string_view name, std::uint64_t bytes) {
  assert(bytes > 0);
  assert(is_sector_multiple(bytes));
  if (Status valid = check_file_name(name, path()); !valid.ok()) return valid;
  const std::string whole = root_->path_of(name);
  const FailedCall call{"create", whole};
  if (bytes > kObjectBytesMax) return os_error(EFBIG, call);
  const FileEntry entry = root_->new_entry(FilePhase::kSegment, bytes);
  if (Status added = root_->add_segment(name, entry, call); !added.ok()) return added;
  return std::unique_ptr<LogSegment>(std::make_unique<RadosLogSegment>(root_, name, entry));
}

Result<std::unique_ptr<SharedMemory>> RadosDirectory::create_shared_memory(std::string_view name,
                                                                           std::uint64_t /*bytes*/) {
  if (Status valid = check_file_name(name, path()); !valid.ok()) return valid;
  return call_error(Code::kUnsupported, {"create", root_->path_of(name)},
                    {"no memory in a cluster outlives its process"});
}

Status RadosDirectory::check_expected(std::string_view name, std::span<const std::byte> expected,
                                      const FailedCall& call) {
  const Result<std::unique_ptr<ReadableFile>> file = open(name, ReadMode::kCached);
  if (is_missing(file.status())) {
    if (expected.empty()) return Status();
    return call_error(Code::kPreconditionFailed, call, {"the file is absent, but content was expected"});
  }
  if (!file.ok()) return file.status();
  if (expected.empty()) return call_error(Code::kPreconditionFailed, call, {"the file already exists"});
  std::vector<std::byte> current((*file)->size_bytes());
  if (current.size() == expected.size()) {
    if (Status read = (*file)->read_exactly(0, current); !read.ok()) return read;
    if (std::equal(current.begin(), current.end(), expected.begin())) return Status();
  }
  return call_error(Code::kPreconditionFailed, call, {"the content differs from the expected content"});
}

// Between the comparison and the change, no other handle can change the file: the change carries the epoch, and one
// thread at a time names a file.
Status RadosDirectory::replace(std::string_view name, std::span<const std::byte> expected,
                               std::span<const std::byte> content, SyncPoint point) {
  if (Status valid = check_file_name(name, path()); !valid.ok()) return valid;
  const std::string whole = root_->path_of(name);
  const FailedCall call{"replace", whole, std::nullopt, point.name};
  if (content.empty() || content.size() > kReplacedBytesMax) {
    return call_error(Code::kInvalidArgument, call, {"the content must have 1 byte to 4 MiB"});
  }
  if (Status owned = root_->check(call); !owned.ok()) return owned;
  if (Status same = check_expected(name, expected, call); !same.ok()) return same;
  return root_->put(name, content, call);
}

Status RadosDirectory::link(std::string_view name, Directory& /*into*/) {
  if (Status valid = check_file_name(name, path()); !valid.ok()) return valid;
  return call_error(Code::kUnsupported, {"link", root_->path_of(name)}, {"a file has one name in a cluster"});
}

Status RadosDirectory::remove(std::string_view name) {
  if (Status valid = check_file_name(name, path()); !valid.ok()) return valid;
  return root_->remove(name, {"remove", root_->path_of(name)});
}

/// Every change of a name is durable when it returns.
Status RadosDirectory::sync(SyncPoint point) {
  return root_->check({"sync", root_->path(), std::nullopt, point.name});
}

Result<std::unique_ptr<DirectoryLock>> RadosDirectory::lock(std::string_view name, LockMode /*mode*/,
                                                            std::chrono::milliseconds wait_max) {
  if (Status valid = check_file_name(name, path()); !valid.ok()) return valid;
  auto lock = std::make_unique<RadosLock>(root_);  // before the root is taken, so that nothing fails after that
  if (Status taken = root_->take(wait_max); !taken.ok()) return taken;
  lock->begin();
  return std::unique_ptr<DirectoryLock>(std::move(lock));
}

Status RadosDirectory::set_ballast(std::string_view name, std::uint64_t bytes) {
  if (Status valid = check_file_name(name, path()); !valid.ok()) return valid;
  return root_->set_ballast(bytes, {"set the ballast of", root_->path()});
}

}  // namespace varve::io
