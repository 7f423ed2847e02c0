// Owns: what consumers that wait cost, and how soon a message reaches one: QX-17 and QX-18.
// Must never: measure a consumer that asks again and again. Each one waits in a single get.
#pragma once

#include <cstddef>

#include "bench/messages/varve_messages.h"

namespace varve::bench {

/// Processor time that the process used in a span of time, in hundredths of one core.
struct IdleCosts {
  double alone_percent = 0;
  double with_waiters_percent = 0;
};
/// Measures the open store for `seconds` without waiters, and for as long with ten waiting coroutines on each of
/// `queues` empty queues. Then a message to each queue must reach one of its waiters. Closes the store.
IdleCosts costs_of_idle_waiters(VarveMessages& varve, std::size_t queues, double seconds);

/// Medians in microseconds. A time to a consumer begins with a buffered put, and ends when the consumer's get returns. So it
/// has the whole put and the whole get in it.
struct WakeTimes {
  double to_thread_us = 0;
  double to_coroutine_us = 0;
  /// The same put and get by one thread, one after another.
  /// @{
  double put_us = 0;
  double get_us = 0;
  /// @}
};
/// Sends messages one at a time to a consumer that waits.
WakeTimes times_to_waiters(VarveMessages& varve, int messages);

}  // namespace varve::bench
