// Owns: the replaced allocation functions, which count and fail as requested (allocation_counter.h).

#include "tests/support/allocation_counter.h"

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

thread_local std::uint64_t allocations = 0;
thread_local std::uint64_t refused_at = 0;  // the value of allocations; zero: none
std::atomic<std::uint64_t> aligned_bytes{0};

std::atomic<bool (*)() noexcept> exemption{nullptr};

// State of OtherThreadsAllocationFailure.
std::atomic<bool> others_fail{false};
std::atomic<std::uint64_t> others_seen{0};
std::atomic<std::uint64_t> others_refused_at{0};
std::atomic<bool> others_from_then_on{false};
thread_local bool is_maker = false;

bool is_refused_among_others() noexcept {
  if (!others_fail.load(std::memory_order_acquire) || is_maker) return false;
  const std::uint64_t seen = others_seen.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::uint64_t refused = others_refused_at.load(std::memory_order_relaxed);
  return seen == refused || (seen > refused && others_from_then_on.load(std::memory_order_relaxed));
}

bool is_refused() noexcept {
  const auto is_exempt = exemption.load(std::memory_order_relaxed);
  if (is_exempt != nullptr && is_exempt()) return false;
  ++allocations;
  return allocations == refused_at || is_refused_among_others();
}

void* allocate(std::size_t size) noexcept {
  return is_refused() ? nullptr : std::malloc(size == 0 ? 1 : size);
}

/// Allocates memory with an alignment. As many bytes as the alignment precede it. Their first bytes contain the
/// requested size.
void* allocate(std::size_t size, std::align_val_t alignment) noexcept {
  if (is_refused()) return nullptr;
  const auto before = static_cast<std::size_t>(alignment);
  void* memory = nullptr;
  if (posix_memalign(&memory, before, before + (size == 0 ? 1 : size)) != 0) return nullptr;
  std::memcpy(memory, &size, sizeof size);
  aligned_bytes.fetch_add(size, std::memory_order_relaxed);
  return static_cast<char*>(memory) + before;
}

void release(void* memory, std::align_val_t alignment) noexcept {
  if (memory == nullptr) return;
  char* const begin = static_cast<char*>(memory) - static_cast<std::size_t>(alignment);
  std::size_t size = 0;
  std::memcpy(&size, begin, sizeof size);
  aligned_bytes.fetch_sub(size, std::memory_order_relaxed);
  std::free(begin);
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) {
  return or_throw(allocate(size));
}
void* operator new[](std::size_t size) {
  return or_throw(allocate(size));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return or_throw(allocate(size, alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return or_throw(allocate(size, alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate(size);
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, alignment);
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, alignment);
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t alignment) noexcept {
  release(memory, alignment);
}
void operator delete[](void* memory, std::align_val_t alignment) noexcept {
  release(memory, alignment);
}
void operator delete(void* memory, std::size_t, std::align_val_t alignment) noexcept {
  release(memory, alignment);
}
void operator delete[](void* memory, std::size_t, std::align_val_t alignment) noexcept {
  release(memory, alignment);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  release(memory, alignment);
}
void operator delete[](void* memory, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  release(memory, alignment);
}

namespace varve::test {

std::uint64_t allocation_count() noexcept {
  return allocations;
}

std::uint64_t aligned_bytes_held() noexcept {
  return aligned_bytes.load(std::memory_order_relaxed);
}

AllocationFailure::AllocationFailure(std::uint64_t nth) noexcept {
  assert(nth > 0);
  assert(refused_at == 0);
  refused_at = allocations + nth;
}

AllocationFailure::~AllocationFailure() {
  refused_at = 0;
}

bool AllocationFailure::happened() const noexcept {
  return allocations >= refused_at;
}

OtherThreadsAllocationFailure::OtherThreadsAllocationFailure(std::uint64_t nth, bool from_then_on) noexcept {
  assert(nth > 0);
  assert(!others_fail.load());
  is_maker = true;
  others_seen = 0;
  others_refused_at = nth;
  others_from_then_on = from_then_on;
  others_fail.store(true, std::memory_order_release);
}

OtherThreadsAllocationFailure::~OtherThreadsAllocationFailure() {
  others_fail = false;
  is_maker = false;
}

bool OtherThreadsAllocationFailure::happened() const noexcept {
  return others_seen.load(std::memory_order_relaxed) >= others_refused_at.load(std::memory_order_relaxed);
}

void exempt_allocations(bool (*is_exempt)() noexcept) noexcept {
  exemption = is_exempt;
}

}  // namespace varve::test
