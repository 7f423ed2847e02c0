// Owns: positioned writes that are complete or an error.
// Must never: write at the file's own position. Two writers of one descriptor would race for it.
#include "io/posix/posix_transfer.h"

#include <sys/resource.h>
#include <unistd.h>

namespace varve::io {

int file_size_error(std::uint64_t end_bytes) noexcept {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0) return errno;
  if (limit.rlim_cur == RLIM_INFINITY) return 0;
  return end_bytes > limit.rlim_cur ? EFBIG : 0;
}

Status write_all_at(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes, std::size_t unit_bytes,
                    FailedCall where) noexcept {
  where.call = "pwrite";
  where.offset = offset;
  if (const int error = file_size_error(offset + bytes.size()); error != 0) return os_error(error, where);

  const Transfer transfer = transfer_all(bytes.size(), unit_bytes, [&](std::size_t done) {
    return ::pwrite(descriptor, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
  });
  if (transfer.done_bytes == bytes.size()) return Status();
  where.offset = offset + transfer.done_bytes;
  if (transfer.error != 0) return os_error(transfer.error, where);
  return call_error(Code::kIoError, where, {"the call made no progress"});
}

}  // namespace varve::io
