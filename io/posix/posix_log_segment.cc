// Owns: the system calls of a log segment.
// Must never: return a segment whose space is not certain, or mix direct and buffered transfers on one file.
#include "io/posix/posix_log_segment.h"

#include <algorithm>
#include <cassert>
#include <cerrno>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "io/aligned_buffer.h"
#include "io/posix/posix_transfer.h"

namespace varve::io {
namespace {

constexpr int kWriteZeroes =
    0x80;  // FALLOC_FL_WRITE_ZEROES of Linux 6.17; older headers lack it, older kernels refuse it.
constexpr std::uint32_t kZfsMagic = 0x2FC12FC1;
constexpr std::uint32_t kBcachefsMagic = 0xCA451A4E;

int allocate_range(int descriptor, int mode, std::uint64_t offset, std::uint64_t bytes) noexcept {
  const int result = retry_interrupted(
      [&] { return ::fallocate(descriptor, mode, static_cast<off_t>(offset), static_cast<off_t>(bytes)); });
  return result == 0 ? 0 : errno;
}

}  // namespace

bool zero_filling_helps(std::uint32_t type) noexcept {
  return type != BTRFS_SUPER_MAGIC && type != kZfsMagic && type != kBcachefsMagic && type != TMPFS_MAGIC &&
         type != RAMFS_MAGIC;
}

Result<bool> zero_filling_helps_in(int descriptor, const std::string& path) {
  struct statfs file_system {};
  if (::fstatfs(descriptor, &file_system) != 0) return os_error(errno, {"fstatfs", path});
  return zero_filling_helps(static_cast<std::uint32_t>(file_system.f_type));
}

Result<std::unique_ptr<LogSegment>> PosixLogSegment::create(const FileAt& file, std::uint64_t bytes,
                                                            const std::shared_ptr<const DirectoryPlace>& directory,
                                                            OwnerProcess owner) {
  assert(bytes > 0);
  assert(is_sector_multiple(bytes));
  auto segment = std::make_unique<PosixLogSegment>(file.path, bytes, owner);
  Result<Descriptor> created = create_new(file, O_RDWR | O_DSYNC);
  if (!created.ok()) return created.status();
  NewName name(file);
  segment->descriptor_ = *std::move(created);
  segment->place_ = FilePlace(directory, file.name, segment->descriptor_.get());
  if (Status prepared = segment->prepare(); !prepared.ok()) return prepared;
  name.keep();
  return std::unique_ptr<LogSegment>(std::move(segment));
}

Result<std::unique_ptr<LogSegment>> PosixLogSegment::recycle(const FileAt& from, const FileAt& to, std::uint64_t bytes,
                                                             const std::shared_ptr<const DirectoryPlace>& directory,
                                                             OwnerProcess owner) {
  assert(bytes > 0);
  assert(is_sector_multiple(bytes));
  auto segment = std::make_unique<PosixLogSegment>(to.path, bytes, owner);
  Result<OpenedFile> opened = open_regular(from, O_RDWR | O_DSYNC);
  if (!opened.ok()) return opened.status();
  const auto old_bytes = static_cast<std::uint64_t>(opened->status.st_size);
  if (opened->status.st_nlink != 1 || old_bytes > bytes) {
    return call_error(Code::kUnsupported, {"renameat", from.path}, {"the file has another link, or is too large"});
  }
  struct stat taken {};
  if (::fstatat(to.directory, to.name.c_str(), &taken, AT_SYMLINK_NOFOLLOW) == 0) {
    return os_error(EEXIST, {"renameat", to.path});
  }
  if (errno != ENOENT) return os_error(errno, {"fstatat", to.path});
  if (::renameat(from.directory, from.name.c_str(), to.directory, to.name.c_str()) != 0) {
    return os_error(errno, {"renameat", to.path});
  }
  NewName name(to);
  segment->descriptor_ = std::move(opened->descriptor);
  segment->place_ = FilePlace(directory, to.name, segment->descriptor_.get());
  const std::uint64_t kept_bytes = old_bytes - old_bytes % kSectorBytes;
  segment->prepared_bytes_.store(std::max<std::uint64_t>(kSectorBytes, kept_bytes), std::memory_order_relaxed);
  if (Status prepared = segment->prepare(); !prepared.ok()) return prepared;
  name.keep();
  return std::unique_ptr<LogSegment>(std::move(segment));
}

Status PosixLogSegment::prepare() {
  const int descriptor = descriptor_.get();
  // O_DIRECT is set with fcntl, not with openat: if it is refused, openat returns EINVAL after it has created the file.
  const int refused = change_flags(descriptor, O_DIRECT, 0);
  if (refused != 0 && refused != EINVAL) return os_error(refused, {"fcntl(F_SETFL, O_DIRECT)", guard_.path()});
  direct_ = refused == 0;

  const Result<bool> helps = zero_filling_helps_in(descriptor, guard_.path());
  if (!helps.ok()) return helps.status();
  filling_helps_ = *helps;

  if (const int error = file_size_error(allocated_bytes_); error != 0) {
    return os_error(error, {"fallocate", guard_.path()});
  }
  const int error = allocate_range(descriptor, 0, 0, allocated_bytes_);
  if (error == 0) return write_first_sector();
  if (error != EOPNOTSUPP && error != ENOSYS) return os_error(error, {"fallocate", guard_.path()});
  // If space cannot be allocated, it is obtained by writing zeros.
  if (Status written = write_first_sector(); !written.ok()) return written;
  return zero_to(allocated_bytes_);
}

// Prepares the header's sector and makes the size durable. Also shows whether a file system that accepted the flag
// accepts a direct transfer.
Status PosixLogSegment::write_first_sector() {
  Result<AlignedBuffer> sector = AlignedBuffer::allocate(kSectorBytes);
  if (!sector.ok()) return sector.status();
  const std::span<const std::byte> zeros = sector->bytes();
  if (direct_) {
    const ssize_t written =
        retry_interrupted([&] { return ::pwrite(descriptor_.get(), zeros.data(), zeros.size(), 0); });
    if (written == -1 && errno == EINVAL) {
      direct_ = false;
      const int error = change_flags(descriptor_.get(), 0, O_DIRECT);
      if (error != 0) return os_error(error, {"fcntl(F_SETFL)", guard_.path()});
    } else if (written == static_cast<ssize_t>(zeros.size())) {
      return Status();
    }
  }
  return write_all_at(descriptor_.get(), 0, zeros, unit_bytes(), {"", guard_.path(), std::nullopt, "log segment"});
}

Status PosixLogSegment::fill_to(std::uint64_t end) {
  assert(!written_to_.load(std::memory_order_relaxed) || stop_filling_.load(std::memory_order_relaxed));
  const std::lock_guard<std::mutex> filling(filling_);
  if (Status usable = guard_.check("fill"); !usable.ok()) return usable;
  if (!filling_helps_) return Status();
  Status filled = zero_to(std::min(end, allocated_bytes_));
  // If there is no memory for the zeros, nothing was written, and the segment is unharmed.
  return filled.ok() || filled.code() == Code::kOutOfMemory ? filled : guard_.fail(filled);
}

void PosixLogSegment::stop_filling() noexcept {
  stop_filling_.store(true, std::memory_order_relaxed);
  const std::lock_guard<std::mutex> wait_for_chunk_under_way(filling_);
  zeros_.reset();
}

Status PosixLogSegment::zero_to(std::uint64_t end) {
  // The first sector was written when the segment was created, and may contain a header by now.
  std::uint64_t position = prepared_bytes_.load(std::memory_order_relaxed);
  if (position >= end) return Status();
  if (!zeros_) {
    Result<AlignedBuffer> zeros = AlignedBuffer::allocate(std::min<std::size_t>(kFillChunkBytes, allocated_bytes_));
    if (!zeros.ok()) return zeros.status();
    zeros_.emplace(*std::move(zeros));
  }

  while (position < end && !stop_filling_.load(std::memory_order_relaxed)) {
    assert(!written_to_.load(std::memory_order_relaxed));  // Zeros would overwrite records.
    const std::uint64_t chunk_end = std::min(position - position % kFillChunkBytes + kFillChunkBytes, end);
    const std::size_t chunk_bytes = static_cast<std::size_t>(chunk_end - position);
    if (Status zeroed = zero_chunk(position, zeros_->bytes().first(chunk_bytes)); !zeroed.ok()) return zeroed;
    position = chunk_end;
    filled_bytes_.fetch_add(chunk_bytes, std::memory_order_release);
    prepared_bytes_.store(position, std::memory_order_release);
  }
  if (position == allocated_bytes_) zeros_.reset();
  return Status();
}

Status PosixLogSegment::zero_chunk(std::uint64_t offset, std::span<const std::byte> zeros) {
  FailedCall where{"fallocate(FALLOC_FL_WRITE_ZEROES)", guard_.path(), offset, "log segment fill"};
  if (device_writes_zeroes_) {
    const int error = allocate_range(descriptor_.get(), kWriteZeroes, offset, zeros.size());
    if (error == 0) {
      where.call = "fdatasync";  // O_DSYNC applies only to writes.
      if (retry_interrupted([&] { return ::fdatasync(descriptor_.get()); }) == 0) return Status();
      return os_error(errno, where);
    }
    if (error != EOPNOTSUPP && error != EINVAL && error != ENOSYS) return os_error(error, where);
    device_writes_zeroes_ = false;
  }
  return write_all_at(descriptor_.get(), offset, zeros, unit_bytes(), where);
}

Status PosixLogSegment::write(std::uint64_t offset, std::span<const std::byte> bytes, SyncPoint point) {
  assert(is_sector_multiple(offset));
  assert(is_sector_multiple(bytes.size()));
  assert(is_sector_aligned(bytes.data()));
  assert(offset <= allocated_bytes_);
  assert(bytes.size() <= allocated_bytes_ - offset);
  if (Status usable = guard_.check("pwrite"); !usable.ok()) return usable;
  const bool behind_first_sector = offset + bytes.size() > kSectorBytes;
  if (behind_first_sector && !written_to_.load(std::memory_order_relaxed)) {
    written_to_.store(true, std::memory_order_relaxed);
  }

  Status written =
      write_all_at(descriptor_.get(), offset, bytes, unit_bytes(), {"", guard_.path(), std::nullopt, point.name});
  // The place is checked after the write. If it was right then, the next open finds the bytes.
  if (written.ok()) written = place_.check(descriptor_.get(), "pwrite");
  return written.ok() ? written : guard_.fail(written);
}

Status PosixLogSegment::cut(std::uint64_t size_bytes, SyncPoint point) {
  if (Status usable = guard_.check("ftruncate"); !usable.ok()) return usable;
  assert(size_bytes <= allocated_bytes_);
  const int descriptor = descriptor_.get();
  if (retry_interrupted([&] { return ::ftruncate(descriptor, static_cast<off_t>(size_bytes)); }) != 0) {
    return guard_.fail(os_error(errno, {"ftruncate", guard_.path(), size_bytes, point.name}));
  }
  if (retry_interrupted([&] { return ::fsync(descriptor); }) != 0) {
    return guard_.fail(os_error(errno, {"fsync", guard_.path(), std::nullopt, point.name}));
  }
  guard_.cut_at(size_bytes);  // A write past the end would make the file grow again, unnoticed.
  return Status();
}

}  // namespace varve::io
