// Owns: the races of two threads beside one: buffered puts, and transfers between partitions.
// Must never: compare with a figure of another run: both are measured in the same row, in turns.
#include <array>
#include <atomic>
#include <utility>

#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

constexpr std::uint64_t kPutsOfRound = 1'000'000;

/// Drives one thread, two, two and one, so that a slower second half does not favour either. Returns two threads' rate,
/// with the background work after each turn outside of the clock: it is the same for both.
Result<Outcome> race_threads(Session& session, const Operation& operation) {
  std::array<Effect, 2> sums;
  for (const int threads : {1, 2, 2, 1}) {
    const Result<Effect> effect = drive(session, {threads, session.choice().seconds, 0}, operation);
    if (!effect.ok()) return effect.status();
    Effect& sum = sums[static_cast<std::size_t>(threads - 1)];
    sum.entities += effect->entities;
    sum.seconds += effect->seconds;
    sum.cpu_seconds += effect->cpu_seconds;
    sum.background_cpu_seconds += effect->background_cpu_seconds;
    sum.written_bytes += effect->written_bytes;
    sum.latencies.merge(effect->latencies);
    if (Status idle = session.contender().wait_until_idle(); !idle.ok()) return idle;
  }
  const auto& [one, two] = sums;
  Outcome outcome = outcome_of(two, Moves::kWrites);
  outcome.figures["one thread /s"] = one.rate();
  outcome.figures["of one thread"] = two.rate() / one.rate();
  outcome.figures["one thread, CPU s/M"] = one.cpu_seconds / static_cast<double>(one.entities) * 1e6;
  return outcome;
}

Result<Outcome> put_buffered(Session& session) {
  std::atomic<std::uint64_t> next{0};
  return race_threads(session, [&](Worker&) -> Result<std::uint64_t> {
    const std::uint64_t n = shuffled(next.fetch_add(1, std::memory_order_relaxed), kPutsOfRound);
    Keys keys = keys_of(n);
    const std::array<Row, 1> rows{Row{std::move(keys.row), payload_of(n)}};
    Status put = session.contender().put(0, keys.partition, rows, Check::kNone, Promise::kBuffered);
    if (!put.ok()) return put;
    return 1;
  });
}

/// Accounts are partitions of one entity each. Transfers that met another one begin again and count once.
Result<Outcome> transfer_buffered(Session& session) {
  constexpr std::uint64_t kAccounts = 10'000;
  Settings with_checks;
  with_checks.checks = true;
  if (Status opened = session.reopen(with_checks); !opened.ok()) return opened;
  const auto account = [](std::uint64_t number) { return Keys{partition_key(number), row_key(0)}; };
  for (std::uint64_t n = 0; n < kAccounts; ++n) {
    const std::array<Row, 1> rows{Row{row_key(0), payload_of(n)}};
    Status put = session.contender().put(1, partition_key(n), rows, Check::kNone, Promise::kBuffered);
    if (!put.ok()) return put;
  }
  std::atomic<std::uint64_t> refused{0};
  Result<Outcome> outcome = race_threads(session, [&](Worker& worker) -> Result<std::uint64_t> {
    const std::uint64_t from = worker.random.below(kAccounts);
    const std::uint64_t to = (from + 1 + worker.random.below(kAccounts - 1)) % kAccounts;
    while (true) {
      const Result<bool> done = session.contender().transfer(1, account(from), account(to),
                                                             payload_of(worker.random.next()), Promise::kBuffered);
      if (!done.ok()) return done.status();
      if (*done) return 1;
      refused.fetch_add(1, std::memory_order_relaxed);
    }
  });
  if (outcome.ok()) outcome->figures["begun again"] = static_cast<double>(refused.load());
  return outcome;
}

}  // namespace

Workload two_threads_workload() {
  return {"two-threads",
          "buffered puts, and transfers between two partitions, by two threads beside one",
          default_settings,
          {{"buffered puts by 2 threads, beside one", put_buffered},
           {"transfers by 2 threads, beside one", transfer_buffered}}};
}

}  // namespace varve::bench
