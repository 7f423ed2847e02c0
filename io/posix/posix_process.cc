// Owns: the page that a fork wipes.
// Must never: be used in a signal handler or a library constructor. It needs nothing except memory, but makes no
// promise there.
#include "io/posix/posix_process.h"

#include <algorithm>
#include <new>
#include <thread>

#include <sys/mman.h>
#include <unistd.h>

#include "io/file.h"

namespace varve::io {

ForkDetector::ForkDetector(Method method) noexcept {
  if (method == Method::kProcessId) return;
  // One page is enough for one number. The kernel rounds the length up to its page size.
  void* page = ::mmap(nullptr, kSectorBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;  // The process id also works, but is slower.
  if (::madvise(page, kSectorBytes, MADV_WIPEONFORK) != 0) {
    ::munmap(page, kSectorBytes);
    return;
  }
  page_ = new (page) std::atomic<std::uint64_t>(0);
}

std::uint64_t ForkDetector::process_number() noexcept {
  if (page_ == nullptr) return static_cast<std::uint64_t>(::getpid());
  std::uint64_t number = page_->load(std::memory_order_relaxed);
  if (number != 0) [[likely]]
    return number;
  // First use in this process. If two threads come here at once, one stores its number and both return that number.
  const std::uint64_t fresh = last_given_.fetch_add(1, std::memory_order_relaxed) + 1;
  return page_->compare_exchange_strong(number, fresh, std::memory_order_relaxed) ? fresh : number;
}

std::size_t processor_count() noexcept {
  return std::max(std::thread::hardware_concurrency(), 1U);
}

OwnerProcess OwnerProcess::current() noexcept {
  static ForkDetector detector;
  return OwnerProcess(detector.process_number());
}

}  // namespace varve::io
