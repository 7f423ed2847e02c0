// Owns: the signals by which the user ends the reading of input.
// Must never: miss a signal between a check and a wait.
#pragma once

namespace varve::tool {

/// From now on SIGINT, SIGTERM and SIGHUP end the reading of input instead of the process. A second one ends the
/// process. A closed pipe is then a write error and no signal. A signal before the call is forgotten.
void stop_reading_on_signals();

/// Returns the number of the signal that asked for the end, or 0.
int stop_signal_seen() noexcept;

/// Waits until there is input to read. Returns false if a signal asked for the end.
bool wait_readable(int descriptor);

}  // namespace varve::tool
