// Owns: repeating operations in turns, and the medians of their turns.
// Must never: compare figures of different moments. Operations that a row compares are measured in turns.
#pragma once

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "varve/result.h"

namespace varve::bench {

/// Turns of each operation of a row.
inline constexpr int kTurns = 5;

/// Ends the process with a message if there is an error. No figure is printed then.
/// @{
void check(const Status& status);
template <typename Value>
Value take(Result<Value> result) {
  check(result.status());
  return *std::move(result);
}
/// @}

double seconds_of(const std::function<void()>& work);
double median(std::vector<double> values);

/// A repeated operation of `threads` threads. The argument is the number of the thread.
struct Work {
  int threads = 1;
  std::function<void(int)> once;
  /// Operations per second in each turn.
  std::vector<double> rates{};

  double rate() const { return median(rates); }
  /// Returns the seconds of one operation. If there are several threads, they share the time.
  double seconds() const { return 1 / rate(); }
};

/// Repeats all operations in turns, for `seconds` each in total. A disturbance of the machine then meets all of them.
void run_in_turns(const std::vector<Work*>& all, double seconds);

/// Calls each function once a turn, and returns the median of the values of each.
std::vector<double> medians_in_turns(int turns, const std::vector<std::function<double()>>& all);

/// Calls `once` with the number of each thread, in threads that run together.
void run_together(int threads, const std::function<void(int)>& once);

}  // namespace varve::bench
