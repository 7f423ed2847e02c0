#include "bench/blobs/device.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "bench/blobs/content.h"

namespace varve::bench {

namespace {

constexpr std::uint64_t kWritesOfSpace = 500;

Status failure(const std::string& what) {
  return Status::io_error("the device: " + what + ": " + std::strerror(errno));  // NOLINT(concurrency-mt-unsafe)
}

int flags_of(RawFile::Mode mode) {
  if (mode == RawFile::Mode::kRead) return O_RDONLY | O_CLOEXEC;
  return O_WRONLY | O_CREAT | O_CLOEXEC | (mode == RawFile::Mode::kDurableWrite ? O_DSYNC : 0);
}

Result<io::AlignedBuffer> aligned_piece() {
  return io::AlignedBuffer::allocate(kPieceBytes);
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

Result<RawFile> RawFile::open(const std::string& path, Mode mode) {
  constexpr mode_t kRights = 0600;
  int file = ::open(path.c_str(), flags_of(mode) | O_DIRECT, kRights);
  if (file < 0 && errno == EINVAL) file = ::open(path.c_str(), flags_of(mode), kRights);
  if (file < 0) return failure("cannot open " + path);
  return RawFile(file);
}

RawFile::RawFile(RawFile&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

RawFile::~RawFile() {
  if (file_ >= 0) ::close(file_);
}

Status RawFile::write(std::uint64_t offset, std::span<const std::byte> bytes) const {
  const ssize_t written = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  return written == static_cast<ssize_t>(bytes.size()) ? Status() : failure("a write is incomplete");
}

Status RawFile::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  const ssize_t got = ::pread(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
  return got == static_cast<ssize_t>(bytes.size()) ? Status() : failure("a read is incomplete");
}

Status RawFile::sync() const {
  return ::fdatasync(file_) == 0 ? Status() : failure("fdatasync");
}

Status write_raw_stream(const std::string& path, std::uint64_t bytes) {
  const Result<RawFile> file = RawFile::open(path, RawFile::Mode::kWrite);
  if (!file.ok()) return file.status();
  Result<io::AlignedBuffer> block = aligned_piece();
  if (!block.ok()) return block.status();
  Status written = for_pieces(bytes, [&](std::uint64_t offset, std::string_view piece) {
    std::memcpy(block->bytes().data(), piece.data(), piece.size());
    return file->write(offset, block->bytes().first(piece.size()));
  });
  return written.ok() ? file->sync() : written;
}

Status read_raw_stream(const std::string& path, std::uint64_t bytes) {
  const Result<RawFile> file = RawFile::open(path, RawFile::Mode::kRead);
  if (!file.ok()) return file.status();
  Result<io::AlignedBuffer> block = aligned_piece();
  if (!block.ok()) return block.status();
  for (std::uint64_t offset = 0; offset < bytes; offset += kPieceBytes) {
    const std::span<std::byte> part = block->bytes().first(std::min<std::uint64_t>(kPieceBytes, bytes - offset));
    if (Status got = file->read(offset, part); !got.ok()) return got;
    if (Status same = check_piece(offset, text_of(part)); !same.ok()) return same;
  }
  return Status();
}

Result<DurableSpace> DurableSpace::create(const std::string& path, std::size_t write_bytes) {
  Result<io::AlignedBuffer> block = io::AlignedBuffer::allocate(write_bytes);
  if (!block.ok()) return block.status();
  std::memcpy(block->bytes().data(), piece_of(1).data(), std::min(write_bytes, kPieceBytes));
  const Result<RawFile> filled = RawFile::open(path, RawFile::Mode::kWrite);
  if (!filled.ok()) return filled.status();
  for (std::uint64_t n = 0; n < kWritesOfSpace; ++n) {
    if (Status written = filled->write(n * write_bytes, block->bytes()); !written.ok()) return written;
  }
  if (Status synced = filled->sync(); !synced.ok()) return synced;
  Result<RawFile> file = RawFile::open(path, RawFile::Mode::kDurableWrite);
  if (!file.ok()) return file.status();
  return DurableSpace(*std::move(file), *std::move(block));
}

Status DurableSpace::write() {
  return file_.write(next_++ % kWritesOfSpace * block_.size_bytes(), block_.bytes());
}

}  // namespace varve::bench
