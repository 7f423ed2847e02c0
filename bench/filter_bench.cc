// Owns: the cost of filters: building one, and querying it for present and for absent keys.
// Method: filters have the keys of one run of blocks (4,000), of a large file (100,000), and of a set that exceeds the
// processor's caches (8 million lookups). Hashes are computed before the clock runs. Lookups are shuffled.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "format/block/filter.h"

namespace varve::format {
namespace {

std::vector<std::uint64_t> random_hashes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> hashes(count);
  for (std::uint64_t& hash : hashes) hash = random();
  return hashes;
}

void build(benchmark::State& state, FilterKind kind) {
  const std::vector<std::uint64_t> hashes = random_hashes(static_cast<std::size_t>(state.range(0)), 1);
  std::size_t bytes = 0;
  for (auto _ : state) {
    Result<std::string> content = build_filter(kind, hashes, 10);
    bytes = content->size();
    benchmark::DoNotOptimize(content);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["bits/key"] = 8.0 * static_cast<double>(bytes) / static_cast<double>(state.range(0));
}
void BM_FilterBuildBloom(benchmark::State& state) {
  build(state, FilterKind::kBlockedBloom);
}
BENCHMARK(BM_FilterBuildBloom)->Arg(100)->Arg(4000)->Arg(100'000);
void BM_FilterBuildFuse(benchmark::State& state) {
  build(state, FilterKind::kBinaryFuse);
}
BENCHMARK(BM_FilterBuildFuse)->Arg(100)->Arg(4000)->Arg(100'000);

void ask(benchmark::State& state, FilterKind kind, bool present) {
  const auto count = static_cast<std::size_t>(state.range(0));
  std::vector<std::uint64_t> hashes = random_hashes(count, 1);
  const std::string content = *build_filter(kind, hashes, 10);
  const FilterView filter = *FilterView::parse(content);
  if (!present) hashes = random_hashes(count, 2);
  std::shuffle(hashes.begin(), hashes.end(), std::mt19937_64(3));
  std::size_t i = 0;
  std::size_t passed = 0;
  for (auto _ : state) {
    passed += filter.may_contain(hashes[i]) ? 1U : 0U;
    if (++i == count) i = 0;
  }
  state.counters["passed%"] = 100.0 * static_cast<double>(passed) / static_cast<double>(state.iterations());
}
void BM_FilterAskBloomPresent(benchmark::State& state) {
  ask(state, FilterKind::kBlockedBloom, true);
}
BENCHMARK(BM_FilterAskBloomPresent)->Arg(4000)->Arg(100'000)->Arg(8'000'000);
void BM_FilterAskBloomAbsent(benchmark::State& state) {
  ask(state, FilterKind::kBlockedBloom, false);
}
BENCHMARK(BM_FilterAskBloomAbsent)->Arg(4000)->Arg(100'000)->Arg(8'000'000);
void BM_FilterAskFusePresent(benchmark::State& state) {
  ask(state, FilterKind::kBinaryFuse, true);
}
BENCHMARK(BM_FilterAskFusePresent)->Arg(4000)->Arg(100'000)->Arg(8'000'000);
void BM_FilterAskFuseAbsent(benchmark::State& state) {
  ask(state, FilterKind::kBinaryFuse, false);
}
BENCHMARK(BM_FilterAskFuseAbsent)->Arg(4000)->Arg(100'000)->Arg(8'000'000);

}  // namespace
}  // namespace varve::format
