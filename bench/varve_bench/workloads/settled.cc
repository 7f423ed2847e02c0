// Owns: the disk space of the whole directory, log included, after everything has settled.
// Must never: count before the contender's background work is done.
#include <array>
#include <utility>

#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

/// Loads all entities, writes as many at random places, merges everything, and closes and opens the store.
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
  const auto open = static_cast<double>(occupied_bytes(session.directory()));
  const auto tables = static_cast<double>(session.contender().table_bytes());
  session.close();
  const auto closed = static_cast<double>(occupied_bytes(session.directory()));
  const Result<Outcome> opened = measure_open(session, session.settings());
  if (!opened.ok()) return opened;

  Outcome outcome{open / 1e6, "MB", false, {}, {}};
  outcome.figures["tables MB"] = tables / 1e6;
  outcome.figures["closed MB"] = closed / 1e6;
  outcome.figures["open ms"] = opened->value;
  if (const std::optional<std::uint64_t> bytes = session.contender().bytes_to_replay()) {
    outcome.figures["replayed MB"] = static_cast<double>(*bytes) / 1e6;
  }
  return outcome;
}

}  // namespace

Workload settled_workload() {
  return {"settled",
          "the whole directory after a load, as many random puts and a merge of everything; then a clean close",
          default_settings,
          {{"directory after everything settled", settle}}};
}

}  // namespace varve::bench
