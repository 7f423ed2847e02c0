// Owns: the races of several threads beside one: buffered puts, and transfers between partitions.
// Must never: compare with a figure of another run, or let flushes and merges take the processors of the threads.
#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <utility>

#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

/// The keys of every operation. They are few, so the compaction before each drive is short.
constexpr std::uint64_t kKeys = 100'000;
/// Fewer puts than fill a memtable, which would start a flush.
constexpr std::uint64_t kPutsOfADrive = 100'000;
constexpr int kDrives = 4;

using Operate = std::function<Result<std::uint64_t>(Session&, Worker&)>;

Result<std::uint64_t> put_one(Session& session, Worker& worker) {
  const std::uint64_t n = worker.random.below(kKeys);
  Keys keys = keys_of(n);
  const std::array<Row, 1> rows{Row{std::move(keys.row), payload_of(n + worker.done)}};
  Status put = session.contender().put(0, keys.partition, rows, Check::kNone, Promise::kBuffered);
  if (!put.ok()) return put;
  return 1;
}

Result<std::uint64_t> transfer_one(Session& session, Worker& worker) {
  for (;;) {
    const std::uint64_t from = worker.random.below(kKeys);
    const std::uint64_t to = (from + kEntitiesOfPartition + worker.random.below(kKeys / 2)) % kKeys;
    const Result<bool> done =
        session.contender().transfer(0, keys_of(from), keys_of(to), payload_of(from + worker.done), Promise::kBuffered);
    if (!done.ok()) return done.status();
    if (*done) return 1;
  }
}

/// Loads the keys, and then measures one thread and several threads in turn. The value is the rate of several threads.
Result<Outcome> race(Session& session, int threads, std::uint64_t operations, const Operate& operate) {
  if (Status loaded = session.contender().load(0, kKeys, LoadWay::kBatches); !loaded.ok()) return loaded;
  std::array<double, 2> seconds{};
  std::array<double, 2> processor_seconds{};
  for (int i = 0; i < 2 * kDrives; ++i) {
    const bool is_together = i % 2 == 1;
    if (Status compacted = session.contender().compact(); !compacted.ok()) return compacted;
    const Result<Effect> effect = drive(session, {is_together ? threads : 1, 0, operations},
                                        [&](Worker& worker) { return operate(session, worker); });
    if (!effect.ok()) return effect.status();
    seconds[is_together ? 1 : 0] += effect->seconds;
    processor_seconds[is_together ? 1 : 0] += effect->cpu_seconds;
  }
  const auto count = static_cast<double>(kDrives * operations);
  Outcome outcome{count / seconds[1], "/s", true, {}, {}};
  outcome.figures["one thread /s"] = count / seconds[0];
  outcome.figures["of one thread"] = seconds[0] / seconds[1];
  outcome.figures["CPU us/op"] = processor_seconds[1] * 1e6 / count;
  outcome.figures["one thread CPU us/op"] = processor_seconds[0] * 1e6 / count;
  return outcome;
}

WorkloadRow side_by_side_row(std::string name, int threads, std::uint64_t operations, const Operate& operate) {
  return {std::move(name),
          [threads, operations, operate](Session& session) { return race(session, threads, operations, operate); }};
}

}  // namespace

Workload side_by_side_workload() {
  return {"side-by-side",
          "buffered puts by several threads beside one, without flushes",
          default_settings,
          {side_by_side_row("buffered put, 2 threads beside one", 2, kPutsOfADrive, put_one),
           side_by_side_row("buffered put, 16 threads beside one", 16, kPutsOfADrive, put_one)}};
}

Workload transfer_workload() {
  const auto settings = [](const Choice&) {
    Settings with_checks;
    with_checks.checks = true;
    return with_checks;
  };
  return {"transfers",
          "buffered transactions that read and write one entity in each of two partitions, without flushes",
          settings,
          {side_by_side_row("transfer, 2 threads beside one", 2, kPutsOfADrive / 2, transfer_one),
           side_by_side_row("transfer, 16 threads beside one", 16, kPutsOfADrive / 2, transfer_one)}};
}

}  // namespace varve::bench
