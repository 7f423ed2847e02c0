// Owns: the race of gets soon after a clean close and an open, beside the same gets before.
// Must never: wait for background work after the open, since clients do not.
#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

constexpr std::uint64_t kPartHot = 5;  // a fifth of the entities are read
constexpr double kSecondsAfterOpen = 2;

Settings restart_settings(const Choice& /*choice*/) {
  Settings settings;
  settings.cache_bytes = std::uint64_t{256} << 20;
  settings.direct_reads = true;
  return settings;
}

Result<Effect> get_hot(Session& session, double seconds, std::uint64_t operations) {
  const std::uint64_t hot = session.choice().entities / kPartHot / kEntitiesOfPartition * kEntitiesOfPartition;
  return drive(session, {1, seconds, operations}, [&session, hot](Worker& worker) -> Result<std::uint64_t> {
    const Keys keys = keys_of(worker.random.below(hot));
    const Result<bool> found = session.contender().get(0, keys.partition, keys.row);
    if (!found.ok()) return found.status();
    return *found ? Result<std::uint64_t>(1) : Status::corruption("a get did not find what was loaded");
  });
}

Result<Outcome> restart(Session& session) {
  Status ready = session.contender().load(0, session.choice().entities, LoadWay::kBatches);
  if (ready.ok()) ready = session.contender().compact();
  if (!ready.ok()) return ready;
  if (const Result<Effect> warmed = get_hot(session, 0, session.choice().entities); !warmed.ok()) {
    return warmed.status();
  }
  const Result<Effect> before = get_hot(session, session.choice().seconds, 0);
  if (!before.ok()) return before.status();
  if (Status opened = session.reopen(session.settings()); !opened.ok()) return opened;
  const Result<Effect> first = get_hot(session, kSecondsAfterOpen, 0);
  if (!first.ok()) return first.status();
  const Result<Effect> after = get_hot(session, session.choice().seconds, 0);
  if (!after.ok()) return after.status();
  Outcome outcome = outcome_of(*after, Moves::kReads);
  outcome.figures["before /s"] = before->rate();
  outcome.figures["first 2 s /s"] = first->rate();
  outcome.figures["of before"] = after->rate() / before->rate();
  return outcome;
}

}  // namespace

Workload warm_restart_workload() {
  return {"warm-restart",
          "gets of a fifth of a table, two seconds after an open, beside those before the close",
          restart_settings,
          {{"gets two seconds after an open", restart}}};
}

}  // namespace varve::bench
