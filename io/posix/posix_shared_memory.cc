// Owns: the memory, and the space of its file.
// Must never: leave a part of the file without space. Bytes written there later are already acknowledged.
#include "io/posix/posix_shared_memory.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <new>

#include <sys/mman.h>
#include <unistd.h>

#include "io/aligned_buffer.h"
#include "io/posix/posix_transfer.h"

namespace varve::io {
namespace {

/// Number of bytes at the file's beginning that check() compares.
constexpr std::size_t kComparedBytes = 64;
constexpr std::size_t kZeroBytesMax = std::size_t{1} << 16;

Status write_zeros(int descriptor, std::uint64_t bytes, const std::string& path) {
  Result<AlignedBuffer> zeros = AlignedBuffer::allocate(std::min<std::size_t>(kZeroBytesMax, bytes));
  if (!zeros.ok()) return zeros.status();
  for (std::uint64_t offset = 0; offset < bytes;) {
    const std::size_t part = std::min<std::size_t>(zeros->size_bytes(), bytes - offset);
    Status written = write_all_at(descriptor, offset, zeros->bytes().first(part), 1, {"", path});
    if (!written.ok()) return written;
    offset += part;
  }
  return Status();
}

Status allocate(int descriptor, std::uint64_t bytes, const std::string& path) {
  if (const int error = file_size_error(bytes); error != 0) return os_error(error, {"fallocate", path});
  if (retry_interrupted([&] { return ::fallocate(descriptor, 0, 0, static_cast<off_t>(bytes)); }) == 0) return Status();
  if (errno != EOPNOTSUPP && errno != ENOSYS) return os_error(errno, {"fallocate", path});
  return write_zeros(descriptor, bytes, path);
}

}  // namespace

Result<std::unique_ptr<SharedMemory>> PosixSharedMemory::create(const FileAt& file, std::uint64_t bytes,
                                                                const std::shared_ptr<const DirectoryPlace>& directory,
                                                                OwnerProcess owner) {
  assert(bytes > 0);
  assert(is_sector_multiple(bytes));
  auto memory = std::make_unique<PosixSharedMemory>(file.path, owner);
  Result<Descriptor> created = create_new(file, O_RDWR);
  if (!created.ok()) return created.status();
  NewName name(file);
  if (Status allocated = allocate(created->get(), bytes, file.path); !allocated.ok()) return allocated;
  // The size is durable, so that a shorter file proves a cut by another process and not a power failure.
  if (retry_interrupted([&] { return ::fdatasync(created->get()); }) != 0) {
    return os_error(errno, {"fdatasync", file.path, std::nullopt, "shared memory"});
  }
  if (Status mapped = memory->map(bytes); !mapped.ok()) return mapped;
  memory->descriptor_ = *std::move(created);
  memory->place_ = FilePlace(directory, file.name, memory->descriptor_.get());
  name.keep();
  return std::unique_ptr<SharedMemory>(std::move(memory));
}

Status PosixSharedMemory::map(std::size_t bytes) {
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) return os_error(errno, {"mmap", guard_.path()});
  memory_ = {static_cast<std::byte*>(address), bytes};
  if (::madvise(address, bytes, MADV_DONTFORK) == 0) return Status();
  return os_error(errno, {"madvise(MADV_DONTFORK)", guard_.path()});
}

std::span<std::byte> PosixSharedMemory::bytes() noexcept {
  return guard_.owned_by_this_process() ? memory_ : std::span<std::byte>();
}

// Every group of buffered commits calls it: one check, one system call, and no allocation on success.
Status PosixSharedMemory::keep(std::size_t offset, std::size_t size_bytes) noexcept {
  assert(offset <= memory_.size() && size_bytes <= memory_.size() - offset);
  if (guard_.is_usable() && file_size_error(offset + size_bytes) == 0) [[likely]] {
    const ssize_t written =
        ::pwrite(descriptor_.get(), memory_.data() + offset, size_bytes, static_cast<off_t>(offset));
    if (written >= 0 && static_cast<std::size_t>(written) == size_bytes) [[likely]]
      return Status();
  }
  return keep_anew(offset, size_bytes);
}

/// Continues a write that was interrupted, short or refused.
Status PosixSharedMemory::keep_anew(std::size_t offset, std::size_t size_bytes) noexcept {
  if (Status usable = guard_.check("pwrite"); !usable.ok()) return usable;
  Status written = write_all_at(descriptor_.get(), offset, memory_.subspan(offset, size_bytes), 1, {"", guard_.path()});
  return written.ok() ? written : guard_.fail(written);
}

Status PosixSharedMemory::check() noexcept {
  if (!guard_.owned_by_this_process()) return HandleGuard::refuse_fork("fstat", guard_.path());
  struct stat now {};
  if (::fstat(descriptor_.get(), &now) != 0) return os_error(errno, {"fstat", guard_.path()});
  // A file that was cut grows again with the next write, and reads as zeros where it was cut.
  std::array<std::byte, kComparedBytes> found{};
  const auto read = retry_interrupted([&] { return ::pread(descriptor_.get(), found.data(), found.size(), 0); });
  if (read < 0) return os_error(errno, {"pread", guard_.path(), 0});
  const bool is_whole = static_cast<std::size_t>(now.st_size) == memory_.size() && read == std::ssize(found) &&
                        std::equal(found.begin(), found.end(), memory_.begin());
  if (is_whole) return place_.check(descriptor_.get(), "pwrite");
  is_damaged_.store(true, std::memory_order_relaxed);
  try {
    return call_error(Code::kCorruption, {"fstat", guard_.path()},
                      {"another program has cut or written the file: its size is ", std::to_string(now.st_size),
                       " bytes; expected ", std::to_string(memory_.size())});
  } catch (const std::bad_alloc&) {
    return Status(Code::kCorruption);
  }
}

/// The next open refuses a file of another size. Failures are ignored here, because check() reports them.
void PosixSharedMemory::restore() noexcept {
  if (!is_damaged_.load(std::memory_order_relaxed) || !guard_.owned_by_this_process()) return;
  const auto bytes = static_cast<off_t>(memory_.size());
  if (retry_interrupted([&] { return ::ftruncate(descriptor_.get(), bytes); }) != 0) return;
  (void)write_all_at(descriptor_.get(), 0, memory_, 1, {"", guard_.path()});
}

PosixSharedMemory::~PosixSharedMemory() {
  // In a fork, other memory may be at this address.
  if (!memory_.empty() && guard_.owned_by_this_process()) ::munmap(memory_.data(), memory_.size());
}

}  // namespace varve::io
