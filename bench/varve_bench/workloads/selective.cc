// Owns: a filter that a thousandth of a table matches, with all matches adjacent.
// Must never: count a query that did not find exactly the matching entities.
#include <algorithm>
#include <vector>

#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

constexpr std::uint64_t kDistinct = 1000;

std::uint64_t entities_of_group(const Choice& choice) {
  return std::max<std::uint64_t>(choice.entities / kDistinct, 1);
}

/// Loads groups that follow one another in the order of keys.
Status load_groups(Session& session) {
  const Choice& choice = session.choice();
  std::vector<Row> rows;
  for (std::uint64_t n = 0; n < choice.entities; ++n) {
    rows.push_back(
        {keys_of(n).row, payload_of(n), Shape::kText, static_cast<std::int32_t>(n / entities_of_group(choice))});
    if (rows.size() < kEntitiesOfPartition && n + 1 < choice.entities) continue;
    Status put = session.contender().put(0, keys_of(n).partition, rows, Check::kNone, Promise::kBuffered);
    if (!put.ok()) return put;
    rows.clear();
  }
  return session.contender().compact();
}

Result<Outcome> query_groups(Session& session) {
  const std::uint64_t expected = entities_of_group(session.choice());
  const std::uint64_t groups = session.choice().entities / expected;
  if (const Result<std::uint64_t> warming = session.contender().scan_table(0, Scanned::kMade); !warming.ok())
    return warming.status();
  const Stopwatch scan_watch(session.directory());
  const Result<std::uint64_t> all = session.contender().scan_table(0, Scanned::kMade);
  if (!all.ok()) return all.status();
  const double scan_seconds = scan_watch.seconds();
  const Result<Effect> effect =
      drive(session, {1, session.choice().seconds, 0}, [&](Worker& worker) -> Result<std::uint64_t> {
        const auto group = static_cast<std::int32_t>(worker.random.below(groups));
        const Result<std::uint64_t> found = session.contender().query_group(0, std::nullopt, group);
        if (!found.ok()) return found.status();
        if (*found != expected) return Status::corruption("a query did not find all that match");
        return 1;
      });
  if (!effect.ok()) return effect.status();
  Outcome outcome = outcome_of(*effect, Moves::kReads);
  outcome.figures["times a full scan"] = scan_seconds * outcome.value;
  return outcome;
}

}  // namespace

Workload selective_workload() {
  return {"selective",      "queries of a whole table by a filter that a thousandth of it matches, all of it together",
          default_settings, in_both_forms({{"filter of 0.1 %, correlated with the keys", query_groups}}),
          "selective",      load_groups};
}

}  // namespace varve::bench
