// Owns: the races of large entities, each a durable commit.
// Must never: write data that compresses to almost nothing.
#include <atomic>
#include <bit>

#include "bench/varve_bench/drive.h"

namespace varve::bench {

namespace {

std::uint64_t next_entity() {
  static std::atomic<std::uint64_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}

/// Returns a row in entities per second. The device's limit is in bytes.
WorkloadRow large_row(std::string name, int clients, std::size_t bytes) {
  return {std::move(name),
          [clients, bytes](Session& session) -> Result<Outcome> {
            Result<Effect> effect =
                drive(session, {clients, session.choice().seconds, 0}, [&](Worker& worker) -> Result<std::uint64_t> {
                  const std::uint64_t n = next_entity();
                  const Row row{row_key(n), payload_of(n, bytes), Shape::kBinaries, kNoGroup};
                  const std::string partition = partition_key(static_cast<std::uint64_t>(worker.thread));
                  Status put =
                      session.contender().put(0, partition, std::span(&row, 1), Check::kNone, Promise::kDurable);
                  if (!put.ok()) return put;
                  return 1;
                });
            if (!effect.ok()) return effect.status();
            const double entities_per_second = effect->rate();
            if (Status idle = session.contender().wait_until_idle(); !idle.ok()) return idle;
            effect->user_bytes = effect->entities * bytes;
            Outcome outcome = outcome_of(*effect, Moves::kWrites);
            outcome.figures["user MB/s"] = entities_per_second * static_cast<double>(bytes) / 1e6;
            return outcome;
          },
          {Limit::Kind::kDurableWrite, clients, 1, std::bit_ceil(bytes), "user MB/s"},
          {Limit::Kind::kUnwrittenWrite, clients, 1, std::bit_ceil(bytes), "user MB/s"}};
}

}  // namespace

Workload large_workload() {
  const auto settings = [](const Choice&) {
    Settings with_blobs;
    with_blobs.large_values = true;
    return with_blobs;
  };
  return {"large",
          "durable entities of 64 KiB and of a million bytes",
          settings,
          {large_row("durable 64 KiB, 1 thread", 1, 65'536), large_row("durable 64 KiB, 4 threads", 4, 65'536),
           large_row("durable 1 MB, 1 thread", 1, 1'000'000)}};
}

}  // namespace varve::bench
