// Owns: counting the allocations of a thread, and failing chosen allocations, in tests.
// Must never: count or fail allocations of another thread, unless a test requests that.
//
// A binary with this unit has its allocation functions replaced: every form of operator new and delete, but not malloc.
#pragma once

#include <cstdint>

namespace varve::test {

/// Returns the number of allocations by this thread, including failed ones.
std::uint64_t allocation_count() noexcept;

/// Returns the bytes of all threads' live allocations with an alignment (operator new with std::align_val_t), as
/// requested. Memory of caches is allocated in this way. A test uses the difference of two values.
std::uint64_t aligned_bytes_held() noexcept;

/// While it lives, the n-th allocation by this thread fails as if there were no memory. The next allocation is the
/// first. At most one exists on each thread. It is destroyed on the thread that created it.
class AllocationFailure {
 public:
  /// `nth` is not zero.
  explicit AllocationFailure(std::uint64_t nth) noexcept;
  ~AllocationFailure();
  AllocationFailure(const AllocationFailure&) = delete;
  AllocationFailure& operator=(const AllocationFailure&) = delete;

  /// Returns whether an allocation failed. A sweep over all allocations of a call ends with the first number for which
  /// none failed.
  bool happened() const noexcept;
};

/// While it lives, the n-th allocation by any thread other than its creator fails. With `from_then_on`, all later ones
/// fail too. At most one exists.
class OtherThreadsAllocationFailure {
 public:
  /// `nth` is not zero.
  OtherThreadsAllocationFailure(std::uint64_t nth, bool from_then_on) noexcept;
  ~OtherThreadsAllocationFailure();
  OtherThreadsAllocationFailure(const OtherThreadsAllocationFailure&) = delete;
  OtherThreadsAllocationFailure& operator=(const OtherThreadsAllocationFailure&) = delete;

  bool happened() const noexcept;
};

/// From now on an allocation is neither counted nor failed if `is_exempt` returns true on its thread.
void exempt_allocations(bool (*is_exempt)() noexcept) noexcept;

}  // namespace varve::test
