// Owns: the measurement of very many tables.
// Must never: share a table between threads.
#include <atomic>

#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

Result<Outcome> create_tables(Session& session) {
  constexpr int kThreads = 16;
  const std::uint64_t before = resident_bytes();
  std::atomic<std::uint32_t> next{Contender::kTables};
  const std::uint64_t tables = session.choice().tables;
  const Result<Effect> effect = drive(session, {kThreads, 0, tables}, [&](Worker&) -> Result<std::uint64_t> {
    Status made = session.contender().create_table(next.fetch_add(1, std::memory_order_relaxed));
    if (!made.ok()) return made;
    return 1;
  });
  if (!effect.ok()) return effect.status();
  Outcome outcome = outcome_of(*effect, Moves::kReads);
  outcome.figures.erase("reads/op");
  outcome.figures["bytes/table, created"] =
      (static_cast<double>(resident_bytes()) - static_cast<double>(before)) / static_cast<double>(tables);
  return outcome;
}

/// Measures the open of a contender that created the tables.
Result<Outcome> open_with_tables(Session& session) {
  const std::uint64_t tables = session.choice().tables;
  const Status one_more = session.contender().create_table(static_cast<std::uint32_t>(Contender::kTables + tables));
  if (!one_more.ok()) return one_more;
  session.close();
  const std::uint64_t before = resident_bytes();
  Result<Outcome> outcome = measure_open(session, {});
  if (!outcome.ok()) return outcome;
  outcome->figures["bytes/table, open"] =
      (static_cast<double>(resident_bytes()) - static_cast<double>(before)) / static_cast<double>(tables);
  return outcome;
}

}  // namespace

Workload tables_workload() {
  Workload workload{"tables",
                    "tables made by 16 threads, durable, and the open of a store that has them",
                    default_settings,
                    {{"create tables, 16 threads", create_tables}, {"open with these tables", open_with_tables}}};
  workload.in_order = true;
  return workload;
}

}  // namespace varve::bench
