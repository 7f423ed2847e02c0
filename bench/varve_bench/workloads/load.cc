// Owns: the races of bulk loads and of buffered writes in random order.
// Must never: stop the clock before the background work of the writes is done.
#include "bench/varve_bench/workloads/load.h"

#include <algorithm>
#include <array>

#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

/// Returns the measurement including the background work after it, but not the `watched` seconds after that. `driven` is the
/// processor time of the writers in seconds.
Outcome with_debt(const Stopwatch& watch, double watched, double seconds_until_return, double driven,
                  std::uint64_t entities) {
  Effect effect = watch.effect(entities);
  effect.seconds = std::max(effect.seconds - watched, seconds_until_return);
  effect.background_cpu_seconds = std::max(0.0, effect.cpu_seconds - driven);
  Outcome outcome = outcome_of(effect, Moves::kWrites);
  const double count = static_cast<double>(entities);
  outcome.figures["until return /s"] = count / seconds_until_return;
  return outcome;
}

/// Writes each entity three times on average.
Result<Outcome> put_at_random(Session& session) {
  constexpr std::uint64_t kTimes = 3;
  const std::uint64_t entities = session.choice().entities;
  const Stopwatch watch(session.directory());
  const Result<Effect> effect = drive(session, {1, 0, kTimes * entities}, [&](Worker& worker) -> Result<std::uint64_t> {
    const std::uint64_t n = worker.random.below(entities);
    Keys keys = keys_of(n);
    const std::array<Row, 1> rows{Row{std::move(keys.row), payload_of(n + worker.done)}};
    Status put = session.contender().put(0, keys.partition, rows, Check::kNone, Promise::kBuffered);
    if (!put.ok()) return put;
    return 1;
  });
  if (!effect.ok()) return effect.status();
  if (Status idle = session.contender().wait_until_idle(); !idle.ok()) return idle;
  Outcome outcome = with_debt(watch, session.contender().watched_seconds(), effect->seconds,
                              effect->cpu_seconds - effect->background_cpu_seconds, kTimes * entities);
  outcome.figures.merge(outcome_of(*effect, Moves::kReads).figures);  // latencies are those of the writes alone
  outcome.figures.erase("reads/op");
  return outcome;
}

}  // namespace

WorkloadRow load_row(std::string name, std::uint32_t table, LoadWay way) {
  return {std::move(name), [table, way](Session& session) -> Result<Outcome> {
            const std::uint64_t entities = session.choice().entities;
            const Stopwatch watch(session.directory());
            const double cpu_before = thread_cpu_seconds();
            if (Status loaded = session.contender().load(table, entities, way); !loaded.ok()) return loaded;
            const double seconds = watch.seconds();
            const double driven = thread_cpu_seconds() - cpu_before;
            if (Status idle = session.contender().wait_until_idle(); !idle.ok()) return idle;
            return with_debt(watch, session.contender().watched_seconds(), seconds, driven, entities);
          }};
}

Workload load_workload() {
  return {"load",
          "sorted entities in bulk, compaction included",
          default_settings,
          {load_row("bulk load, batches of 100, buffered", 0, LoadWay::kBatches),
           load_row("bulk load, batches of 100, no log", 1, LoadWay::kNoLog),
           load_row("bulk load, table files", 2, LoadWay::kFiles)}};
}

Workload small_buffer_load_workload() {
  return {"load-128",
          "the load by batches with half the memory for writes",
          [](const Choice&) {
            Settings settings;
            settings.write_buffer_bytes = std::uint64_t{128} << 20;
            return settings;
          },
          {load_row("bulk load, batches of 100, 128 MB for writes", 0, LoadWay::kBatches)}};
}

Workload random_put_workload() {
  return {"random-put",
          "buffered puts in random order by one thread, compaction included",
          default_settings,
          {{"random put, buffered, 1 thread", put_at_random}}};
}

}  // namespace varve::bench
