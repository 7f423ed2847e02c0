// Owns: appending, and reading in place or through an aligned bounce buffer.
// Must never: hand out a byte that the file did not have.
#include "io/posix_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <unistd.h>

#include "io/aligned_buffer.h"
#include "io/posix_transfer.h"

namespace varve::io {
namespace {

constexpr std::size_t kBounceBytesMax = std::size_t{1} << 20;

// Reads `needed_bytes` at `offset` into `memory`, which may be asked for more than that: direct reads take whole
// sectors, and the file may end within the last one.
Transfer read_all_at(int descriptor, std::uint64_t offset, std::span<std::byte> memory, std::size_t needed_bytes,
                     std::size_t unit_bytes) noexcept {
  return transfer_all(needed_bytes, unit_bytes, [&](std::size_t done) {
    return ::pread(descriptor, memory.data() + done, memory.size() - done, static_cast<off_t>(offset + done));
  });
}

}  // namespace

Result<std::unique_ptr<WritableFile>> PosixWritableFile::create(const FileAt& file, OwnerProcess owner) {
  auto handle =
      std::make_unique<PosixWritableFile>(file.path, owner);  // First: making it may fail, and leaves no file.
  Result<Descriptor> created = create_new(file, O_WRONLY);
  if (!created.ok()) return created.status();
  handle->descriptor_ = *std::move(created);
  return std::unique_ptr<WritableFile>(std::move(handle));
}

Status PosixWritableFile::append(std::span<const std::byte> bytes) {
  if (Status usable = guard_.check("pwrite"); !usable.ok()) return usable;
  Status written = write_all_at(descriptor_.get(), size_bytes_, bytes, 1, {"", guard_.path()});
  if (!written.ok()) return guard_.fail(written);
  size_bytes_ += bytes.size();
  return Status();
}

Status PosixWritableFile::sync(SyncPoint point) {
  if (Status usable = guard_.check("fdatasync"); !usable.ok()) return usable;
  // fdatasync leaves out times alone; the size, and what else is needed to read the bytes back, it writes.
  if (retry_interrupted([&] { return ::fdatasync(descriptor_.get()); }) == 0) return Status();
  return guard_.fail(os_error(errno, {"fdatasync", guard_.path(), std::nullopt, point.name}));
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
  return std::unique_ptr<ReadableFile>(std::make_unique<PosixReadableFile>(
      std::move(opened->descriptor), file.path, static_cast<std::uint64_t>(opened->status.st_size), direct));
}

Status PosixReadableFile::read_exactly(std::uint64_t offset, std::span<std::byte> bytes) const {
  if (offset > size_bytes_ || bytes.size() > size_bytes_ - offset) return ended_early(offset, bytes.size());
  return direct() ? read_direct(offset, bytes) : read_buffered(offset, bytes);
}

Status PosixReadableFile::read_buffered(std::uint64_t offset, std::span<std::byte> bytes) const {
  const Transfer transfer = read_all_at(descriptor_.get(), offset, bytes, bytes.size(), 1);
  if (transfer.done_bytes == bytes.size()) return Status();
  if (transfer.error != 0) return os_error(transfer.error, {"pread", path_, offset + transfer.done_bytes});
  return ended_early(offset, bytes.size());
}

Status PosixReadableFile::read_direct(std::uint64_t offset, std::span<std::byte> bytes) const {
  AlignedBuffer bounce;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::uint64_t position = offset + done;
    const std::size_t rest = bytes.size() - done;
    const std::uint64_t sector = round_down_to_sector(position);
    const std::size_t lead = static_cast<std::size_t>(position - sector);  // bytes before the ones asked for

    const bool in_place = lead == 0 && is_sector_multiple(rest) && is_sector_aligned(bytes.data() + done);
    if (!in_place && bounce.size_bytes() == 0) {
      Result<AlignedBuffer> made =
          AlignedBuffer::allocate(std::min<std::size_t>(round_up_to_sector(lead + rest), kBounceBytesMax));
      if (!made.ok()) return made.status();
      bounce = *std::move(made);
    }
    const std::span<std::byte> memory =
        in_place ? bytes.subspan(done)
                 : bounce.bytes().first(std::min<std::size_t>(round_up_to_sector(lead + rest), bounce.size_bytes()));
    const std::size_t needed = std::min(memory.size(), lead + rest);

    const Transfer transfer = read_all_at(descriptor_.get(), sector, memory, needed, kSectorBytes);
    if (transfer.error == EINVAL) {
      if (Status stopped = stop_direct(); !stopped.ok()) return stopped;
      return read_buffered(offset, bytes);
    }
    if (transfer.error != 0) return os_error(transfer.error, {"pread", path_, sector + transfer.done_bytes});
    if (transfer.done_bytes < needed) return ended_early(offset, bytes.size());
    if (!in_place) std::memcpy(bytes.data() + done, memory.data() + lead, needed - lead);
    done += needed - lead;
  }
  return Status();
}

// Some file systems take the flag and refuse the transfer. Threads that race here all come to the same end.
Status PosixReadableFile::stop_direct() const {
  if (const int error = change_flags(descriptor_.get(), 0, O_DIRECT); error != 0) {
    return os_error(error, {"fcntl(F_SETFL)", path_});
  }
  direct_.store(false, std::memory_order_relaxed);
  return Status();
}

Status PosixReadableFile::ended_early(std::uint64_t offset, std::size_t wanted_bytes) const {
  struct stat now {};
  if (::fstat(descriptor_.get(), &now) != 0) return os_error(errno, {"fstat", path_});
  return call_error(Code::kCorruption, {"pread", path_, offset},
                    {"the file ends before what is wanted: ", std::to_string(wanted_bytes), " bytes; its size is ",
                     std::to_string(now.st_size), ", and was ", std::to_string(size_bytes_), " when it was opened"});
}

}  // namespace varve::io
