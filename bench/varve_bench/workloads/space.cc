// Owns: the disk space of entities after everything is merged.
// Must never: count preallocated space of a log.
#include <vector>

#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

Result<Outcome> occupied(Session& session) {
  const std::uint64_t entities = session.choice().entities * 2;
  if (Status loaded = session.contender().load(0, entities, LoadWay::kBatches); !loaded.ok()) return loaded;
  if (Status settled = session.contender().compact(); !settled.ok()) return settled;
  if (Status idle = session.contender().wait_until_idle(); !idle.ok()) return idle;
  const auto bytes = static_cast<double>(session.contender().table_bytes());
  Outcome outcome{bytes / 1e6, "MB", false, {}, {}};
  outcome.figures["bytes/entity"] = bytes / static_cast<double>(entities);
  return outcome;
}

/// Entities with ten named properties of 25 bytes each, as an application writes its objects.
Result<Outcome> occupied_by_bags(Session& session) {
  const std::uint64_t entities = session.choice().entities;
  std::vector<Row> rows;
  for (std::uint64_t n = 0; n < entities; ++n) {
    rows.push_back({keys_of(n).row, payload_of(n), Shape::kTenTexts});
    if (rows.size() < kEntitiesOfPartition && n + 1 < entities) continue;
    Status put = session.contender().put(1, keys_of(n).partition, rows, Check::kNone, Promise::kBuffered);
    if (!put.ok()) return put;
    rows.clear();
  }
  if (Status settled = session.contender().compact(); !settled.ok()) return settled;
  if (Status idle = session.contender().wait_until_idle(); !idle.ok()) return idle;
  const auto bytes = static_cast<double>(session.contender().table_bytes());
  Outcome outcome{bytes / 1e6, "MB", false, {}, {}};
  outcome.figures["bytes/entity"] = bytes / static_cast<double>(entities);
  return outcome;
}

}  // namespace

Workload bag_space_workload() {
  return {"space-of-bags",
          "the disk space of entities with ten named properties, merged to the end",
          default_settings,
          {{"disk space of entities of ten properties", occupied_by_bags}}};
}

Workload space_workload() {
  return {
      "space", "the disk space of twice the entities, merged to the end", default_settings, {{"disk space", occupied}}};
}

}  // namespace varve::bench
