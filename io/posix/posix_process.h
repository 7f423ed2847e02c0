// Owns: facts about this process: its processors, and whether it made a handle or is a fork of the process that made it.
// Must never: cost a system call if the kernel can help. The check runs before every write.
//
// A fork shares the files and locks of its parent, but not its threads and not its later state. If both processes
// wrote, each would overwrite the other's log. So a handle remembers the process that made it, and refuses writes in
// any other.
// write, each would overwrite the other's log. So a handle remembers the process that made it, and writes in no other.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace varve::io {

/// Gives this process a number, never zero, that differs from the numbers of all processes that it descends from by
/// fork. (Two children of one parent may have equal numbers; neither can have a handle of the other.)
///
/// The number is in a page that the kernel wipes in the child of every fork (MADV_WIPEONFORK), so reading it costs one
/// load. If the kernel does not support that, the number is the process id, and reading it costs a system call.
class ForkDetector {
 public:
  enum class Method : std::uint8_t { kWipedPage, kProcessId };

  explicit ForkDetector(Method method = Method::kWipedPage) noexcept;
  ForkDetector(const ForkDetector&) = delete;
  ForkDetector& operator=(const ForkDetector&) = delete;

  Method method() const noexcept { return page_ == nullptr ? Method::kProcessId : Method::kWipedPage; }
  std::uint64_t process_number() noexcept;

 private:
  std::atomic<std::uint64_t>* page_ = nullptr;  // Never unmapped: a process has one detector, which is never destroyed.
  std::atomic<std::uint64_t> last_given_{0};    // Not wiped: a child continues its parent's count.
};

/// Returns the number of processors that this process may use, at least 1.
std::size_t processor_count() noexcept;

/// The process that made a handle.
class OwnerProcess {
 public:
  static OwnerProcess current() noexcept;
  /// Returns false in a fork of the owner.
  bool is_this_process() const noexcept { return number_ == current().number_; }

 private:
  explicit OwnerProcess(std::uint64_t number) noexcept : number_(number) {}
  std::uint64_t number_;
};

}  // namespace varve::io
