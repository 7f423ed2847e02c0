// Owns: what signals do to the process of a server: ask for its end, or nothing.
// Must never: let a signal's default action decide when the server ends.
#pragma once

#include <memory>

#include "varve/status.h"

namespace varve::serve {

/// Made once, before the process has other threads, and in force until the process is gone:
///   SIGTERM, SIGINT            ask for the end. Until expect() they end the process as ever. A second one changes nothing.
///   SIGHUP, SIGUSR1, SIGUSR2   a line in the log
///   SIGPIPE, SIGXFSZ, SIGTTOU  nothing: the write returns an error instead
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Errors: kOutOfMemory (there is no thread for it).
  Status begin();
  /// From now on the end is asked for, and not taken.
  void expect() noexcept;
  /// Until the end is asked for.
  void wait();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace varve::serve
