// Owns: the effect of signals on the process of a server: they request its end or a reload, or have no effect.
// Must never: let a signal's default action decide when the server ends.
#pragma once

#include <memory>

#include "varve/status.h"

namespace varve::serve {

/// Created once, before the process has other threads, and in force until the process ends:
///
/// - SIGTERM, SIGINT request the end. Before expect() they end the process with the default action. A second one
///   ends the patience with slow requests (is_impatient()).
/// - SIGHUP requests a reload. Several may become one. Before expect() it waits.
/// - SIGUSR1, SIGUSR2 write a line to the log.
/// - SIGPIPE, SIGXFSZ, SIGTTOU do nothing: the write returns an error instead.
class StopSignals {
 public:
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Starts the signal thread. Errors: kOutOfMemory (the thread could not be started).
  Status begin();
  /// From now on a signal only requests the end, and the process does not end by itself.
  void expect() noexcept;
  /// Waits for a request. Returns true for a reload, and false for the end. The end goes first.
  bool wait_for_reload();
  /// Requests the end, as a first signal does after expect(). Any thread may call it.
  void request_end() noexcept;
  /// Returns whether the end was requested a second time.
  bool is_impatient() const noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace varve::serve
