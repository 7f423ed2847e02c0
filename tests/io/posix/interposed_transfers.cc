// Owns: the three interposed functions. The linker prefers a program's own definition of a name to the library's.
// Must never: change a call unless a test asked for it.
#include "tests/io/posix/interposed_transfers.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace varve::io {
namespace {

using Decide = std::function<Fate(const TransferCall&)>;

Decide& write_decision() {
  static Decide decide;
  return decide;
}

Decide& read_decision() {
  static Decide decide;
  return decide;
}

int half_allocation_error = 0;

void set(Decide& decision, Decide decide) {
  if (decision) std::abort();
  decision = std::move(decide);
}

// Returns false with errno set if the call fails. Otherwise limits `bytes`.
bool survives(const Decide& decide, int descriptor, std::size_t* bytes, off_t offset) {
  if (!decide) return true;
  const bool direct = (::fcntl(descriptor, F_GETFL) & O_DIRECT) != 0;
  const Fate fate = decide({descriptor, *bytes, offset, direct});
  *bytes = std::min(*bytes, fate.bytes_max);
  errno = fate.error;
  return fate.error == 0;
}

}  // namespace

InterposedWrites::InterposedWrites(Decide decide) {
  set(write_decision(), std::move(decide));
}
InterposedWrites::~InterposedWrites() {
  write_decision() = nullptr;
}
InterposedReads::InterposedReads(Decide decide) {
  set(read_decision(), std::move(decide));
}
InterposedReads::~InterposedReads() {
  read_decision() = nullptr;
}

HalfAllocations::HalfAllocations(int error) {
  half_allocation_error = error;
}
HalfAllocations::~HalfAllocations() {
  half_allocation_error = 0;
}

}  // namespace varve::io

extern "C" int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  if (varve::io::half_allocation_error == 0) {
    return static_cast<int>(::syscall(SYS_fallocate, descriptor, mode, offset, bytes));
  }
  if (::syscall(SYS_fallocate, descriptor, mode, offset, bytes / 2) == 0) errno = varve::io::half_allocation_error;
  return -1;
}

extern "C" ssize_t pwrite(int descriptor, const void* memory, size_t bytes, off_t offset) {
  if (!varve::io::survives(varve::io::write_decision(), descriptor, &bytes, offset)) return -1;
  if (bytes == 0) return 0;
  return ::syscall(SYS_pwrite64, descriptor, memory, bytes, offset);
}

extern "C" ssize_t pread(int descriptor, void* memory, size_t bytes, off_t offset) {
  if (!varve::io::survives(varve::io::read_decision(), descriptor, &bytes, offset)) return -1;
  if (bytes == 0) return 0;
  return ::syscall(SYS_pread64, descriptor, memory, bytes, offset);
}
