// Owns: the growth of costs with size: one large table is loaded, read and reopened; tables of three sizes are dropped
// beside it.
// Must never: read from the page cache in a cold row.
#include <algorithm>

#include "bench/varve_bench/drive.h"
#include "bench/varve_bench/workloads/drop.h"
#include "bench/varve_bench/workloads/load.h"
#include "bench/varve_bench/workloads/reads.h"

namespace varve::bench {

namespace {

/// Returns settings with a cache that holds all data uncompressed.
Settings ample_cache(const Choice& choice) {
  Settings settings;
  settings.cache_bytes = std::max(settings.cache_bytes, choice.entities * kEntityBytes * 3 / 2);
  return settings;
}

WorkloadRow open_row(std::string name) {
  return {std::move(name), [](Session& session) { return measure_open(session, ample_cache(session.choice())); }};
}

/// Drops a table of as many entities as the large one, at most ten million.
constexpr std::uint64_t kLargestDrop = 10'000'000;

/// Returns a row with direct reads and a small cache. The row before it may have opened the store already.
WorkloadRow cold_row(std::string name, int threads) {
  WorkloadRow row = get_row(std::move(name), threads, true, false, {Limit::Kind::kRandomRead, threads});
  row.run = [get = std::move(row.run)](Session& session) -> Result<Outcome> {
    const bool is_cold = session.is_open() && session.settings().direct_reads;
    const Status ready = is_cold ? Status() : session.reopen(scarce_cache(session.choice()));
    return ready.ok() ? get(session) : ready;
  };
  return row;
}

WorkloadRow drop_row(std::string name, std::uint64_t entities_max) {
  return {std::move(name), [entities_max](Session& session) {
            return load_and_drop(session, std::min(entities_max, session.choice().entities));
          }};
}

/// Compacts everything, so that all later reads use table files.
Result<Outcome> compact_everything(Session& session) {
  if (!session.contender().compacts()) return Status::unsupported("there is nothing to merge");
  const Stopwatch watch(session.directory());
  if (Status compacted = session.contender().compact(); !compacted.ok()) return compacted;
  const Effect effect = watch.effect(session.choice().entities);
  Outcome outcome{effect.seconds * 1e3, "ms", false, {}, {}};
  outcome.figures["written MB"] = static_cast<double>(effect.written_bytes) / 1e6;
  outcome.figures["disk MB"] = static_cast<double>(occupied_bytes(session.directory())) / 1e6;
  return outcome;
}

}  // namespace

Workload curve_workload() {
  Workload workload{"curve",
                    "one large table, and drops of three sizes",
                    ample_cache,
                    {load_row("load, batches of 100, buffered", 0, LoadWay::kBatches),
                     {"compact to the end", compact_everything},
                     get_row("cached get, 1 thread", 1, true, true, {}),
                     {"warm full scan", [](Session& session) { return scan_everything(session, Scanned::kMade); }},
                     open_row("open"),
                     cold_row("cold get, 1 thread", 1),
                     cold_row("cold get, 16 threads", 16),
                     drop_row("drop of a thousand", 1'000),
                     drop_row("drop of a million", 1'000'000),
                     drop_row("drop of ten million", kLargestDrop)}};
  workload.only_when_named = true;
  workload.in_order = true;
  workload.adapt = [](Choice& choice) { choice.entities = choice.curve_entities; };
  return workload;
}

}  // namespace varve::bench
