// Owns: threads that do one thing again and again, and what that took.
// Must never: leave an operation out of the clock, however long it took.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/varve_bench/entities.h"
#include "bench/varve_bench/histogram.h"
#include "bench/varve_bench/machine.h"
#include "bench/varve_bench/workload.h"

namespace varve::bench {

/// Ends after `seconds`, or after `operations` of all threads together; zero is no bound. One of them must be given.
struct Effort {
  int threads = 1;
  double seconds = 0;
  std::uint64_t operations = 0;
  /// Operations a second of all threads together that are on offer, whether or not they can be done: each has a time at
  /// which it is due, and its latency counts from there. Zero: each begins when the one before has ended.
  double rate = 0;
  /// Latencies are also kept for each slot of this length; zero: they are not.
  double slot_seconds = 0;
};

struct Worker {
  int thread = 0;
  /// Operations of this thread before this one.
  std::uint64_t done = 0;
  Random random;
};

/// Does one operation and says how many entities it moved.
using Operation = std::function<Result<std::uint64_t>(Worker&)>;

/// What one or several drives did.
struct Effect {
  std::uint64_t entities = 0;
  double seconds = 0;
  /// Spent by all threads together in operations that took 100 ms or longer.
  double stalled_seconds = 0;
  Histogram latencies;
  double cpu_seconds = 0;
  /// Of them, by other threads than those that were driven: flushes and compaction.
  double background_cpu_seconds = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t read_bytes = 0;
  std::optional<std::uint64_t> device_reads{};
  /// Keys and payload that were moved; zero: as many as the entities of entities.h have.
  std::uint64_t user_bytes = 0;
  std::vector<Histogram> slots{};

  double rate() const noexcept { return seconds > 0 ? static_cast<double>(entities) / seconds : 0; }
};

Result<Effect> drive(Session& session, const Effort& effort, const Operation& operation);

/// Times and counts what any code does.
class Stopwatch {
 public:
  explicit Stopwatch(const std::string& directory);
  double seconds() const;
  /// Time, processor and device since the beginning; `entities` are the caller's.
  Effect effect(std::uint64_t entities) const;

 private:
  std::string directory_;
  std::uint64_t begun_;
  Usage before_;
};

/// Entities a second, with latencies and costs; `writes` adds bytes written for each byte of the user's.
enum class Moves : std::uint8_t { kReads, kWrites };
Outcome outcome_of(const Effect& effect, Moves moves);

/// A clean close, and an open, of which the open counts.
Result<Outcome> measure_open(Session& session, const Settings& settings);

/// Nanoseconds since some moment.
std::uint64_t now() noexcept;

}  // namespace varve::bench
