// Owns: the races of reads: from the cache, and from the device with a cache that is far too small.
// Must never: count an answer that was not compared with the expected one.
#include "bench/varve_bench/workloads/reads.h"

#include <vector>

#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

Result<Outcome> outcome_of_reads(const Result<Effect>& effect) {
  if (!effect.ok()) return effect.status();
  return outcome_of(*effect, Moves::kReads);
}

/// Loads every block that the row needs into the cache.
Status warm(Session& session) {
  const Result<std::uint64_t> count = session.contender().scan_table(0, Scanned::kMade);
  if (!count.ok()) return count.status();
  return *count == session.choice().entities ? Status() : Status::corruption("a scan did not find every entity");
}

/// Scans partitions. The value counts partitions.
Result<Outcome> scan_partitions(Session& session, Scanned scanned) {
  if (Status ready = warm(session); !ready.ok()) return ready;
  const std::uint64_t partitions = session.choice().entities / kEntitiesOfPartition;
  return outcome_of_reads(
      drive(session, {1, session.choice().seconds, 0}, [&](Worker& worker) -> Result<std::uint64_t> {
        const Result<std::uint64_t> count =
            session.contender().scan_partition(0, partition_key(worker.random.below(partitions)), 1000, scanned);
        if (!count.ok()) return count.status();
        if (*count != kEntitiesOfPartition) return Status::corruption("a partition is not whole");
        return 1;
      }));
}

/// Returns a row of random gets, many in each call.
WorkloadRow batch_row(std::string name, std::size_t keys_of_batch) {
  return {std::move(name), [keys_of_batch](Session& session) -> Result<Outcome> {
            const std::uint64_t entities = session.choice().entities;
            return outcome_of_reads(
                drive(session, {1, session.choice().seconds, 0}, [&](Worker& worker) -> Result<std::uint64_t> {
                  std::vector<Keys> keys;
                  while (keys.size() < keys_of_batch) keys.push_back(keys_of(worker.random.below(entities)));
                  const Result<std::uint64_t> found = session.contender().get_batch(0, keys);
                  if (!found.ok()) return found.status();
                  if (*found != keys.size()) return Status::corruption("a get did not find what was loaded");
                  return *found;
                }));
          }};
}

WorkloadRow partition_row(std::string name, Scanned scanned) {
  return {std::move(name), [scanned](Session& session) { return scan_partitions(session, scanned); }};
}

WorkloadRow warm_scan_row(std::string name, Scanned scanned) {
  return {std::move(name), [scanned](Session& session) -> Result<Outcome> {
            if (Status ready = warm(session); !ready.ok()) return ready;
            return scan_everything(session, scanned);
          }};
}

WorkloadRow cold_scan_row(std::string name, Scanned scanned) {
  return {std::move(name),
          [scanned](Session& session) { return scan_everything(session, scanned); },
          {Limit::Kind::kSequentialRead, 1, 8, 1 << 20, "device MB/s"}};
}

/// Returns a row of random gets that one thread runs concurrently.
WorkloadRow side_by_side_row(std::string name, int in_flight) {
  return {std::move(name),
          [in_flight](Session& session) -> Result<Outcome> {
            constexpr std::size_t kKeysAtOnce = 16'384;
            const std::uint64_t entities = session.choice().entities;
            Result<Effect> effect =
                drive(session, {1, session.choice().seconds, 0}, [&](Worker& worker) -> Result<std::uint64_t> {
                  std::vector<Keys> keys;
                  while (keys.size() < kKeysAtOnce) keys.push_back(keys_of(worker.random.below(entities)));
                  const Result<std::uint64_t> found =
                      session.contender().get_side_by_side(0, keys, static_cast<std::size_t>(in_flight));
                  if (!found.ok()) return found.status();
                  if (*found != keys.size()) return Status::corruption("a get did not find what was loaded");
                  return *found;
                });
            if (effect.ok()) effect->latencies = Histogram();  // The latencies would be those of all keys together.
            return outcome_of_reads(effect);
          },
          {Limit::Kind::kRandomRead, 1, in_flight}};
}

}  // namespace

Status load_and_compact(Session& session) {
  if (Status loaded = session.contender().load(0, session.choice().entities, LoadWay::kBatches); !loaded.ok()) {
    return loaded;
  }
  return session.contender().compact();
}

WorkloadRow get_row(std::string name, int threads, bool present, bool warmed, Limit limit) {
  return {std::move(name),
          [threads, present, warmed](Session& session) -> Result<Outcome> {
            if (Status ready = warmed ? warm(session) : Status(); !ready.ok()) return ready;
            const std::uint64_t entities = session.choice().entities;
            return outcome_of_reads(
                drive(session, {threads, session.choice().seconds, 0}, [&](Worker& worker) -> Result<std::uint64_t> {
                  Keys keys = keys_of(worker.random.below(entities));
                  if (!present) keys.row += '~';
                  const Result<bool> found = session.contender().get(0, keys.partition, keys.row);
                  if (!found.ok()) return found.status();
                  if (*found != present) return Status::corruption("a get did not find what was loaded");
                  return 1;
                }));
          },
          limit};
}

Result<Outcome> scan_everything(Session& session, Scanned scanned) {
  const Result<Effect> effect = drive(session, {1, session.choice().seconds, 0},
                                      [&](Worker&) { return session.contender().scan_table(0, scanned); });
  if (!effect.ok()) return effect.status();
  Outcome outcome = outcome_of(*effect, Moves::kReads);
  outcome.figures["device MB/s"] = static_cast<double>(effect->read_bytes) / 1e6 / effect->seconds;
  return outcome;
}

Settings scarce_cache(const Choice& choice) {
  Settings settings;
  settings.cache_bytes = choice.entities * kEntityBytes / 16;  // zstd leaves about half
  settings.direct_reads = true;
  return settings;
}

Workload read_workload() {
  return {"read",
          "reads of one table that the cache holds whole",
          default_settings,
          in_both_forms({get_row("cached get, 1 thread", 1, true, true, {}),
                         get_row("cached get, 2 threads", 2, true, true, {}),
                         get_row("get of an absent key", 1, false, true, {}),
                         partition_row("scan of a partition of 100", Scanned::kMade),
                         partition_row("scan of a partition of 100, in place", Scanned::kInPlace),
                         warm_scan_row("warm full scan", Scanned::kMade),
                         warm_scan_row("warm full scan, in place", Scanned::kInPlace)}),
          "loaded",
          load_and_compact};
}

Workload cold_workload() {
  return {"cold",
          "direct reads, the data eight times the cache",
          scarce_cache,
          in_both_forms({get_row("cold get, 1 thread", 1, true, false, {Limit::Kind::kRandomRead, 1}),
                         get_row("cold get, 16 threads", 16, true, false, {Limit::Kind::kRandomRead, 16}),
                         side_by_side_row("cold get, 32 in flight, 1 thread", 32),
                         side_by_side_row("cold get, 256 in flight, 1 thread", 256),
                         batch_row("cold get, batches of 64", 64), cold_scan_row("cold full scan", Scanned::kMade),
                         cold_scan_row("cold full scan, in place", Scanned::kInPlace)}),
          "loaded",
          load_and_compact};
}

}  // namespace varve::bench
