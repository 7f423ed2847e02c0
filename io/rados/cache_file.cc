// Owns: the calls of the operating system for the file of a cache (cache_file.h).
// Must never: sync, or leave a file with a name.
#include "io/rados/cache_file.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include <sys/uio.h>
#include <unistd.h>

#include "io/os_error.h"
#include "io/posix/posix_descriptor.h"
#include "io/posix/posix_transfer.h"

namespace varve::io {
namespace {

class PosixCacheFile final : public CacheFile {
 public:
  explicit PosixCacheFile(Descriptor file) noexcept : file_(std::move(file)) {}

  bool write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept override {
    constexpr std::string_view kName = "the local cache";
    return write_all_at(file_.get(), offset, bytes, 1, {"pwrite", kName}).ok();
  }

  /// A read of a local file is short only at its end, where the cache has nothing.
  bool read(std::uint64_t offset, std::span<std::byte> head, std::span<std::byte> body) noexcept override {
    const std::array<iovec, 2> parts = {iovec{head.data(), head.size()}, iovec{body.data(), body.size()}};
    for (;;) {
      const ssize_t done =
          ::preadv(file_.get(), parts.data(), static_cast<int>(parts.size()), static_cast<off_t>(offset));
      if (done >= 0 || errno != EINTR) return done == static_cast<ssize_t>(head.size() + body.size());
    }
  }

 private:
  const Descriptor file_;
};

/// Some file systems have no files without names. Such a file loses its name at once.
Descriptor make_and_unlink(const std::string& directory) {
  std::string path = directory + "/varve-cache-XXXXXX";
  Descriptor made(::mkostemp(path.data(), O_CLOEXEC));
  if (made.get() >= 0) (void)::unlink(path.c_str());
  return made;
}

}  // namespace

Result<std::unique_ptr<CacheFile>> make_cache_file(std::string_view directory) {
  constexpr mode_t kOwnerOnly = 0600;
  const std::string path(directory);
  Descriptor made(::open(path.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kOwnerOnly));
  if (made.get() < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) made = make_and_unlink(path);
  if (made.get() < 0) return os_error(errno, {"open", path});
  Result<Descriptor> file = above_standard(std::move(made), path);
  if (!file.ok()) return file.status();
  return std::unique_ptr<CacheFile>(std::make_unique<PosixCacheFile>(*std::move(file)));
}

}  // namespace varve::io
