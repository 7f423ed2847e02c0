// Owns: latencies at a constant offered load over a long time.
// Must never: forgive a stall: the latency of a delayed operation counts from its due time.
#include <array>

#include "bench/varve_bench/drive.h"
#include "bench/varve_bench/workloads/endurance.h"

namespace varve::bench {

namespace {

Result<Outcome> write_as_offered(Session& session) {
  const Choice& choice = session.choice();
  if (choice.offered <= 0) return Status::unsupported("no load was put on offer");
  const Effort effort{kEnduranceClients, choice.endurance_seconds, 0, choice.offered, choice.slot_seconds};
  const Result<Effect> effect = drive(session, effort, [&](Worker& worker) { return put_anywhere(session, worker); });
  if (!effect.ok()) return effect.status();
  const Outcome costs = outcome_of(*effect, Moves::kWrites);
  Outcome outcome{milliseconds(effect->latencies.quantile(0.9999)), "ms", false, costs.figures, {}};
  outcome.figures["offered /s"] = choice.offered;
  outcome.figures["done /s"] = effect->rate();
  for (const Histogram& slot : effect->slots) {
    outcome.series["p99.9 ms"].push_back(milliseconds(slot.quantile(0.999)));
    outcome.series["worst ms"].push_back(milliseconds(slot.max()));
  }
  return outcome;
}

}  // namespace

Workload smooth_workload() {
  Workload workload{"smooth",
                    "the puts of `endurance` at a rate on offer; the p99.99 from when each was due",
                    endurance_settings,
                    {{"p99.99 of random puts at a fixed load", write_as_offered}}};
  workload.only_when_named = true;
  return workload;
}

}  // namespace varve::bench
