// Owns: the calls of the operating system for the files of a cache (cache_file.h).
// Must never: sync blocks or an index, or use a file that another user may write: a block's checksum is no secret.
#include "io/rados/cache_file.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "io/os_error.h"
#include "io/posix/posix_descriptor.h"
#include "io/posix/posix_transfer.h"

namespace varve::io {
namespace {

constexpr mode_t kOwnerOnly = 0600;
constexpr std::string_view kCallName = "the local cache";

class PosixCacheFile final : public CacheFile {
 public:
  explicit PosixCacheFile(Descriptor file) noexcept : file_(std::move(file)) {}

  bool write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept override {
    return write_all_at(file_.get(), offset, bytes, 1, {"pwrite", kCallName}).ok();
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

  void clear() noexcept override {
    if (::ftruncate(file_.get(), 0) != 0) return;  // Then the old bytes are overwritten one after the other.
  }

 private:
  const Descriptor file_;
};

/// Opens a regular file that this user alone may read and write. Returns no descriptor otherwise.
Descriptor open_private(const Descriptor& directory, const std::string& name, int flags, struct stat& status) {
  // A pipe in its place would make the open wait.
  Descriptor opened(::openat(directory.get(), name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, kOwnerOnly));
  if (opened.get() < 0 || ::fstat(opened.get(), &status) != 0) return Descriptor();
  constexpr mode_t kOthers = 077;
  const bool is_private = S_ISREG(status.st_mode) && status.st_nlink == 1 && status.st_uid == ::geteuid() &&
                          (status.st_mode & kOthers) == 0;
  if (!is_private) return Descriptor();
  Result<Descriptor> high = above_standard(std::move(opened), name);
  return high.ok() ? *std::move(high) : Descriptor();
}

class PosixCacheIndexFile final : public CacheIndexFile {
 public:
  /// `blocks` is the file `name` of the directory. `former` may be empty.
  PosixCacheIndexFile(Descriptor directory, std::string name, const struct stat& blocks, Descriptor former)
      : directory_(std::move(directory)),
        name_(std::move(name)),
        index_name_(index_name_of(name_)),
        blocks_(blocks),
        former_(std::move(former)) {}

  static std::string index_name_of(const std::string& name) { return name + ".index"; }

  bool read(std::span<std::byte> bytes) noexcept override {
    if (former_.get() < 0) return false;
    const Transfer transfer = transfer_all(bytes.size(), 1, [&](std::size_t done) {
      return ::pread(former_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(read_bytes_ + done));
    });
    read_bytes_ += transfer.done_bytes;
    return transfer.done_bytes == bytes.size();
  }

  bool remove() noexcept override {
    former_ = Descriptor();
    if (!is_named()) return false;
    if (::unlinkat(directory_.get(), index_name_.c_str(), 0) != 0 && errno != ENOENT) return false;
    return ::fsync(directory_.get()) == 0;
  }

  bool write(std::span<const std::byte> bytes) noexcept override {
    if (has_failed_) return false;
    if (next_.get() < 0) begin();
    // A slow disk shall not hold up the end of the process.
    constexpr std::chrono::seconds kWriteTime{2};
    const bool is_written = next_.get() >= 0 && std::chrono::steady_clock::now() - begun_at_ < kWriteTime &&
                            write_all_at(next_.get(), written_bytes_, bytes, 1, {"pwrite", kCallName}).ok();
    written_bytes_ += bytes.size();
    if (is_written) return true;
    has_failed_ = true;
    if (next_.get() >= 0) (void)::unlinkat(directory_.get(), index_name_.c_str(), 0);
    return false;
  }

 private:
  /// Returns whether the blocks have their name. Otherwise another process may use the names.
  bool is_named() const noexcept {
    struct stat named {};
    return ::fstatat(directory_.get(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           named.st_dev == blocks_.st_dev && named.st_ino == blocks_.st_ino;
  }

  void begin() noexcept {
    begun_at_ = std::chrono::steady_clock::now();
    if (!is_named()) return;
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    Descriptor made(::openat(directory_.get(), index_name_.c_str(), kFlags, kOwnerOnly));
    Result<Descriptor> next = above_standard(std::move(made), kCallName);
    if (next.ok()) next_ = *std::move(next);
  }

  const Descriptor directory_;
  const std::string name_;
  const std::string index_name_;
  const struct stat blocks_;
  Descriptor former_;
  std::uint64_t read_bytes_ = 0;
  Descriptor next_;
  std::uint64_t written_bytes_ = 0;
  std::chrono::steady_clock::time_point begun_at_;
  bool has_failed_ = false;
};

/// Takes the lock of an open file at once, or not at all. It is held until the file is closed.
bool lock_now(const Descriptor& file) noexcept {
  for (int tries = 0; tries < kInterruptionsMax; ++tries) {
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EINTR) return false;
  }
  return false;
}

/// Returns no files if a step fails.
CacheFiles open_named(const std::string& directory, const std::string& name) {
  Result<Descriptor> place =
      above_standard(Descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), directory);
  if (!place.ok()) return {};
  struct stat status {};
  Descriptor blocks = open_private(*place, name, O_RDWR | O_CREAT, status);
  if (blocks.get() < 0 || !lock_now(blocks)) return {};
  const std::string index_name = PosixCacheIndexFile::index_name_of(name);
  struct stat former_status {};
  Descriptor former = open_private(*place, index_name, O_RDONLY, former_status);
  const bool may_stay = former.get() >= 0;
  if (!may_stay && ::unlinkat(place->get(), index_name.c_str(), 0) != 0 && errno != ENOENT) return {};
  auto index = std::make_unique<PosixCacheIndexFile>(*std::move(place), name, status, std::move(former));
  return {std::make_unique<PosixCacheFile>(std::move(blocks)), std::move(index)};
}

/// Some file systems have no files without names. Such a file loses its name at once.
Descriptor make_and_unlink(const std::string& directory) {
  std::string path = directory + "/varve-cache-XXXXXX";
  Descriptor made(::mkostemp(path.data(), O_CLOEXEC));
  if (made.get() >= 0) (void)::unlink(path.c_str());
  return made;
}

}  // namespace

Result<std::unique_ptr<CacheFile>> make_cache_file(std::string_view directory) {
  const std::string path(directory);
  Descriptor made(::open(path.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kOwnerOnly));
  if (made.get() < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) made = make_and_unlink(path);
  if (made.get() < 0) return os_error(errno, {"open", path});
  Result<Descriptor> file = above_standard(std::move(made), path);
  if (!file.ok()) return file.status();
  return std::unique_ptr<CacheFile>(std::make_unique<PosixCacheFile>(*std::move(file)));
}

Result<CacheFiles> open_cache_files(std::string_view directory, std::string_view name) {
  CacheFiles named = open_named(std::string(directory), std::string(name));
  if (named.blocks != nullptr) return named;
  Result<std::unique_ptr<CacheFile>> unnamed = make_cache_file(directory);
  if (!unnamed.ok()) return unnamed.status();
  return CacheFiles{*std::move(unnamed), nullptr};
}

}  // namespace varve::io
