// Owns: the disk space of entities after everything is merged.
// Must never: count preallocated space of a log.
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

}  // namespace

Workload space_workload() {
  return {
      "space", "the disk space of twice the entities, merged to the end", default_settings, {{"disk space", occupied}}};
}

}  // namespace varve::bench
