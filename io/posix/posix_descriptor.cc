// Owns: opening and closing descriptors, and the rules for them.
// Must never: leave a file that a failed call created.
#include "io/posix/posix_descriptor.h"

#include <cassert>
#include <cerrno>

#include <unistd.h>

#include "io/posix/posix_transfer.h"

namespace varve::io {
namespace {

constexpr int kFirstDescriptor = 3;
constexpr mode_t kNewFileMode = 0666;

/// Returns the kind of a file that can be opened. Links and sockets cannot be opened.
std::string_view kind_of(mode_t mode) noexcept {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  return "a device";
}

}  // namespace

void Descriptor::close() noexcept {
  // The result is ignored. Durable content was synced before. On Linux the descriptor is closed whatever close()
  // returns, and a second close() could close another file.
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

// If a service closed descriptors 0 to 2, the next open gets one of them.
Result<Descriptor> above_standard(Descriptor opened, std::string_view path) noexcept {
  if (opened.get() >= kFirstDescriptor) return opened;
  Descriptor moved(::fcntl(opened.get(), F_DUPFD_CLOEXEC, kFirstDescriptor));
  if (moved.get() >= 0) return moved;
  return os_error(errno, {"fcntl(F_DUPFD_CLOEXEC)", path});
}

Status check_file_name(std::string_view name, std::string_view directory_path) noexcept {
  constexpr std::string_view kForbidden("/\0", 2);
  if (!name.empty() && name != "." && name != ".." && name.find_first_of(kForbidden) == std::string_view::npos) {
    return Status();
  }
  return call_error(Code::kInvalidArgument, {"name a file in", directory_path},
                    {"\"", name, "\" is not a file name (not empty, not . or .., without / and NUL)"});
}

Result<Descriptor> open_at(const FileAt& file, int flags) noexcept {
  const int all_flags = flags | O_CLOEXEC | O_NOFOLLOW;
  const int number =
      retry_interrupted([&] { return ::openat(file.directory, file.name.c_str(), all_flags, kNewFileMode); });
  if (number < 0) return os_error(errno, {"openat", file.path});
  Result<Descriptor> opened = above_standard(Descriptor(number), file.path);
  if (!opened.ok() && (flags & O_EXCL) != 0) ::unlinkat(file.directory, file.name.c_str(), 0);  // This call created it.
  return opened;
}

Result<OpenedFile> open_regular(const FileAt& file, int flags) noexcept {
  // Without O_NONBLOCK, opening a pipe would wait for a writer that may never come.
  Result<Descriptor> opened = open_at(file, flags | O_NONBLOCK);
  if (!opened.ok()) return opened.status();
  struct stat status {};
  if (::fstat(opened->get(), &status) != 0) return os_error(errno, {"fstat", file.path});
  if (!S_ISREG(status.st_mode)) {
    return call_error(Code::kCorruption, {"openat", file.path}, {"not a regular file but ", kind_of(status.st_mode)});
  }
  if (const int error = change_flags(opened->get(), 0, O_NONBLOCK); error != 0) {
    return os_error(error, {"fcntl(F_SETFL)", file.path});
  }
  return OpenedFile{*std::move(opened), status};
}

int change_flags(int descriptor, int set, int clear) noexcept {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0) return errno;
  return ::fcntl(descriptor, F_SETFL, (flags | set) & ~clear) == 0 ? 0 : errno;
}

Result<Descriptor> create_new(const FileAt& file, int flags) noexcept {
  return open_at(file, flags | O_CREAT | O_EXCL);
}

NewName::~NewName() {
  // Best effort: the caller already has its error, and the next open of the store removes a stray file.
  if (!kept_) ::unlinkat(file_.directory, file_.name.c_str(), 0);
}

}  // namespace varve::io
