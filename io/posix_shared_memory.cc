// Owns: the mapping and the space behind it.
// Must never: leave a page without space: the write that first touches it would end the process with SIGBUS.
#include "io/posix_shared_memory.h"

#include <algorithm>
#include <cassert>
#include <cerrno>

#include <sys/mman.h>
#include <unistd.h>

#include "io/aligned_buffer.h"
#include "io/posix_transfer.h"

namespace varve::io {
namespace {

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE of Linux 5.14; older headers lack it, older kernels refuse.
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
                                                                OwnerProcess owner) {
  assert(bytes > 0);
  assert(is_sector_multiple(bytes));
  auto memory = std::make_unique<PosixSharedMemory>(owner);
  Result<Descriptor> created = create_new(file, O_RDWR);
  if (!created.ok()) return created.status();
  NewName name(file);
  if (Status allocated = allocate(created->get(), bytes, file.path); !allocated.ok()) return allocated;
  // So that a file found shorter is known to have been cut by somebody else, not by a power failure.
  if (retry_interrupted([&] { return ::fdatasync(created->get()); }) != 0) {
    return os_error(errno, {"fdatasync", file.path, std::nullopt, "shared memory"});
  }
  if (Status mapped = memory->map(created->get(), bytes, file.path); !mapped.ok()) return mapped;
  name.keep();
  return std::unique_ptr<SharedMemory>(std::move(memory));  // The mapping needs the descriptor no longer.
}

Status PosixSharedMemory::map(int descriptor, std::size_t bytes, const std::string& path) {
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED) return os_error(errno, {"mmap", path});
  memory_ = {static_cast<std::byte*>(address), bytes};
  if (::madvise(address, bytes, MADV_DONTFORK) != 0) return os_error(errno, {"madvise(MADV_DONTFORK)", path});
  // Touching the pages now lets a device that cannot back them say so here, and takes the faults out of the commits.
  if (retry_interrupted([&] { return ::madvise(address, bytes, kPopulateWrite); }) == 0 || errno == EINVAL) {
    return Status();
  }
  return os_error(errno, {"madvise(MADV_POPULATE_WRITE)", path});
}

std::span<std::byte> PosixSharedMemory::bytes() noexcept {
  return owner_.is_this_process() ? memory_ : std::span<std::byte>();
}

PosixSharedMemory::~PosixSharedMemory() {
  // A fork has other things at this address.
  if (!memory_.empty() && owner_.is_this_process()) ::munmap(memory_.data(), memory_.size());
}

}  // namespace varve::io
