// Owns: the bytes that the device writes for a durable commit of one sector, once the log's files have been used before.
// Must never: leave out what the file system or a thread of the store writes beside the commits.
#include <array>
#include <utility>

#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

constexpr double kSectorBytes = 4096;

Row numbered_row(std::uint64_t number) {
  return {row_key(number), payload_of(number)};
}

/// Fills the write buffer several times, so that files of the log return. Merges everything, so that merges of these entities
/// do not fall into the measurement.
Status use_log(Session& session) {
  constexpr std::uint64_t kPartitions = 1000;
  for (std::uint64_t n = 0; n < session.choice().entities; ++n) {
    const std::array<Row, 1> rows{numbered_row(n)};
    Status put = session.contender().put(0, partition_key(n % kPartitions), rows, Check::kNone, Promise::kBuffered);
    if (!put.ok()) return put;
  }
  if (Status merged = session.contender().compact(); !merged.ok()) return merged;
  return session.contender().wait_until_idle();
}

/// The value is in sectors a commit, of what this process sent to the device. The device's own count includes the file
/// system's journal, and all other processes.
Result<Outcome> commit_sectors(Session& session) {
  if (Status used = use_log(session); !used.ok()) return used;
  const Result<Effect> effect =
      drive(session, {1, 2 * session.choice().seconds, 0}, [&](Worker& worker) -> Result<std::uint64_t> {
        const std::array<Row, 1> rows{numbered_row(worker.done)};
        Status put = session.contender().put(1, partition_key(0), rows, Check::kNone, Promise::kDurable);
        if (!put.ok()) return put;
        return 1;
      });
  if (!effect.ok()) return effect.status();
  const double commits = static_cast<double>(effect->entities);
  Outcome outcome = outcome_of(*effect, Moves::kWrites);
  outcome.figures["commits /s"] = outcome.value;
  outcome.value = static_cast<double>(effect->written_bytes) / kSectorBytes / commits;
  outcome.unit = "sectors";
  outcome.more_is_better = false;
  if (effect->device_written_bytes) {
    outcome.figures["sectors of the device"] =
        static_cast<double>(*effect->device_written_bytes) / kSectorBytes / commits;
  }
  return outcome;
}

}  // namespace

Workload log_space_workload() {
  Workload workload{"log-space",
                    "what a durable commit of one small entity writes, after the log's files have been used before",
                    [](const Choice&) {
                      Settings settings;
                      settings.write_buffer_bytes = std::uint64_t{64} << 20;
                      return settings;
                    },
                    {{"sectors of a durable commit", commit_sectors}}};
  return workload;
}

}  // namespace varve::bench
