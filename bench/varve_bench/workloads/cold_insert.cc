// Owns: the cost of checking that a key is absent: inserts into a table that no cache holds.
// Must never: count reads of a flush or a compaction: the inserts fit into the write buffer.
#include <algorithm>
#include <atomic>

#include "bench/varve_bench/drive.h"
#include "bench/varve_bench/workloads/reads.h"

namespace varve::bench {

namespace {

constexpr std::uint64_t kShare = 50;  // one insert for this number of entities

Settings checked_and_scarce(const Choice& choice) {
  Settings settings = scarce_cache(choice);
  settings.checks = true;
  return settings;
}

Result<Effect> insert_between(Session& session, std::atomic<std::uint64_t>& next) {
  const std::uint64_t entities = session.choice().entities;
  return drive(
      session, {1, 0, std::max<std::uint64_t>(entities / kShare, 100)}, [&](Worker& worker) -> Result<std::uint64_t> {
        const Keys keys = keys_of(worker.random.below(entities));
        const std::uint64_t number = next.fetch_add(1);
        const Row row{keys.row + '~' + std::to_string(number), payload_of(number)};
        Status put = session.contender().put(0, keys.partition, std::span(&row, 1), Check::kAbsent, Promise::kBuffered);
        if (!put.ok()) return put;
        return 1;
      });
}

/// Measures inserts. The first inserts load indexes and filters, which stay in the cache. Only the second half counts.
Result<Outcome> insert_absent(Session& session) {
  std::atomic<std::uint64_t> next{0};
  if (const Result<Effect> first = insert_between(session, next); !first.ok()) return first.status();
  const Result<Effect> effect = insert_between(session, next);
  if (!effect.ok()) return effect.status();
  Outcome outcome = outcome_of(*effect, Moves::kWrites);
  if (effect->device_reads) {
    outcome.figures["reads/op"] = static_cast<double>(*effect->device_reads) / static_cast<double>(effect->entities);
  }
  return outcome;
}

}  // namespace

Workload cold_insert_workload() {
  return {"cold-insert",
          "inserts of keys that are not there, between those of a table that is eight times the cache; direct reads",
          checked_and_scarce,
          {{"insert of an absent key, cold", insert_absent}},
          "cold-insert",
          load_and_compact};
}

}  // namespace varve::bench
