// Owns: how often a thread has asked for memory, and the refusal of such requests, in tests.
// Must never: count or refuse another thread's, unless that is what a test asks for.
//
// A binary that uses it has its allocation functions replaced: every form of operator new and delete, not malloc.
#pragma once

#include <cstdint>

namespace varve::test {

/// Allocations by this thread so far, those refused included.
std::uint64_t allocation_count() noexcept;

/// Bytes that all threads together have asked for with an alignment (operator new with std::align_val_t) and not given
/// back, exactly as asked. A cache and its like hold their memory so; a test takes the difference of two moments.
std::uint64_t aligned_bytes_held() noexcept;

/// While it lives, the n-th allocation by this thread from now on fails, as if there were no memory: the next one is
/// the first. One at a time on each thread, destroyed on the thread that made it.
class AllocationFailure {
 public:
  /// `nth` is not zero.
  explicit AllocationFailure(std::uint64_t nth) noexcept;
  ~AllocationFailure();
  AllocationFailure(const AllocationFailure&) = delete;
  AllocationFailure& operator=(const AllocationFailure&) = delete;

  /// A sweep over all allocations of a call ends with the first number for which none failed.
  bool happened() const noexcept;
};

/// While it lives, the n-th allocation by any other thread than the one that made it fails, and with `from_then_on` all
/// that follow it. One at a time.
class OtherThreadsAllocationFailure {
 public:
  /// `nth` is not zero.
  OtherThreadsAllocationFailure(std::uint64_t nth, bool from_then_on) noexcept;
  ~OtherThreadsAllocationFailure();
  OtherThreadsAllocationFailure(const OtherThreadsAllocationFailure&) = delete;
  OtherThreadsAllocationFailure& operator=(const OtherThreadsAllocationFailure&) = delete;

  bool happened() const noexcept;
};

/// From now on allocations are neither counted nor refused while `is_exempt` says so of the thread that asks.
void exempt_allocations(bool (*is_exempt)() noexcept) noexcept;

}  // namespace varve::test
