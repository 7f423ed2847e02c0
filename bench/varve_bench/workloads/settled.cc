// Owns: the disk space of the whole directory, log included, after everything has settled.
// Must never: count before the contender's background work is done, or wait longer for one contender than for another.
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

/// The directory is at rest if its size has not changed for so many times of a row: for 6 s by default.
constexpr double kQuietTimes = 3;
/// Waiting for that ends after so many.
constexpr double kPatienceTimes = 20;

/// Waits until the directory is at rest, and returns the seconds of that. A store may give space back some seconds after
/// its last write.
double wait_for_rest(const std::string& directory, double seconds_of_row) {
  const double quiet = kQuietTimes * seconds_of_row;
  const double patience = kPatienceTimes * seconds_of_row;
  const Stopwatch watch(directory);
  std::uint64_t bytes = occupied_bytes(directory);
  double changed = 0;
  while (watch.seconds() < patience && watch.seconds() - changed < quiet) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::uint64_t now = occupied_bytes(directory);
    if (now != bytes) changed = watch.seconds();
    bytes = now;
  }
  return watch.seconds();
}

/// Loads all entities, writes as many at random places, merges everything, and waits until the directory is at rest.
/// Then closes and opens the store.
Result<Outcome> settle(Session& session) {
  const std::uint64_t entities = session.choice().entities;
  if (Status loaded = session.contender().load(0, entities, LoadWay::kBatches); !loaded.ok()) return loaded;
  Random random(1);
  for (std::uint64_t i = 0; i < entities; ++i) {
    const std::uint64_t n = random.below(entities);
    Keys keys = keys_of(n);
    const std::array<Row, 1> rows{Row{std::move(keys.row), payload_of(n + i)}};
    Status put = session.contender().put(0, keys.partition, rows, Check::kNone, Promise::kBuffered);
    if (!put.ok()) return put;
  }
  Status settled = session.contender().compact();
  if (settled.ok()) settled = session.contender().wait_until_idle();
  if (!settled.ok()) return settled;
  const double waited = wait_for_rest(session.directory(), session.choice().seconds);
  const auto open = static_cast<double>(occupied_bytes(session.directory()));
  const auto tables = static_cast<double>(session.contender().table_bytes());
  session.close();
  const auto closed = static_cast<double>(occupied_bytes(session.directory()));
  const Result<Outcome> opened = measure_open(session, session.settings());
  if (!opened.ok()) return opened;

  Outcome outcome{open / 1e6, "MB", false, {}, {}};
  outcome.figures["tables MB"] = tables / 1e6;
  outcome.figures["closed MB"] = closed / 1e6;
  outcome.figures["waited s"] = waited;
  outcome.figures["open ms"] = opened->value;
  if (const std::optional<std::uint64_t> bytes = session.contender().bytes_to_replay()) {
    outcome.figures["replayed MB"] = static_cast<double>(*bytes) / 1e6;
  }
  return outcome;
}

}  // namespace

Workload settled_workload() {
  return {
      "settled",
      "the whole directory after a load, as many random puts and a merge of everything, once its size has not changed "
      "for 6 s (waits 40 s at most); then a clean close",
      default_settings,
      {{"directory at rest after everything settled", settle}}};
}

}  // namespace varve::bench
