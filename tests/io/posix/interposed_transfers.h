// Owns: pread, pwrite and fallocate of the test program, which replace those of the C library and can fail on request.
// Must never: be active while an unrelated thread transfers data.
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

/// The outcome of one call.
struct Fate {
  int error = 0;                     // an errno: the call fails with it and does nothing
  std::size_t bytes_max = SIZE_MAX;  // the most bytes transferred; zero: none are, and the call succeeds
};

/// While it lives, `decide` is called before every call of its kind. At most one of each kind exists.
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

/// While it lives, every fallocate does the first half of its work, and then fails with `error`.
class HalfAllocations {
 public:
  explicit HalfAllocations(int error);
  ~HalfAllocations();
  HalfAllocations(const HalfAllocations&) = delete;
  HalfAllocations& operator=(const HalfAllocations&) = delete;
};

}  // namespace varve::io
