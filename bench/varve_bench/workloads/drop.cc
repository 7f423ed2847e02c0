#include "bench/varve_bench/workloads/drop.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

// Both are factors of a row's duration, which is 2 seconds by default, so that a short trial run waits only briefly.
constexpr double kUnaidedRows = 1;    // the time before the contender's own means are called
constexpr double kPatienceRows = 15;  // the time after which waiting for the space ends
/// Returns the seconds from the watch's start until the tables use at most `bytes_max`. If they never do, returns the
/// patience.
double wait_for_space(Session& session, const Stopwatch& watch, std::uint64_t bytes_max, double patience_seconds) {
  while (watch.seconds() < patience_seconds) {
    if (session.contender().table_bytes() <= bytes_max) return watch.seconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return patience_seconds;
}

Result<Outcome> drop_one_million(Session& session) {
  return load_and_drop(session, session.choice().entities);
}

Result<double> p99_of_neighbour(Session& session, std::uint64_t entities, double seconds) {
  const Result<Effect> effect = drive(session, {1, seconds, 0}, [&](Worker& worker) -> Result<std::uint64_t> {
    const Keys keys = keys_of(worker.random.below(entities));
    const Result<bool> found = session.contender().get(2, keys.partition, keys.row);
    if (!found.ok()) return found.status();
    if (!*found) return Status::corruption("an entity of a neighbour is missing");
    return 1;
  });
  if (!effect.ok()) return effect.status();
  return static_cast<double>(effect->latencies.quantile(0.99)) / 1e3;
}

/// Measures gets of a neighbour from the beginning of a drop until its space is free. Returns the factor by which their
/// 99th percentile grows.
Result<Outcome> look_at_neighbours(Session& session) {
  Contender& contender = session.contender();
  const std::uint64_t neighbours = std::max<std::uint64_t>(session.choice().entities / 10, 1000);
  Status ready = contender.load(2, neighbours, LoadWay::kBatches);
  if (ready.ok()) ready = contender.load(1, session.choice().entities, LoadWay::kBatches);
  if (ready.ok()) ready = contender.compact();
  if (!ready.ok()) return ready;
  const double seconds = std::max(session.choice().seconds, 0.1);
  if (const Result<double> warming = p99_of_neighbour(session, neighbours, seconds / 2); !warming.ok()) {
    return warming.status();
  }
  const Result<double> before = p99_of_neighbour(session, neighbours, seconds);
  if (!before.ok()) return before.status();
  Status dropped;
  Result<double> meanwhile = 0.0;
  {
    const std::jthread dropping([&] { dropped = contender.drop_table(1); });
    meanwhile = p99_of_neighbour(session, neighbours, seconds);
  }
  if (!dropped.ok()) return dropped;
  if (!meanwhile.ok()) return meanwhile.status();
  Outcome outcome{*meanwhile / *before, "x", false, {}, {}};
  outcome.figures["before p99 us"] = *before;
  outcome.figures["from the drop on p99 us"] = *meanwhile;
  return outcome;
}

/// Drops and creates a small table many times. Reports the p99 of both together.
Result<Outcome> drop_again_and_again(Session& session) {
  constexpr std::uint64_t kEntities = 1000;
  constexpr int kTimes = 200;
  Contender& contender = session.contender();
  Histogram latencies;
  for (int time = 0; time < kTimes; ++time) {
    if (Status loaded = contender.load(3, kEntities, LoadWay::kBatches); !loaded.ok()) return loaded;
    const std::uint64_t before = now();
    Status done = contender.drop_table(3);
    if (done.ok()) done = contender.create_table(3);
    // in some contenders a table is only a prefix of keys
    if (!done.ok() && done.code() != Code::kUnsupported) return done;
    latencies.add(now() - before);
  }
  Outcome outcome{static_cast<double>(latencies.quantile(0.99)) / 1e6, "ms", false, {}, {}};
  outcome.figures["p50 us"] = static_cast<double>(latencies.quantile(0.5)) / 1e3;
  outcome.figures["max us"] = static_cast<double>(latencies.max()) / 1e3;
  return outcome;
}

}  // namespace

Result<Outcome> load_and_drop(Session& session, std::uint64_t entities) {
  const double unaided_seconds = kUnaidedRows * session.choice().seconds;
  Contender& contender = session.contender();
  if (Status loaded = contender.load(2, std::max<std::uint64_t>(entities / 10, 1000), LoadWay::kBatches);
      !loaded.ok()) {
    return loaded;
  }
  if (Status settled = contender.compact(); !settled.ok()) return settled;
  const std::uint64_t neighbours = session.contender().table_bytes();
  if (Status loaded = contender.load(1, entities, LoadWay::kBatches); !loaded.ok()) return loaded;
  if (Status settled = contender.compact(); !settled.ok()) return settled;
  const std::uint64_t all = std::max(session.contender().table_bytes(), neighbours);
  const std::uint64_t target = neighbours + (all - neighbours) / 10;

  const Stopwatch watch(session.directory());
  if (Status dropped = contender.drop_table(1); !dropped.ok()) return dropped;
  const double latency = watch.seconds();
  double space_back = wait_for_space(session, watch, target, unaided_seconds);
  const bool unaided = space_back < unaided_seconds;
  if (!unaided) {
    if (Status reclaimed = contender.reclaim(1); !reclaimed.ok()) return reclaimed;
    space_back = wait_for_space(session, watch, target, kPatienceRows * session.choice().seconds);
  }
  const Effect effect = watch.effect(entities);
  Outcome outcome{latency * 1e3, "ms", false, {}, {}};
  outcome.figures["space back s"] = space_back;
  outcome.figures["unaided"] = unaided ? 1 : 0;
  outcome.figures["written MB"] = static_cast<double>(effect.written_bytes) / 1e6;
  outcome.figures["freed MB"] = static_cast<double>(all - std::min(all, session.contender().table_bytes())) / 1e6;
  return outcome;
}

Workload drop_workload() {
  return {"drop",
          "a table is dropped beside a neighbour; RocksDB by DeleteRange, after 2 s helped by DeleteFilesInRange and "
          "CompactRange",
          default_settings,
          {{"drop of a table", drop_one_million},
           {"gets of a neighbour, p99 from a drop on / before", look_at_neighbours},
           {"drop and create again, p99 of 200 times", drop_again_and_again}}};
}

}  // namespace varve::bench
