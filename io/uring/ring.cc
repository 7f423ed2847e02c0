// Owns: making a ring, and testing one.
// Must never: trust the kernel's version or its list of features if a test is possible.
#include "io/uring/ring.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include <sys/mman.h>

#include "io/os_error.h"
#include "io/posix/posix_descriptor.h"

namespace varve::io {
namespace {

// Best first. A kernel that does not know a flag returns EINVAL.
constexpr std::array<unsigned, 2> kFlags = {IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG, 0};

Status ring_error(int error, std::string_view call) {
  return call_error(os_error_code(error), {call, "a ring"}, {std::generic_category().message(error)})
      .with_os_error(error);
}

/// Waits for the one completion in flight. Returns its result, or a negative errno.
int result_of_one(io_uring* ring) noexcept {
  int entered = -EINTR;
  while (entered == -EINTR) entered = ::io_uring_submit_and_wait(ring, 1);
  if (entered < 0) return entered;
  io_uring_cqe* completion = nullptr;
  if (const int peeked = ::io_uring_peek_cqe(ring, &completion); peeked != 0) return peeked;
  const int result = completion->res;
  ::io_uring_cqe_seen(ring, completion);
  return result;
}

}  // namespace

Result<std::unique_ptr<Ring>> Ring::make(std::size_t entries) {
  auto ring = std::make_unique<Ring>();  // First, because it may fail, and nothing is open yet.
  int result = -EINVAL;
  for (const unsigned flags : kFlags) {
    if (result != -EINVAL) break;
    io_uring_params parameters{};
    parameters.flags = flags;
    result = ::io_uring_queue_init_params(static_cast<unsigned>(entries), ring->get(), &parameters);
  }
  if (result != 0) return ring_error(-result, "io_uring_setup");
  ring->is_open_ = true;
  Result<Descriptor> moved = above_standard(Descriptor(std::exchange(ring->ring_.ring_fd, -1)), "a ring");
  if (!moved.ok()) return moved.status();
  ring->ring_.ring_fd = moved->release();
  ring->ring_.enter_ring_fd = ring->ring_.ring_fd;
  return ring;
}

Ring::~Ring() {
  if (is_open_) ::io_uring_queue_exit(&ring_);
}

Status probe_io_uring() {
  Result<std::unique_ptr<Ring>> made = Ring::make(1);
  if (!made.ok()) return made.status();
  io_uring* ring = (*made)->get();

  ::io_uring_prep_nop(::io_uring_get_sqe(ring));
  if (const int result = result_of_one(ring); result != 0) return ring_error(-result, "io_uring_enter");

  const Descriptor file(::memfd_create("varve", MFD_CLOEXEC));
  constexpr char kByte = 'v';
  if (file.get() < 0 || ::pwrite(file.get(), &kByte, 1, 0) != 1) return ring_error(errno, "memfd_create for");
  char byte = 0;
  ::io_uring_prep_read(::io_uring_get_sqe(ring), file.get(), &byte, 1, 0);
  const int result = result_of_one(ring);
  if (result == 1 && byte == kByte) return Status();
  return ring_error(result < 0 ? -result : EIO, "read by");
}

}  // namespace varve::io
