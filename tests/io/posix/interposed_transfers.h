// Owns: pread, pwrite and fallocate of the test program, which stand before those of the C library and can be told to
// misbehave.
// Must never: be active while a thread that knows nothing of it transfers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <sys/types.h>

namespace varve::io {

struct TransferCall {
  int descriptor;
  std::size_t bytes;
  off_t offset;
  bool direct;  // the descriptor has O_DIRECT
};

/// What becomes of one call.
struct Fate {
  int error = 0;                     // an errno: the call fails with it and does nothing
  std::size_t bytes_max = SIZE_MAX;  // else at most so many bytes are transferred; zero: none are, and it succeeds
};

/// While it lives, `decide` is asked before every call of its kind. One at a time of each kind.
class InterposedWrites {
 public:
  explicit InterposedWrites(std::function<Fate(const TransferCall&)> decide);
  ~InterposedWrites();
  InterposedWrites(const InterposedWrites&) = delete;
  InterposedWrites& operator=(const InterposedWrites&) = delete;
};

class InterposedReads {
 public:
  explicit InterposedReads(std::function<Fate(const TransferCall&)> decide);
  ~InterposedReads();
  InterposedReads(const InterposedReads&) = delete;
  InterposedReads& operator=(const InterposedReads&) = delete;
};

/// While it lives, every fallocate does the first half of what it was asked for, and then fails with `error`.
class HalfAllocations {
 public:
  explicit HalfAllocations(int error);
  ~HalfAllocations();
  HalfAllocations(const HalfAllocations&) = delete;
  HalfAllocations& operator=(const HalfAllocations&) = delete;
};

}  // namespace varve::io
