// Owns: one question at a time about the owner of a root, and the answers that many readers share.
// Must never: give a reader the answer to a question that was sent before the reader came.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "io/clock.h"
#include "io/scheduler.h"
#include "varve/result.h"

namespace varve::io {

/// Any thread may use it.
class OwnerQuestion {
 public:
  /// `question` asks the cluster, and may throw std::bad_alloc. It is called on one thread of this object. The scheduler
  /// and the clock outlive it.
  OwnerQuestion(Scheduler& scheduler, Clock& clock, std::function<Status()> question);
  /// Waits for the answer to a question that was sent.
  ~OwnerQuestion();
  OwnerQuestion(const OwnerQuestion&) = delete;
  OwnerQuestion& operator=(const OwnerQuestion&) = delete;

  /// Starts the thread. Errors: those of Scheduler::start().
  Status start();

  /// Returns the answer to a question that was sent after this call began. Waits for one that was sent before, and then
  /// for its own, for up to `patience` together, or without end if it is zero. Errors: those of the question; kBusy (no
  /// answer came in time).
  Status ask(std::chrono::milliseconds patience) noexcept;
  /// Lets a question be sent, whose answer the caller does not want.
  void send() noexcept;
  /// Returns the number of questions that were sent.
  std::uint64_t sent() noexcept;

 private:
  std::uint64_t want() noexcept VARVE_REQUIRES(mutex_);
  void run() noexcept;

  Scheduler& scheduler_;
  Clock& clock_;
  const std::function<Status()> question_;
  Mutex mutex_;
  Condition wanted_more_;
  Condition answered_more_;
  std::uint64_t wanted_ VARVE_GUARDED_BY(mutex_) = 0;    // the last question that is asked for
  std::uint64_t sent_ VARVE_GUARDED_BY(mutex_) = 0;      // the last question that was sent
  std::uint64_t answered_ VARVE_GUARDED_BY(mutex_) = 0;  // the last question with an answer
  Status answer_ VARVE_GUARDED_BY(mutex_);               // to it
  bool is_ending_ VARVE_GUARDED_BY(mutex_) = false;
  std::unique_ptr<Thread> thread_;
};

}  // namespace varve::io
