// Owns: the races of durable writes: blind writes, and writes that check before they write.
// Must never: acknowledge data that is not on stable storage.
#include <array>
#include <atomic>
#include <vector>

#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

constexpr std::uint64_t kNumbers = 1'000'000'000;  // a key has digits for this many

Row row_of(std::uint64_t n) {
  return {row_key(shuffled(n, kNumbers)), payload_of(n)};
}

/// Returns numbers of keys that no earlier round has used. Each process has a store of its own.
std::uint64_t next_number() {
  static std::atomic<std::uint64_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}

/// One entity per commit. `hot`: all threads write to one partition. Otherwise each thread has its own.
WorkloadRow single_row(std::string name, int threads, Check check, bool hot) {
  return {std::move(name),
          [threads, check, hot](Session& session) -> Result<Outcome> {
            const Result<Effect> effect =
                drive(session, {threads, session.choice().seconds, 0}, [&](Worker& worker) -> Result<std::uint64_t> {
                  const std::array<Row, 1> rows{row_of(next_number())};
                  const std::string partition = partition_key(hot ? 0 : static_cast<std::uint64_t>(worker.thread));
                  Status put = session.contender().put(0, partition, rows, check, Promise::kDurable);
                  if (!put.ok()) return put;
                  return 1;
                });
            if (!effect.ok()) return effect.status();
            return outcome_of(*effect, Moves::kWrites);
          },
          {Limit::Kind::kDurableWrite, threads}};
}

/// One entity per commit. One thread keeps very many commits in flight, and is notified when each is durable.
WorkloadRow puts_in_flight_row(std::string name, std::size_t in_flight) {
  return {std::move(name), [in_flight](Session& session) -> Result<Outcome> {
            constexpr std::size_t kPutsAtOnce = 16'384;
            constexpr std::uint64_t kPartitions = 64;
            Result<Effect> effect =
                drive(session, {1, session.choice().seconds, 0}, [&](Worker&) -> Result<std::uint64_t> {
                  std::vector<KeyedRow> rows;
                  while (rows.size() < kPutsAtOnce) {
                    const std::uint64_t n = next_number();
                    rows.push_back({partition_key(n % kPartitions), row_of(n)});
                  }
                  if (Status put = session.contender().put_side_by_side(0, rows, in_flight); !put.ok()) return put;
                  return rows.size();
                });
            if (!effect.ok()) return effect.status();
            effect->latencies = Histogram();  // The latencies would be those of all puts together.
            return outcome_of(*effect, Moves::kWrites);
          }};
}

/// A hundred entities per commit. The value counts commits.
WorkloadRow hundred_row(std::string name, Check check) {
  return {std::move(name), [check](Session& session) -> Result<Outcome> {
            const Result<Effect> effect =
                drive(session, {1, session.choice().seconds, 0}, [&](Worker&) -> Result<std::uint64_t> {
                  std::vector<Row> rows;
                  rows.reserve(kEntitiesOfPartition);
                  for (std::uint64_t i = 0; i < kEntitiesOfPartition; ++i) rows.push_back(row_of(next_number()));
                  Status put = session.contender().put(1, partition_key(next_number()), rows, check, Promise::kDurable);
                  if (!put.ok()) return put;
                  return kEntitiesOfPartition;
                });
            if (!effect.ok()) return effect.status();
            Outcome outcome = outcome_of(*effect, Moves::kWrites);
            outcome.value /= static_cast<double>(kEntitiesOfPartition);
            return outcome;
          }};
}

/// A hundred entities per commit. Each entity is replaced on the condition that it did not change. The value counts
/// commits.
WorkloadRow replace_row(std::string name) {
  return {std::move(name), [](Session& session) -> Result<Outcome> {
            constexpr std::uint64_t kPartitions = 1000;
            const auto replace = [&](std::uint64_t partition, std::uint64_t payload) {
              std::vector<Row> rows;
              rows.reserve(kEntitiesOfPartition);
              for (std::uint64_t i = 0; i < kEntitiesOfPartition; ++i)
                rows.push_back({row_key(i), payload_of(payload + i)});
              return session.contender().replace_unchanged(2, partition_key(partition), rows, Promise::kDurable);
            };
            for (std::uint64_t partition = 0; partition < kPartitions; ++partition) {
              if (Status made = replace(partition, partition); !made.ok()) return made;
            }
            const Result<Effect> effect =
                drive(session, {1, session.choice().seconds, 0}, [&](Worker& worker) -> Result<std::uint64_t> {
                  Status replaced = replace(worker.random.below(kPartitions), next_number());
                  if (!replaced.ok()) return replaced;
                  return kEntitiesOfPartition;
                });
            if (!effect.ok()) return effect.status();
            Outcome outcome = outcome_of(*effect, Moves::kWrites);
            outcome.value /= static_cast<double>(kEntitiesOfPartition);
            return outcome;
          }};
}

}  // namespace

Workload durable_workload() {
  return {"durable",
          "durable commits without conditions",
          default_settings,
          {single_row("durable put, 1 thread", 1, Check::kNone, false),
           single_row("durable put, 16 threads", 16, Check::kNone, false),
           single_row("durable put, 64 threads", 64, Check::kNone, false),
           puts_in_flight_row("durable put, 1024 in flight, 1 thread", 1024),
           hundred_row("durable batch of 100", Check::kNone)}};
}

Workload checked_workload() {
  const auto settings = [](const Choice&) {
    Settings with_checks;
    with_checks.checks = true;
    return with_checks;
  };
  return {
      "checked",
      "durable commits that look for their keys under a lock",
      settings,
      {hundred_row("durable insert of 100, checked", Check::kAbsent), replace_row("durable replace of 100, by ETag"),
       single_row("one hot partition, 1 thread", 1, Check::kAbsent, true),
       single_row("one hot partition, 16 threads", 16, Check::kAbsent, true),
       single_row("one hot partition, 64 threads", 64, Check::kAbsent, true)}};
}

}  // namespace varve::bench
