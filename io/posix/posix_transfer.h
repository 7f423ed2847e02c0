// Owns: complete transfers with calls that may be interrupted or short.
// Must never: loop without end, or report a part as the whole.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

#include <sys/types.h>

#include "io/os_error.h"
#include "io/probe.h"
#include "varve/status.h"

namespace varve::io {

/// Limit of consecutive interruptions of a call without progress. At the limit, the call has failed.
inline constexpr int kInterruptionsMax = 1000;

/// Repeats `call` while it returns -1 with EINTR or EAGAIN, at most kInterruptionsMax times. Returns the last result;
/// errno belongs to that call.
template <typename Call>
auto retry_interrupted(Call call) noexcept {
  auto result = call();
  for (int retries = 1; result == -1 && (errno == EINTR || errno == EAGAIN) && retries < kInterruptionsMax; ++retries) {
    probe("a call was interrupted");
    std::this_thread::yield();
    result = call();
  }
  return result;
}

struct Transfer {
  std::size_t done_bytes = 0;
  int error = 0;  // an errno; zero with too few bytes done means that a call made no progress
};

/// Calls `step(done_bytes)` until `total_bytes` are done. A step transfers as many of the remaining bytes as it can,
/// and returns like pread. If a short step does not end at a multiple of `unit_bytes`, the transfer continues from the
/// previous multiple.
template <typename Step>
Transfer transfer_all(std::size_t total_bytes, std::size_t unit_bytes, Step step) noexcept {
  Transfer transfer;
  while (transfer.done_bytes < total_bytes) {
    const ssize_t moved = retry_interrupted([&] { return static_cast<ssize_t>(step(transfer.done_bytes)); });
    if (moved < 0) {
      transfer.error = errno;
      return transfer;
    }
    const std::size_t reached = transfer.done_bytes + static_cast<std::size_t>(moved);
    if (reached >= total_bytes) {
      transfer.done_bytes = total_bytes;
      return transfer;
    }
    const std::size_t resumable = reached - reached % unit_bytes;
    if (resumable <= transfer.done_bytes) return transfer;
    probe("a short transfer goes on");
    transfer.done_bytes = resumable;
  }
  return transfer;
}

/// Returns an errno if the process may not have a file of `end_bytes` (RLIMIT_FSIZE), else zero. Callers check it
/// before a file grows, because the kernel answers a breach also with SIGXFSZ, which ends the process.
int file_size_error(std::uint64_t end_bytes) noexcept;

/// Writes all of `bytes` at `offset`. `unit_bytes` is 1, or kSectorBytes for direct I/O. `where` names path and point;
/// the function sets call and offset.
Status write_all_at(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes, std::size_t unit_bytes,
                    FailedCall where) noexcept;

}  // namespace varve::io
