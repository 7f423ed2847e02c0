// Owns: the race for the first entity behind many deleted ones.
// Must never: let compaction finish before the first look; a reader comes when it comes.
#include <vector>

#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

using Verb = std::function<Status(const std::vector<Row>&)>;

/// Rows 0 to `count` of one partition, a hundred at a time.
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

/// Microseconds of one look, the median of several.
Result<double> first_entity(Session& session, const std::string& partition, std::uint64_t looks) {
  const Result<Effect> effect = drive(session, {1, 0, looks}, [&](Worker&) -> Result<std::uint64_t> {
    const Result<std::uint64_t> count = session.contender().scan_partition(0, partition, 1);
    if (!count.ok()) return count.status();
    if (*count != 1) return Status::corruption("the first entity is missing");
    return 1;
  });
  if (!effect.ok()) return effect.status();
  return static_cast<double>(effect->latencies.quantile(0.5)) / 1e3;
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
  const Result<double> clean = first_entity(session, partition, 100);
  if (!clean.ok()) return clean.status();

  const Stopwatch watch(session.directory());
  done = for_batches(
      entities, [&](const std::vector<Row>& rows) { return contender.remove(0, partition, rows, Promise::kBuffered); });
  if (!done.ok()) return done;
  const double seconds = watch.seconds();
  const Result<double> at_once = first_entity(session, partition, 1);
  if (!at_once.ok()) return at_once.status();
  if (done = contender.wait_until_idle(); !done.ok()) return done;
  const Result<double> later = first_entity(session, partition, 5);
  if (!later.ok()) return later.status();

  Outcome outcome{*at_once / 1e3, "ms", false, {}, {}};
  outcome.figures["clean us"] = *clean;
  outcome.figures["when idle ms"] = *later / 1e3;
  outcome.figures["deletes /s"] = static_cast<double>(entities) / seconds;
  return outcome;
}

}  // namespace

Workload delete_workload() {
  return {"delete-head",
          "every entity but the last of a partition is deleted, then its first one is asked for",
          default_settings,
          {{"first entity behind deletes", delete_then_look}}};
}

}  // namespace varve::bench
