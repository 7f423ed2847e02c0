// Owns: creating and opening directories by path.
// Must never: refuse a path that reaches the directory through a link. The user chooses the path, and the lock, not the
// path, distinguishes two stores.
#include "io/posix/posix_file_system.h"

#include <cerrno>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include "io/posix/posix_directory.h"
#include "io/posix/posix_transfer.h"
#include "io/posix/threaded_read_queue.h"

namespace varve::io {
namespace {

constexpr mode_t kNewDirectoryMode = 0777;

// Links in a user's path are followed, so a loop of links is the user's mistake and not damage of a store.
Status path_error(int error, const FailedCall& failed) {
  if (error != ELOOP) return os_error(error, failed);
  return call_error(Code::kIoError, failed, {"too many symbolic links in the path"}).with_os_error(error);
}

Status check_path(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos) {
    return Status::invalid_argument("the path of a directory is empty or contains NUL");
  }
  if (path.starts_with("rados:")) {
    constexpr std::string_view kAddress =
        "the address of a store on Ceph needs a connection: StoreOptions::env of varve/rados.h, or "
        "varve_rados_store_open() of varve/c_rados.h";
    return Status::unsupported(kAddress).in_file(path).with_hint("a directory of this name is ./" + std::string(path));
  }
  return Status();
}

Result<Descriptor> open_path(const std::string& path, int flags) {
  const int number = retry_interrupted([&] { return ::open(path.c_str(), flags | O_DIRECTORY | O_CLOEXEC); });
  if (number < 0) return path_error(errno, {"open", path});
  return above_standard(Descriptor(number), path);
}

// Opens the parent as ".." of the directory itself. This is the directory that contains its name, whatever links and
// slashes the path has.
Status sync_parent(const std::string& path, bool existed, SyncPoint point) {
  Result<Descriptor> directory = open_path(path, O_PATH);
  if (!directory.ok()) return directory.status();
  const std::string parent = path + "/..";
  const int number =
      retry_interrupted([&] { return ::openat(directory->get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (number < 0) {
    // If the process may not read the parent, it did not create the directory. The process that created it has synced
    // its name.
    if (existed && errno == EACCES) return Status();
    return os_error(errno, {"openat", parent, std::nullopt, point.name});
  }
  Result<Descriptor> opened = above_standard(Descriptor(number), parent);
  if (!opened.ok()) return opened.status();
  if (retry_interrupted([&] { return ::fsync(opened->get()); }) == 0) return Status();
  return os_error(errno, {"fsync", parent, std::nullopt, point.name});
}

}  // namespace

Result<std::unique_ptr<Directory>> PosixFileSystem::open_directory(std::string_view path) {
  if (Status valid = check_path(path); !valid.ok()) return valid;
  std::string owned_path(path);
  Result<Descriptor> opened = open_path(owned_path, O_RDONLY);
  if (!opened.ok()) return opened.status();
  return std::unique_ptr<Directory>(
      std::make_unique<PosixDirectory>(*std::move(opened), std::move(owned_path), OwnerProcess::current()));
}

Status PosixFileSystem::create_directory(std::string_view path, SyncPoint point) {
  if (Status valid = check_path(path); !valid.ok()) return valid;
  const std::string owned_path(path);
  const bool made = ::mkdir(owned_path.c_str(), kNewDirectoryMode) == 0;
  if (!made && errno != EEXIST && errno != EROFS) {
    return path_error(errno, {"mkdir", owned_path, std::nullopt, point.name});
  }
  const int error = made ? 0 : errno;
  // A read-only file system may return EROFS although the directory exists.
  struct stat status {};
  if (::stat(owned_path.c_str(), &status) != 0) {
    return path_error(error == EROFS ? EROFS : errno, {"mkdir", owned_path, std::nullopt, point.name});
  }
  if (!S_ISDIR(status.st_mode)) {
    return call_error(Code::kIoError, {"mkdir", owned_path}, {"a file has this name; expected a directory"})
        .with_os_error(ENOTDIR);
  }
  return sync_parent(owned_path, !made, point);
}

Result<std::unique_ptr<ReadQueue>> PosixFileSystem::make_read_queue(Scheduler& scheduler, std::size_t depth) {
  return ThreadedReadQueue::make(scheduler, depth);
}

}  // namespace varve::io
