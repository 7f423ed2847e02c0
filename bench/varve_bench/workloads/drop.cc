#include "bench/varve_bench/workloads/drop.h"

#include <chrono>
#include <thread>

#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

constexpr double kPatienceSeconds = 30;
/// Seconds since the watch began when the tables occupy no more than that; kPatienceSeconds if they still do then.
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

}  // namespace

Result<Outcome> load_and_drop(Session& session, std::uint64_t entities) {
  constexpr double kUnaided = 2;  // seconds before the contender's own help is called
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
  double space_back = wait_for_space(session, watch, target, kUnaided);
  const bool unaided = space_back < kUnaided;
  if (!unaided) {
    if (Status reclaimed = contender.reclaim(1); !reclaimed.ok()) return reclaimed;
    space_back = wait_for_space(session, watch, target, kPatienceSeconds);
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
          {{"drop of a table", drop_one_million}}};
}

}  // namespace varve::bench
