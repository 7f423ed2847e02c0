// Owns: the race for the first entity after many deleted ones.
// Must never: let compaction finish before the first read: a real reader does not wait for it.
#include <vector>

#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

using Verb = std::function<Status(const std::vector<Row>&)>;

/// Runs the operation for rows 0 to `count` of one partition, in batches of a hundred.
Status for_batches(std::uint64_t count, const Verb& verb) {
  std::vector<Row> rows;
  for (std::uint64_t n = 0; n < count; ++n) {
    rows.push_back({row_key(n), payload_of(n)});
    if (rows.size() < kEntitiesOfPartition && n + 1 < count) continue;
    if (Status done = verb(rows); !done.ok()) return done;
    rows.clear();
  }
  return Status();
}

/// Returns the median time of several reads, in microseconds.
Result<double> median_look(Session& session, const std::string& partition, std::uint64_t looks) {
  const Result<Effect> effect = drive(session, {1, 0, looks}, [&](Worker&) -> Result<std::uint64_t> {
    const Result<std::uint64_t> count = session.contender().scan_partition(0, partition, 1, Scanned::kMade);
    if (!count.ok()) return count.status();
    if (*count != 1) return Status::corruption("the first entity is missing");
    return 1;
  });
  if (!effect.ok()) return effect.status();
  return static_cast<double>(effect->latencies.quantile(0.5)) / 1e3;
}

struct Looks {
  /// The time with the present content of the processor's caches, in microseconds.
  double first_us = 0;
  double median_us = 0;
};

/// Measures a hundred reads. If a hundred of them would take a second or more, it measures only the first.
Result<Looks> look(Session& session, const std::string& partition) {
  constexpr std::uint64_t kLooks = 100;
  constexpr double kRepeatedUsMax = 1e6 / kLooks;
  const Result<double> first = median_look(session, partition, 1);
  if (!first.ok()) return first.status();
  if (*first > kRepeatedUsMax) return Looks{*first, *first};
  const Result<double> median = median_look(session, partition, kLooks);
  if (!median.ok()) return median.status();
  return Looks{*first, *median};
}

Result<Outcome> delete_then_look(Session& session) {
  Contender& contender = session.contender();
  const std::string partition = partition_key(1);
  const std::uint64_t entities = session.choice().entities;
  Status done = for_batches(entities + 1, [&](const std::vector<Row>& rows) {
    return contender.put(0, partition, rows, Check::kNone, Promise::kBuffered);
  });
  if (done.ok()) done = contender.compact();
  if (!done.ok()) return done;
  const Result<Looks> clean = look(session, partition);
  if (!clean.ok()) return clean.status();

  const Stopwatch watch(session.directory());
  done = for_batches(
      entities, [&](const std::vector<Row>& rows) { return contender.remove(0, partition, rows, Promise::kBuffered); });
  if (!done.ok()) return done;
  const double seconds = watch.seconds();
  const Result<Looks> at_once = look(session, partition);
  if (!at_once.ok()) return at_once.status();
  if (done = contender.wait_until_idle(); !done.ok()) return done;
  const Result<Looks> later = look(session, partition);
  if (!later.ok()) return later.status();

  Outcome outcome{at_once->median_us / 1e3, "ms", false, {}, {}};
  outcome.figures["clean us"] = clean->median_us;
  outcome.figures["very first ms"] = at_once->first_us / 1e3;
  outcome.figures["when idle ms"] = later->median_us / 1e3;
  outcome.figures["deletes /s"] = static_cast<double>(entities) / seconds;
  return outcome;
}

}  // namespace

Workload delete_workload() {
  return {"delete-head",
          "every entity but the last of a partition is deleted, then its first one is asked for",
          default_settings,
          {{"first entity after deletes", delete_then_look}}};
}

}  // namespace varve::bench
