// Owns: the operations of a directory.
// Must never: leave a half-made file after a refused call.
#include "io/posix/posix_directory.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <dirent.h>
#include <unistd.h>

#include "io/posix/posix_ballast.h"
#include "io/posix/posix_file.h"
#include "io/posix/posix_lock.h"
#include "io/posix/posix_log_segment.h"
#include "io/posix/posix_shared_memory.h"
#include "io/posix/posix_transfer.h"

namespace varve::io {
namespace {

struct CloseStream {
  void operator()(DIR* stream) const noexcept { ::closedir(stream); }
};
using DirectoryStream = std::unique_ptr<DIR, CloseStream>;

// Opens a separate stream, so that two concurrent lists do not share a position.
Result<DirectoryStream> open_stream(int directory, const std::string& path) {
  const std::string itself = ".";
  Result<Descriptor> opened = open_at({directory, itself, path}, O_RDONLY | O_DIRECTORY);
  if (!opened.ok()) return opened.status();
  DIR* stream = ::fdopendir(opened->get());
  if (stream == nullptr) return os_error(errno, {"fdopendir", path});
  (void)opened->release();  // The stream closes it.
  return DirectoryStream(stream);
}

}  // namespace

Result<PosixDirectory::Target> PosixDirectory::target(std::string_view call, std::string_view name,
                                                      Access access) const {
  if (Status valid = check_file_name(name, path()); !valid.ok()) return valid;
  Target target{std::string(name), std::string(path())};
  if (!target.path.ends_with('/')) target.path.push_back('/');
  target.path.append(name);
  if (access == Access::kWrite && !guard_.owned_by_this_process()) return HandleGuard::refuse_fork(call, target.path);
  return target;
}

Result<std::vector<DirectoryEntry>> PosixDirectory::list_entries(Sizes sizes) const {
  Result<DirectoryStream> stream = open_stream(descriptor_.get(), guard_.path());
  if (!stream.ok()) return stream.status();
  std::vector<DirectoryEntry> entries;
  for (;;) {
    errno = 0;  // The only way to distinguish an error from the end.
    const dirent* entry = ::readdir(stream->get());
    if (entry == nullptr) {
      if (errno != 0) return os_error(errno, {"readdir", path()});
      return entries;
    }
    const std::string_view name(entry->d_name);
    if (name == "." || name == "..") continue;
    if (sizes == Sizes::kNotWanted && entry->d_type != DT_UNKNOWN) {
      entries.push_back({std::string(name), 0, entry->d_type == DT_REG});
      continue;
    }
    struct stat status {};
    if (::fstatat(descriptor_.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) continue;  // It was removed after readdir returned it.
      return os_error(errno, {"fstatat", path()});
    }
    const bool regular = S_ISREG(status.st_mode);
    entries.push_back({std::string(name), regular ? static_cast<std::uint64_t>(status.st_size) : 0, regular});
  }
}

Result<std::unique_ptr<WritableFile>> PosixDirectory::create(std::string_view name) {
  Result<Target> file = target("openat", name, Access::kWrite);
  if (!file.ok()) return file.status();
  return PosixWritableFile::create(at(*file), place_, owner_);
}

Result<std::unique_ptr<ReadableFile>> PosixDirectory::open(std::string_view name, ReadMode mode) {
  Result<Target> file = target("openat", name, Access::kRead);
  if (!file.ok()) return file.status();
  return PosixReadableFile::open(at(*file), mode);
}

Result<std::unique_ptr<LogSegment>> PosixDirectory::create_log_segment(std::string_view name, std::uint64_t bytes) {
  Result<Target> file = target("openat", name, Access::kWrite);
  if (!file.ok()) return file.status();
  return PosixLogSegment::create(at(*file), bytes, place_, owner_);
}

Result<std::unique_ptr<LogSegment>> PosixDirectory::recycle_log_segment(std::string_view from, std::string_view to,
                                                                        std::uint64_t bytes) {
  Result<Target> old_file = target("openat", from, Access::kWrite);
  if (!old_file.ok()) return old_file.status();
  Result<Target> file = target("renameat", to, Access::kWrite);
  if (!file.ok()) return file.status();
  return PosixLogSegment::recycle(at(*old_file), at(*file), bytes, place_, owner_);
}

Result<std::unique_ptr<SharedMemory>> PosixDirectory::create_shared_memory(std::string_view name, std::uint64_t bytes) {
  Result<Target> file = target("openat", name, Access::kWrite);
  if (!file.ok()) return file.status();
  return PosixSharedMemory::create(at(*file), bytes, place_, owner_);
}

Status PosixDirectory::replace(std::string_view name, std::span<const std::byte> expected,
                               std::span<const std::byte> content, SyncPoint point) {
  Result<Target> file = target("renameat", name, Access::kWrite);
  if (!file.ok()) return file.status();
  if (Status usable = guard_.check("renameat"); !usable.ok()) return usable;
  if (content.empty() || content.size() > kReplaceBytesMax) {
    return call_error(Code::kInvalidArgument, {"replace", file->path},
                      {"the content has ", std::to_string(content.size()), " bytes; 1 to ",
                       std::to_string(kReplaceBytesMax), " can be replaced atomically"});
  }
  if (Status same = check_content(*file, expected); !same.ok()) return same;

  const Target temporary{file->name + ".tmp", file->path + ".tmp"};
  if (Status written = write_temporary(temporary, content, point); !written.ok()) return written;
  NewName temporary_name(at(temporary));
  const int directory = descriptor_.get();
  if (::renameat(directory, temporary.name.c_str(), directory, file->name.c_str()) != 0) {
    return os_error(errno, {"renameat", file->path, std::nullopt, point.name});
  }
  temporary_name.keep();
  if (Status synced = sync(point); !synced.ok()) return synced;
  return place_->check(descriptor_.get(), "renameat");
}

// An empty file is not a missing file: empty `expected` means that the file must be absent.
Status PosixDirectory::check_content(const Target& target, std::span<const std::byte> expected) const {
  const FailedCall where{"replace", target.path};
  Result<OpenedFile> opened = open_regular(at(target), O_RDONLY);
  if (is_missing(opened.status())) {
    if (expected.empty()) return Status();
    return call_error(Code::kPreconditionFailed, where, {"the file is absent, but content was expected"});
  }
  if (!opened.ok()) return opened.status();
  if (expected.empty()) return call_error(Code::kPreconditionFailed, where, {"the file already exists"});

  const Status differs =
      call_error(Code::kPreconditionFailed, where, {"the content differs from the expected content"});
  if (static_cast<std::uint64_t>(opened->status.st_size) != expected.size()) return differs;
  std::vector<std::byte> current(expected.size());
  const PosixReadableFile reader(std::move(opened->descriptor), target.path, expected.size(), false);
  if (Status read = reader.read_exactly(0, current); !read.ok()) return read;
  return std::equal(current.begin(), current.end(), expected.begin()) ? Status() : differs;
}

Status PosixDirectory::write_temporary(const Target& temporary, std::span<const std::byte> content,
                                       SyncPoint point) const {
  // An earlier crash may have left the temporary file. It is unlinked, not truncated, because a file with another link
  // must keep its content.
  if (::unlinkat(descriptor_.get(), temporary.name.c_str(), 0) != 0 && errno != ENOENT) {
    return os_error(errno, {"unlinkat", temporary.path, std::nullopt, point.name});
  }
  Result<Descriptor> created = create_new(at(temporary), O_WRONLY);
  if (!created.ok()) return created.status();
  NewName name(at(temporary));
  Status written = write_all_at(created->get(), 0, content, 1, {"", temporary.path, std::nullopt, point.name});
  if (!written.ok()) return written;
  if (retry_interrupted([&] { return ::fsync(created->get()); }) != 0) {
    return os_error(errno, {"fsync", temporary.path, std::nullopt, point.name});
  }
  name.keep();
  return Status();
}

Status PosixDirectory::link(std::string_view name, Directory& into) {
  auto* const other = dynamic_cast<PosixDirectory*>(&into);
  Result<Target> from = target("linkat", name, Access::kRead);
  if (!from.ok()) return from.status();
  if (other == nullptr) return cannot_link(*from, "the directories are of different file systems");
  Result<Target> file = other->target("linkat", name, Access::kWrite);
  if (!file.ok()) return file.status();
  struct stat status {};
  if (::fstatat(descriptor_.get(), from->name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return os_error(errno, {"fstatat", from->path});
  }
  if (!S_ISREG(status.st_mode)) return call_error(Code::kCorruption, {"linkat", from->path}, {"not a regular file"});
  if (::linkat(descriptor_.get(), from->name.c_str(), other->descriptor_.get(), file->name.c_str(), 0) == 0) {
    return Status();
  }
  switch (errno) {
    case EXDEV:
    case EPERM:  // The file system has no links, or the system forbids links to other users' files.
    case EOPNOTSUPP:
    case ENOSYS:
    case EMLINK: return cannot_link(*file, std::strerror(errno));
    default: return os_error(errno, {"linkat", file->path});
  }
}

Status PosixDirectory::cannot_link(const Target& target, std::string_view why) {
  return call_error(Code::kUnsupported, {"linkat", target.path}, {why});
}

Status PosixDirectory::remove(std::string_view name) {
  Result<Target> file = target("unlinkat", name, Access::kWrite);
  if (!file.ok()) return file.status();
  if (::unlinkat(descriptor_.get(), file->name.c_str(), 0) == 0) return Status();
  return os_error(errno, {"unlinkat", file->path});
}

Status PosixDirectory::sync(SyncPoint point) {
  if (Status usable = guard_.check("fsync"); !usable.ok()) return usable;
  if (retry_interrupted([&] { return ::fsync(descriptor_.get()); }) == 0) return Status();
  return guard_.fail(os_error(errno, {"fsync", path(), std::nullopt, point.name}));
}

Result<std::unique_ptr<DirectoryLock>> PosixDirectory::lock(std::string_view name, LockMode mode,
                                                            std::chrono::milliseconds wait_max) {
  const Access access = mode == LockMode::kExclusive ? Access::kWrite : Access::kRead;
  Result<Target> file = target("flock", name, access);
  if (!file.ok()) return file.status();
  Result<std::unique_ptr<PosixDirectoryLock>> lock = PosixDirectoryLock::take(at(*file), mode, wait_max, owner_);
  if (!lock.ok()) return lock.status();
  if (mode == LockMode::kExclusive) held_ = (*lock)->held();
  return std::unique_ptr<DirectoryLock>(*std::move(lock));
}

Status PosixDirectory::confirm_owner() {
  if (!guard_.owned_by_this_process()) return HandleGuard::refuse_fork("flock", path());
  if (Status here = place_->check(descriptor_.get(), "stat"); !here.ok()) return here;
  const std::shared_ptr<HeldLock> held = held_.lock();
  return held == nullptr ? Status() : held->confirm();
}

Status PosixDirectory::set_ballast(std::string_view name, std::uint64_t bytes) {
  Result<Target> file = target("fallocate", name, Access::kWrite);
  if (!file.ok()) return file.status();
  return set_ballast_of(at(*file), bytes);
}

}  // namespace varve::io
