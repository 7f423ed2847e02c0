// Owns: the race of gets before, during and after a merge of everything.
// Must never: warm the cache again after the merge, since clients do not.
#include <array>
#include <atomic>
#include <thread>
#include <utility>

#include "bench/varve_bench/drive.h"
#include "bench/varve_bench/workloads/reads.h"

namespace varve::bench {

namespace {

/// Gets by one thread, a slot of time after the other.
class GetsByPhase {
 public:
  explicit GetsByPhase(Session& session) : session_(session) {}

  /// Drives gets while `goes_on` returns true, in slots of Choice::slot_seconds. Returns the effect of all slots.
  template <typename GoesOn>
  Result<Effect> run(const GoesOn& goes_on) {
    Effect phase;
    while (goes_on(phase)) {
      const Result<Effect> slot =
          drive(session_, {1, session_.choice().slot_seconds, 0}, [this](Worker& worker) { return get_any(worker); });
      if (!slot.ok()) return slot;
      phase.entities += slot->entities;
      phase.seconds += slot->seconds;
      phase.cpu_seconds += slot->cpu_seconds;
      phase.stalled_seconds += slot->stalled_seconds;
      phase.latencies.merge(slot->latencies);
      rates_.push_back(slot->rate());
      seconds_ += slot->seconds;
    }
    return phase;
  }
  Result<Effect> run_for(double seconds) {
    return run([seconds](const Effect& phase) { return phase.seconds < seconds; });
  }

  /// Returns the seconds of all phases so far.
  double seconds() const noexcept { return seconds_; }
  std::vector<double> take_rates() noexcept { return std::move(rates_); }

 private:
  Result<std::uint64_t> get_any(Worker& worker) {
    const Keys keys = keys_of(worker.random.below(session_.choice().entities));
    const Result<bool> found = session_.contender().get(0, keys.partition, keys.row);
    if (!found.ok()) return found.status();
    return *found ? Result<std::uint64_t>(1) : Status::corruption("a get did not find what was loaded");
  }

  Session& session_;
  std::vector<double> rates_;
  double seconds_ = 0;
};

/// Loads all entities, then writes every second one again. So a merge of everything changes every block.
Status load_and_overwrite(Session& session) {
  if (Status loaded = load_and_compact(session); !loaded.ok()) return loaded;
  const std::uint64_t entities = session.choice().entities;
  for (std::uint64_t i = 0; i < entities / 2; ++i) {
    const std::uint64_t n = shuffled(i, entities);
    Keys keys = keys_of(n);
    const std::array<Row, 1> rows{Row{std::move(keys.row), payload_of(n + 1)}};
    Status put = session.contender().put(0, keys.partition, rows, Check::kNone, Promise::kBuffered);
    if (!put.ok()) return put;
  }
  return session.contender().wait_until_idle();
}

double p99_us(const Effect& effect) {
  return static_cast<double>(effect.latencies.quantile(0.99)) / 1e3;
}

/// The value is the rate of gets in the time right after the merge.
Result<Outcome> get_through_merge(Session& session) {
  Contender& contender = session.contender();
  if (!contender.compacts()) return Status::unsupported("there is nothing to merge");
  Status ready = load_and_overwrite(session);
  if (ready.ok()) ready = contender.scan_table(0, Scanned::kMade).status();
  if (!ready.ok()) return ready;

  const double seconds = session.choice().seconds;
  GetsByPhase gets(session);
  if (const Result<Effect> warming = gets.run_for(seconds / 2); !warming.ok()) return warming.status();
  gets.take_rates();
  const double warmed = gets.seconds();
  const Result<Effect> before = gets.run_for(seconds);
  if (!before.ok()) return before.status();

  const std::optional<std::uint64_t> reads_before = contender.reads_for_readers();
  const double begun = gets.seconds() - warmed;
  Status merged;
  std::atomic<bool> is_merged{false};
  Result<Effect> during = Effect();
  {
    const std::jthread merging([&] {
      merged = contender.compact();
      is_merged = true;
    });
    during = gets.run([&](const Effect& phase) { return phase.seconds == 0 || !is_merged; });
  }
  if (!merged.ok()) return merged;
  if (!during.ok()) return during.status();
  const double ended = gets.seconds() - warmed;
  const Result<Effect> after = gets.run_for(seconds);
  if (!after.ok()) return after.status();
  const std::optional<std::uint64_t> reads_after = contender.reads_for_readers();
  const Result<Effect> later = gets.run_for(2 * seconds);
  if (!later.ok()) return later.status();

  Outcome outcome = outcome_of(*after, Moves::kReads);
  outcome.figures["before /s"] = before->rate();
  outcome.figures["during /s"] = during->rate();
  outcome.figures["later /s"] = later->rate();
  outcome.figures["during, of before"] = during->rate() / before->rate();
  outcome.figures["after, of before"] = after->rate() / before->rate();
  outcome.figures["p99 before us"] = p99_us(*before);
  outcome.figures["p99 during us"] = p99_us(*during);
  outcome.figures["p99 after, of before"] = p99_us(*after) / p99_us(*before);
  outcome.figures["merge from s"] = begun;
  outcome.figures["merge to s"] = ended;
  if (reads_before && reads_after) {
    outcome.figures["reads a get through the merge"] =
        static_cast<double>(*reads_after - *reads_before) / static_cast<double>(during->entities + after->entities);
  }
  outcome.series["gets /s"] = gets.take_rates();
  return outcome;
}

}  // namespace

Workload merge_workload() {
  return {"merge-gets",
          "gets by one thread before, during and after a merge of everything, all of which fits the cache",
          default_settings,
          {{"gets right after a merge of everything", get_through_merge}}};
}

}  // namespace varve::bench
