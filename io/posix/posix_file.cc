// Owns: appending and syncing, and the change from direct to buffered reads.
// Must never: return a byte that the file did not contain.
#include "io/posix/posix_file.h"

#include <cerrno>
#include <new>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "io/posix/posix_read.h"
#include "io/posix/posix_transfer.h"

namespace varve::io {
namespace {

/// Number of bytes written back at a time. It is small enough that a log write waits only briefly, and large enough for
/// few calls.
constexpr std::uint64_t kWriteBackBytes = std::uint64_t{512} << 10;

}  // namespace

Result<std::unique_ptr<WritableFile>> PosixWritableFile::create(const FileAt& file,
                                                                const std::shared_ptr<const DirectoryPlace>& directory,
                                                                OwnerProcess owner) {
  auto handle =
      std::make_unique<PosixWritableFile>(file.path, owner);  // First, because allocation may fail; no file exists yet.
  Result<Descriptor> created = create_new(file, O_WRONLY);
  if (!created.ok()) return created.status();
  handle->descriptor_ = *std::move(created);
  handle->place_ = FilePlace(directory, file.name, handle->descriptor_.get());
  return std::unique_ptr<WritableFile>(std::move(handle));
}

Status PosixWritableFile::append(std::span<const std::byte> bytes) {
  if (Status usable = guard_.check("pwrite"); !usable.ok()) return usable;
  Status written = write_all_at(descriptor_.get(), size_bytes_, bytes, 1, {"", guard_.path()});
  if (!written.ok()) return guard_.fail(written);
  size_bytes_ += bytes.size();
  return size_bytes_ - begun_bytes_ < kWriteBackBytes ? Status() : begin_write_back();
}

// Starts to write appended bytes to the device before the sync. Otherwise, the sync would write them in one burst. Then
// waits for the bytes that it began before those. A concurrent log write waits for what the device has been given, so
// that is two steps at most.
Status PosixWritableFile::begin_write_back() {
  const std::uint64_t from = std::exchange(begun_bytes_, size_bytes_);
  const std::uint64_t before = std::exchange(awaited_bytes_, from);
  Status begun = write_back(from, size_bytes_, SYNC_FILE_RANGE_WRITE);
  return begun.ok() && before < from ? write_back(before, from, SYNC_FILE_RANGE_WAIT_BEFORE) : begun;
}

Status PosixWritableFile::write_back(std::uint64_t from, std::uint64_t to, unsigned int how) {
  const auto offset = static_cast<off_t>(from);
  const auto bytes = static_cast<off_t>(to - from);
  const int result = retry_interrupted([&] { return ::sync_file_range(descriptor_.get(), offset, bytes, how); });
  const bool is_refused = result != 0 && (errno == ENOSYS || errno == EPERM || errno == EINVAL);
  if (result == 0 || is_refused) return Status();  // Without it, the sync writes everything.
  return guard_.fail(os_error(errno, {"sync_file_range", guard_.path(), from}));
}

Status PosixWritableFile::sync(SyncPoint point) {
  if (Status usable = guard_.check("fdatasync"); !usable.ok()) return usable;
  // fdatasync omits only timestamps. It writes the size and everything else that is needed to read the bytes back.
  if (retry_interrupted([&] { return ::fdatasync(descriptor_.get()); }) != 0) {
    return guard_.fail(os_error(errno, {"fdatasync", guard_.path(), std::nullopt, point.name}));
  }
  const Status in_place = place_.check(descriptor_.get(), "fdatasync");
  return in_place.ok() ? in_place : guard_.fail(in_place);
}

Result<std::unique_ptr<ReadableFile>> PosixReadableFile::open(const FileAt& file, ReadMode mode) {
  Result<OpenedFile> opened = open_regular(file, O_RDONLY);
  if (!opened.ok()) return opened.status();
  bool direct = false;
  if (mode == ReadMode::kDirect) {
    const int error = change_flags(opened->descriptor.get(), O_DIRECT, 0);
    if (error != 0 && error != EINVAL) return os_error(error, {"fcntl(F_SETFL, O_DIRECT)", file.path});
    direct = error == 0;
  }
  const struct stat& status = opened->status;
  const FileKey key{static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino)};
  return std::unique_ptr<ReadableFile>(std::make_unique<PosixReadableFile>(
      std::move(opened->descriptor), file.path, static_cast<std::uint64_t>(status.st_size), direct, key));
}

Status PosixReadableFile::read_exactly(std::uint64_t offset, std::span<std::byte> bytes) const {
  PosixRead read(*this, offset, bytes);
  return finish_by_calls(read);
}

// Some file systems accept the flag and refuse the transfer. Threads that race here all reach the same state.
Status PosixReadableFile::stop_direct() const noexcept {
  if (const int error = change_flags(descriptor_.get(), 0, O_DIRECT); error != 0) {
    return os_error(error, {"fcntl(F_SETFL)", path_});
  }
  direct_.store(false, std::memory_order_relaxed);
  return Status();
}

Status PosixReadableFile::ended_early(std::uint64_t offset, std::size_t wanted_bytes) const noexcept {
  struct stat now {};
  if (::fstat(descriptor_.get(), &now) != 0) return os_error(errno, {"fstat", path_});
  try {
    return call_error(Code::kCorruption, {"pread", path_, offset},
                      {"the file is too short to read ", std::to_string(wanted_bytes), " bytes here; its size is ",
                       std::to_string(now.st_size), ", but was ", std::to_string(size_bytes_), " when it was opened"});
  } catch (const std::bad_alloc&) {
    return Status(Code::kCorruption);
  }
}

}  // namespace varve::io
