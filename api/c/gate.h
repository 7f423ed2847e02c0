// Owns: the count of the calls that run on one store, so that closing the store can wait for them.
// Must never: wait in a forked child: the calls of the parent's threads do not end there.
#pragma once

#include <atomic>
#include <cstdint>

#include "io/posix/posix_process.h"

namespace varve::c {

/// Counts running calls. Any thread may use it.
class Gate {
 public:
  /// Begins a call. Returns false if the store is being closed or is closed.
  bool enter() noexcept;
  /// Ends a call for which enter() returned true.
  void leave() noexcept;
  /// Refuses later calls, and waits for those that run. Returns false if another thread closes already.
  bool close() noexcept;

  /// Returns whether this thread is inside a call, so that its code is a callback.
  static bool is_in_call() noexcept;

 private:
  static constexpr std::uint64_t kClosing = std::uint64_t{1} << 63;

  const io::OwnerProcess owner_ = io::OwnerProcess::current();
  std::atomic<std::uint64_t> state_{0};  // the number of calls, and kClosing
};

}  // namespace varve::c
