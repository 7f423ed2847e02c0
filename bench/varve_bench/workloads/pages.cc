// Owns: the races of what a page costs: by its number of entities, and by their number of properties.
// Must never: read from the device: the cache holds everything.
#include <utility>
#include <vector>

#include "bench/varve_bench/drive.h"
#include "bench/varve_bench/workloads/reads.h"

namespace varve::bench {

namespace {

constexpr std::uint32_t kSmallPage = 100;
constexpr std::uint32_t kLargePage = 1000;
constexpr std::uint32_t kWideTable = 1;

double cpu_us_of(const Effect& effect) {
  return effect.cpu_seconds * 1e6 / static_cast<double>(effect.entities);
}

/// Scans by small, large, large and small pages. The value is the processor time of an entity in a large page.
Result<Outcome> scan_by_pages(Session& session) {
  Effect small;
  Effect large;
  if (const auto warming = session.contender().scan_pages(0, kLargePage); !warming.ok()) return warming.status();
  for (const std::uint32_t page : {kSmallPage, kLargePage, kLargePage, kSmallPage}) {
    const Result<Effect> effect = drive(session, {1, session.choice().seconds, 0},
                                        [&](Worker&) { return session.contender().scan_pages(0, page); });
    if (!effect.ok()) return effect.status();
    Effect& sum = page == kSmallPage ? small : large;
    sum.entities += effect->entities;
    sum.seconds += effect->seconds;
    sum.cpu_seconds += effect->cpu_seconds;
  }
  Outcome outcome{cpu_us_of(large), "us", false, {}, {}};
  outcome.figures["pages of 100 us"] = cpu_us_of(small);
  outcome.figures["of pages of 100"] = cpu_us_of(large) / cpu_us_of(small);
  outcome.figures["entities /s"] = large.rate();
  return outcome;
}

Status load_wide(Session& session) {
  constexpr std::size_t kWideBytes = kManyFields * 20;
  const std::uint64_t entities = session.choice().entities / 100;
  std::vector<Row> rows;
  for (std::uint64_t n = 0; n < entities; ++n) {
    rows.push_back({keys_of(n).row, payload_of(n, kWideBytes), Shape::kManyTexts});
    if (rows.size() < kEntitiesOfPartition && n + 1 < entities) continue;
    Status put = session.contender().put(kWideTable, keys_of(n).partition, rows, Check::kNone, Promise::kBuffered);
    if (!put.ok()) return put;
    rows.clear();
  }
  return session.contender().compact();
}

/// The value is in entities per second.
Result<Outcome> scan_wide(Session& session) {
  Contender& contender = session.contender();
  const Result<std::uint64_t> warming = contender.scan_table(kWideTable, Scanned::kMade);
  if (!warming.ok()) return warming.status();
  if (*warming == 0) {
    if (Status loaded = load_wide(session); !loaded.ok()) return loaded;
    if (const auto again = contender.scan_table(kWideTable, Scanned::kMade); !again.ok()) return again.status();
  }
  const Result<Effect> effect = drive(session, {1, session.choice().seconds, 0},
                                      [&](Worker&) { return contender.scan_table(kWideTable, Scanned::kMade); });
  if (!effect.ok()) return effect.status();
  return outcome_of(*effect, Moves::kReads);
}

}  // namespace

Workload pages_workload() {
  Workload workload{"pages",
                    "pages of 1,000 entities beside pages of 100, and entities of 200 properties, all from the cache",
                    default_settings,
                    in_both_forms({{"scan of entities of 200 properties", scan_wide}}),
                    "loaded",
                    load_and_compact};
  workload.rows.insert(workload.rows.begin(), {"an entity in a page of 1,000, beside pages of 100", scan_by_pages});
  return workload;
}

}  // namespace varve::bench
