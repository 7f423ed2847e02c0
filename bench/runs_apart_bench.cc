// Owns: the cost of writing a table file whose runs are made beside it, as flushes and merges do: how much of the work
// stays with the thread of the job, and how much the threads of the pool take.
// Method: entries of about 290 bytes that compress to a half, in order, as views that stay. The file is removed at once.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <time.h>

#include "engine/tables/runs_apart.h"
#include "format/keys/sort_key.h"

namespace varve::engine {
namespace {

constexpr std::uint64_t kRowCount = 200'000;
constexpr std::size_t kRowValueBytes = 250;
constexpr std::uint64_t kChunkWeight = std::uint64_t{4} << 20;

struct Row {
  std::string key;
  std::string value;
};

std::vector<Row> make_rows() {
  std::vector<Row> rows;
  std::uint64_t state = 1;
  for (std::uint64_t number = 0; number < kRowCount; ++number) {
    std::string value(kRowValueBytes, '=');
    for (std::size_t i = 0; i < kRowValueBytes / 2; ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      value[i] = static_cast<char>('0' + (state >> 58));
    }
    rows.push_back(
        {*format::encode_sort_key(format::make_table_id(1, 7), "customer-" + std::to_string(1'000'000 + number / 100),
                                  "order-" + std::to_string(10'000'000 + number)),
         std::move(value)});
  }
  return rows;
}

double processor_seconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// Arguments: the merges that the pool may run at once, or zero for a pool without threads; the compression level.
void BM_WriteTableApart(benchmark::State& state) {
  const std::vector<Row> rows = make_rows();
  const io::Env& env = io::system_env();
  const std::string path = "runs-apart-bench";
  std::error_code ignored;
  std::filesystem::create_directory(path, ignored);
  const std::unique_ptr<io::Directory> directory = *env.files.open_directory(path);
  BackgroundPool nobody(env, 1);
  std::shared_ptr<PoolThreads> threads;
  if (state.range(0) > 0) threads = *PoolThreads::start(env, static_cast<std::size_t>(state.range(0)));
  BackgroundPool& pool = threads ? *threads->pool() : nobody;
  format::TableOptions options;
  options.compression_level = static_cast<int>(state.range(1));
  double job_seconds = 0;
  double all_seconds = 0;
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    const double job_before = processor_seconds_of(CLOCK_THREAD_CPUTIME_ID);
    const double all_before = processor_seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    const auto writer = *TableWriter::create(env, *directory, 1, options);
    {
      RunsApart apart(pool, env.scheduler, kChunkWeight);
      apart.begin(*writer, options, {});
      for (const Row& row : rows) {
        if (!apart.add({row.key, 1, Kind::kPut, row.value}, false, true).ok()) std::abort();
      }
      if (!apart.append_all().ok()) std::abort();
    }
    const auto entry = writer->finish(0);
    if (!entry.ok()) std::abort();
    bytes = entry->size_bytes;
    job_seconds += processor_seconds_of(CLOCK_THREAD_CPUTIME_ID) - job_before;
    all_seconds += processor_seconds_of(CLOCK_PROCESS_CPUTIME_ID) - all_before;
  }
  const double entries = static_cast<double>(state.iterations()) * kRowCount;
  state.counters["job_cpu_ns"] = job_seconds / entries * 1e9;
  state.counters["all_cpu_ns"] = all_seconds / entries * 1e9;
  state.counters["bytes"] = static_cast<double>(bytes) / kRowCount;
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRowCount));
  std::filesystem::remove_all(path, ignored);
}
BENCHMARK(BM_WriteTableApart)->ArgsProduct({{0, 1, 2, 4}, {-7, 1}})->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace varve::engine
