// Owns: knowing whether this process is the one that made a handle, or a fork of it.
// Must never: cost a system call where the kernel can help: it is asked before every write.
//
// A fork shares the files and locks of its parent, not its threads and not what the parent does later. Were both to
// write, each would overwrite the other's log. So a handle remembers the process that made it, and writes in no other.
#pragma once

#include <atomic>
#include <cstdint>

namespace varve::io {

/// Gives this process a number, never zero, that differs from that of every process it descends from by fork. (Two
/// children of one parent may have the same; neither can hold a handle of the other.)
///
/// The number stands in a page that the kernel wipes in the child of every fork (MADV_WIPEONFORK), so asking costs one
/// load. Where the kernel does not know that, the number is the process id, and asking costs a system call.
class ForkDetector {
 public:
  enum class Method : std::uint8_t { kWipedPage, kProcessId };

  explicit ForkDetector(Method method = Method::kWipedPage) noexcept;
  ForkDetector(const ForkDetector&) = delete;
  ForkDetector& operator=(const ForkDetector&) = delete;

  Method method() const noexcept { return page_ == nullptr ? Method::kProcessId : Method::kWipedPage; }
  std::uint64_t process_number() noexcept;

 private:
  std::atomic<std::uint64_t>* page_ = nullptr;  // Never unmapped: there is one detector a process, and it stays.
  std::atomic<std::uint64_t> last_given_{0};    // Not wiped: a child counts on from where its parent was.
};

/// The process that made a handle.
class OwnerProcess {
 public:
  static OwnerProcess current() noexcept;
  /// False in a fork of the owner.
  bool is_this_process() const noexcept { return number_ == current().number_; }

 private:
  explicit OwnerProcess(std::uint64_t number) noexcept : number_(number) {}
  std::uint64_t number_;
};

}  // namespace varve::io
