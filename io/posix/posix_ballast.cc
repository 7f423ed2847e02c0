// Owns: the system calls that allocate and release the space.
// Must never: expect an exact st_blocks. File systems add blocks of their own to it.
#include "io/posix/posix_ballast.h"

#include <cerrno>

#include <unistd.h>

#include "io/posix/posix_transfer.h"

namespace varve::io {
namespace {

constexpr std::uint64_t kStatBlockBytes = 512;            // The unit of st_blocks, on every file system.
constexpr std::uint64_t kBookkeepingBytesMax = 64 << 10;  // Limit of the bytes that a file system may add to it.

// Truncation frees the blocks past the end, even if the file was always empty.
Status release(int descriptor, const FileAt& file) noexcept {
  if (retry_interrupted([&] { return ::ftruncate(descriptor, 0); }) == 0) return Status();
  return os_error(errno, {"ftruncate", file.path, std::nullopt, "ballast"});
}

}  // namespace

Status set_ballast_of(const FileAt& file, std::uint64_t bytes) noexcept {
  Result<OpenedFile> opened = open_regular(file, O_RDWR | O_CREAT);
  if (!opened.ok()) return opened.status();
  const int descriptor = opened->descriptor.get();
  std::uint64_t held = static_cast<std::uint64_t>(opened->status.st_blocks) * kStatBlockBytes;
  if (bytes == 0 || opened->status.st_size != 0 || held > bytes + kBookkeepingBytesMax) {
    if (Status released = release(descriptor, file); !released.ok()) return released;
    held = 0;
  }
  if (bytes == 0) return Status();

  const int result =
      retry_interrupted([&] { return ::fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)); });
  if (result == 0 || errno == EOPNOTSUPP || errno == ENOSYS) return Status();
  const Status failed = os_error(errno, {"fallocate", file.path, std::nullopt, "ballast"});
  // Some file systems keep a partial allocation. It is released if it is all the file has; otherwise, it cannot be
  // distinguished.
  if (held == 0) {
    if (Status released = release(descriptor, file); !released.ok()) return released;
  }
  return failed;
}

}  // namespace varve::io
