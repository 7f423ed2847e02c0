// Owns: waiting for an event of a running thread without a sleep, for a short time.
// Must never: watch under a simulated scheduler, where the other thread could not run; watch so long that a sleep would
// cost less; or let so many threads watch that the thread which they wait for cannot run.
//
// A sleep and its wake-up cost both threads some microseconds. So a thread that expects another running thread to set an
// event at once watches the event before it waits for it.
#pragma once

#include <chrono>

#include "io/scheduler.h"

namespace varve::io {

/// The longest time of a watch. It is near the cost of a sleep, so a thread that watches in vain loses no more than it
/// could win.
inline constexpr std::chrono::nanoseconds kWatchMax = std::chrono::microseconds(8);

/// Watches the event for kWatchMax at most, and returns whether it is set. Fewer threads than processors watch at once;
/// any other thread looks once. Under a simulated scheduler, lets another thread run and looks once.
bool watch(const Event& event, Scheduler& scheduler) noexcept;

}  // namespace varve::io
