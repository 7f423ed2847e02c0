#include "bench/varve_bench/workloads/endurance.h"

#include <array>

namespace varve::bench {

namespace {

constexpr std::uint64_t kCacheBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kWriteBufferBytes = std::uint64_t{32} << 20;

Result<Outcome> write_for_long(Session& session) {
  const Choice& choice = session.choice();
  Effect whole;
  Outcome outcome;
  double memory = 0;
  for (double elapsed = 0; elapsed < choice.endurance_seconds; elapsed += choice.slot_seconds) {
    const Result<Effect> slot = drive(session, {kEnduranceClients, choice.slot_seconds, 0},
                                      [&](Worker& worker) { return put_anywhere(session, worker); });
    if (!slot.ok()) return slot.status();
    whole.entities += slot->entities;
    whole.seconds += slot->seconds;
    whole.stalled_seconds += slot->stalled_seconds;
    whole.cpu_seconds += slot->cpu_seconds;
    whole.background_cpu_seconds += slot->background_cpu_seconds;
    whole.written_bytes += slot->written_bytes;
    whole.latencies.merge(slot->latencies);
    const double resident = static_cast<double>(resident_bytes()) / 1e6;
    memory = std::max(memory, resident);
    outcome.series["puts /s"].push_back(slot->rate());
    outcome.series["p99.9 ms"].push_back(milliseconds(slot->latencies.quantile(0.999)));
    outcome.series["worst ms"].push_back(milliseconds(slot->latencies.max()));
    outcome.series["memory MB"].push_back(resident);
  }
  // The clock stops when the background work of all puts is done.
  const Stopwatch watch(session.directory());
  if (Status idle = session.contender().wait_until_idle(); !idle.ok()) return idle;
  const Effect debt = watch.effect(0);
  whole.seconds += debt.seconds - session.contender().watched_seconds();
  whole.cpu_seconds += debt.cpu_seconds;
  whole.background_cpu_seconds += debt.cpu_seconds;
  whole.written_bytes += debt.written_bytes;
  auto series = std::move(outcome.series);
  outcome = outcome_of(whole, Moves::kWrites);
  outcome.series = std::move(series);
  outcome.figures["debt s"] = debt.seconds;
  outcome.figures["memory MB, most"] = memory;
  outcome.figures["memory MB, budget"] = static_cast<double>(kCacheBytes + kWriteBufferBytes) / 1e6;
  return outcome;
}

}  // namespace

double milliseconds(std::uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1e6;
}

Settings endurance_settings(const Choice& /*choice*/) {
  return {kCacheBytes, kWriteBufferBytes};
}

Result<std::uint64_t> put_anywhere(Session& session, Worker& worker) {
  const Keys keys = keys_of(worker.random.below(session.choice().entities));
  const std::array<Row, 1> rows{Row{keys.row, payload_of(worker.random.next())}};
  Status put = session.contender().put(0, keys.partition, rows, Check::kNone, Promise::kBuffered);
  if (!put.ok()) return put;
  return 1;
}

Workload endurance_workload() {
  Workload workload{"endurance",
                    "buffered random puts by 4 threads with a write buffer of 32 MiB and a cache of 64 MiB",
                    endurance_settings,
                    {{"random puts for long, with their debt", write_for_long}}};
  workload.only_when_named = true;
  return workload;
}

}  // namespace varve::bench
