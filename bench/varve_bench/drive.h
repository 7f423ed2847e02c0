// Owns: threads that repeat one operation, and the measurements of these operations.
// Must never: leave the time of an operation out of the measurement, however long it took.
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

/// Ends after `seconds`, or after `operations` of all threads together. Zero means no limit. One of them must be given.
struct Effort {
  int threads = 1;
  double seconds = 0;
  std::uint64_t operations = 0;
  /// The offered load: operations per second of all threads together, even if they cannot be done. Each operation has a
  /// due time, and its latency counts from that time. Zero: an operation begins when the one before it has ended.
  double rate = 0;
  /// The length of a slot in seconds. Latencies are also kept for each slot. Zero: they are not.
  double slot_seconds = 0;
};

struct Worker {
  int thread = 0;
  /// The number of operations that this thread has completed.
  std::uint64_t done = 0;
  Random random;
};

/// Does one operation and returns the number of entities that it moved.
using Operation = std::function<Result<std::uint64_t>(Worker&)>;

/// The measurements of one or several drives.
struct Effect {
  std::uint64_t entities = 0;
  double seconds = 0;
  /// Seconds of all threads together in operations that took 100 ms or longer.
  double stalled_seconds = 0;
  Histogram latencies;
  double cpu_seconds = 0;
  /// The part of cpu_seconds that other threads used: flushes and compaction.
  double background_cpu_seconds = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t read_bytes = 0;
  std::optional<std::uint64_t> device_reads{};
  std::optional<std::uint64_t> device_written_bytes{};
  /// Bytes of keys and payload that were moved. Zero: as many bytes as the entities of entities.h have.
  std::uint64_t user_bytes = 0;
  std::vector<Histogram> slots{};

  double rate() const noexcept { return seconds > 0 ? static_cast<double>(entities) / seconds : 0; }
};

Result<Effect> drive(Session& session, const Effort& effort, const Operation& operation);

/// Measures time and resources of any code.
class Stopwatch {
 public:
  explicit Stopwatch(const std::string& directory);
  double seconds() const;
  /// Returns time, processor and device figures since the beginning. The caller passes the number of `entities`.
  Effect effect(std::uint64_t entities) const;

 private:
  std::string directory_;
  std::uint64_t begun_;
  Usage before_;
};

/// Returns entities per second, with latencies and costs. `writes` adds the bytes written per byte of the user's data.
enum class Moves : std::uint8_t { kReads, kWrites };
Outcome outcome_of(const Effect& effect, Moves moves);

/// Measures an open after a clean close. Only the open is timed.
Result<Outcome> measure_open(Session& session, const Settings& settings);

/// Returns nanoseconds since a fixed moment.
std::uint64_t now() noexcept;

}  // namespace varve::bench
