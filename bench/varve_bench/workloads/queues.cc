// Owns: the race of queues in one table, and of scans over keys that are updated all the time.
// Must never: compare with a figure of another run: one queue, and the quiet keys, are measured in the same row.
#include <string>
#include <utility>
#include <vector>

#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

/// Choice::seconds are multiplied by this factor.
constexpr double kPatienceOfRow = 4;

/// The queues of one table. Each is a partition: its tail gets new rows, and its head is read and deleted.
class Queues {
 public:
  Queues(Session& session, std::uint32_t table, std::uint64_t count)
      : session_(session), table_(table), queues_(count) {}

  Status fill() {
    for (std::uint64_t queue = 0; queue < queues_.size(); ++queue) {
      std::vector<Row> rows;
      for (std::uint64_t row = 0; row < kDepth; ++row) rows.push_back({row_key(row), payload_of(row)});
      queues_[queue].tail = kDepth;
      if (Status put = session_.contender().put(table_, partition_key(queue), rows, Check::kNone, Promise::kBuffered);
          !put.ok()) {
        return put;
      }
    }
    return Status();
  }

  /// Inserts at the tail of a queue, reads its head, and deletes the head.
  Status step(std::uint64_t queue) {
    Ends& ends = queues_[queue];
    const std::string partition = partition_key(queue);
    Contender& contender = session_.contender();
    const std::vector<Row> newest{{row_key(ends.tail), payload_of(ends.tail)}};
    if (Status put = contender.put(table_, partition, newest, Check::kNone, Promise::kBuffered); !put.ok()) return put;
    ++ends.tail;
    const std::uint64_t before = now();
    const Result<std::uint64_t> found = contender.scan_partition(table_, partition, 1, Scanned::kMade);
    peeks_.add(now() - before);
    if (!found.ok()) return found.status();
    if (*found != 1) return Status::corruption("a queue's head is missing");
    const std::vector<Row> oldest{{row_key(ends.head), {}}};
    ++ends.head;
    return contender.remove(table_, partition, oldest, Promise::kBuffered);
  }

  /// Visits the queues in turn, until the steps are done or patience ends: some stores visit every deleted head again.
  /// Returns the steps of a second.
  Result<double> run(std::uint64_t steps) {
    const Stopwatch watch(session_.directory());
    const double patience_seconds = kPatienceOfRow * session_.choice().seconds;
    std::uint64_t done = 0;
    for (; done < steps && watch.seconds() < patience_seconds; ++done) {
      if (Status stepped = step(done % queues_.size()); !stepped.ok()) return stepped;
    }
    return static_cast<double>(done) / watch.seconds();
  }

  double peek_us(double share) const noexcept { return static_cast<double>(peeks_.quantile(share)) / 1e3; }

 private:
  static constexpr std::uint64_t kDepth = 10;
  struct Ends {
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
  };

  Session& session_;
  const std::uint32_t table_;
  std::vector<Ends> queues_;
  Histogram peeks_;
};

/// Runs one queue, then many in another table, with as many steps each unless patience ends before.
Result<Outcome> race_queues(Session& session, std::uint64_t count, std::uint64_t steps) {
  Queues one(session, 0, 1);
  Queues many(session, 1, count);
  if (Status filled = one.fill(); !filled.ok()) return filled;
  const Result<double> alone = one.run(steps);
  if (!alone.ok()) return alone.status();
  if (Status idle = session.contender().wait_until_idle(); !idle.ok()) return idle;
  if (Status filled = many.fill(); !filled.ok()) return filled;
  const Result<double> together = many.run(steps);
  if (!together.ok()) return together.status();

  Outcome outcome{*together, "/s", true, {}, {}};
  outcome.figures["p50 us"] = many.peek_us(0.5);
  outcome.figures["p99 us"] = many.peek_us(0.99);
  outcome.figures["one queue /s"] = *alone;
  outcome.figures["one queue p99 us"] = one.peek_us(0.99);
  outcome.figures["of one queue"] = *together / *alone;
  outcome.figures["p99 / one queue"] = many.peek_us(0.99) / one.peek_us(0.99);
  return outcome;
}

WorkloadRow queue_row(std::string name, std::uint64_t count) {
  return {std::move(name),
          [count](Session& session) { return race_queues(session, count, session.choice().entities); }};
}

// -- Keys that are updated all the time ------------------------------------------------------------------------------

constexpr std::uint64_t kHotKeys = 1000;
constexpr std::uint32_t kScannedKeys = 100;

Status scan_hot(Session& session, std::uint32_t table, Histogram& times) {
  const std::uint64_t before = now();
  const Result<std::uint64_t> found =
      session.contender().scan_partition(table, partition_key(0), kScannedKeys, Scanned::kMade);
  times.add(now() - before);
  if (!found.ok()) return found.status();
  return *found == kScannedKeys ? Status() : Status::corruption("a scan did not find every key");
}

Status put_hot(Session& session, std::uint32_t table, std::uint64_t row) {
  const std::vector<Row> rows{{row_key(row), payload_of(row)}};
  return session.contender().put(table, partition_key(0), rows, Check::kNone, Promise::kBuffered);
}

/// Scans keys that were written once, while another table's keys are updated. Then it scans the updated ones.
Result<Outcome> scan_updated(Session& session) {
  constexpr std::uint64_t kUpdatesOfAScan = 100;
  for (std::uint64_t row = 0; row < kHotKeys; ++row) {
    for (const std::uint32_t table : {0U, 1U}) {
      if (Status put = put_hot(session, table, row); !put.ok()) return put;
    }
  }
  Histogram quiet;
  Histogram hot;
  Random random(1);
  const Stopwatch watch(session.directory());
  const double patience_seconds = kPatienceOfRow * session.choice().seconds;
  for (std::uint64_t i = 0; i < session.choice().entities && watch.seconds() < patience_seconds; ++i) {
    if (Status put = put_hot(session, 1, random.below(kHotKeys)); !put.ok()) return put;
    if (i % kUpdatesOfAScan != 0) continue;
    if (Status scanned = scan_hot(session, 0, quiet); !scanned.ok()) return scanned;
    if (Status scanned = scan_hot(session, 1, hot); !scanned.ok()) return scanned;
  }
  Outcome outcome{static_cast<double>(hot.quantile(0.5)) / 1e3, "us", false, {}, {}};
  outcome.figures["p99 us"] = static_cast<double>(hot.quantile(0.99)) / 1e3;
  outcome.figures["quiet us"] = static_cast<double>(quiet.quantile(0.5)) / 1e3;
  outcome.figures["of quiet"] = static_cast<double>(hot.quantile(0.5)) / static_cast<double>(quiet.quantile(0.5));
  return outcome;
}

}  // namespace

Workload queue_workload() {
  return {"queues",
          "queues in one table: an insert at the tail, a read and a delete of the head; and scans of updated keys",
          default_settings,
          {queue_row("100 queues, beside one", 100),
           queue_row("10,000 queues, beside one", 10'000),
           {"scan of 100 keys that are updated all the time", scan_updated}}};
}

}  // namespace varve::bench
