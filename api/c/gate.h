// Owns: the count of the calls that run on one store, so that closing the store can wait for them.
// Must never: wait in a forked child: the calls of the parent's threads do not end there.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>

#include "io/posix/posix_process.h"

namespace varve::c {

/// Counts running calls. Any thread may use it.
class Gate {
 public:
  /// Every object of the store keeps its gate. So `environment`, which may be null, ends after the last of them.
  explicit Gate(std::shared_ptr<const void> environment = nullptr) noexcept : environment_(std::move(environment)) {}
  /// Begins a call. Returns false if the store is being closed or is closed.
  bool enter() noexcept;
  /// Ends a call for which enter() returned true.
  void leave() noexcept;
  /// Refuses later calls, stops those that wait for messages, and waits for those that run. Returns false if another
  /// thread closes already.
  bool close() noexcept;
  /// Returns whether this process opened the store. A forked child must not touch what other threads of its parent may
  /// have locked.
  bool is_own_process() const noexcept { return owner_.is_this_process(); }
  /// Stops when the store is being closed.
  std::stop_token closing() const noexcept { return closing_.get_token(); }

  /// Returns whether this thread is inside a call, so that its code is a callback.
  static bool is_in_call() noexcept;

 private:
  static constexpr std::uint64_t kClosing = std::uint64_t{1} << 63;

  const std::shared_ptr<const void> environment_;
  const io::OwnerProcess owner_ = io::OwnerProcess::current();
  std::atomic<std::uint64_t> state_{0};  // the number of calls, and kClosing
  std::stop_source closing_;
};

}  // namespace varve::c
