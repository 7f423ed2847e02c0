// Owns: the rows of single entities: inserts into a table with an index, and look-ups by it. IX-01, IX-02.
// Must never: compare figures of different moments. What a row compares is measured in turns.
#include <atomic>
#include <filesystem>

#include "bench/blobs/measure.h"
#include "bench/indexes/goals.h"
#include "bench/indexes/orders.h"
#include "bench/indexes/varve_orders.h"
#include "bench/varve_bench/entities.h"

namespace varve::bench {

namespace {

constexpr int kClients = 16;
constexpr double kGoal = 1.5;
const IndexDefinition kByNumber{"ByNumber", {{"Number"}}};

std::unique_ptr<OrderContender> rocksdb_in(const Bench& bench) {
#ifdef VARVE_BENCH_ROCKSDB
  return take(open_rocksdb_orders(bench.part("rocksdb")));
#else
  static_cast<void>(bench);
  return nullptr;
#endif
}

/// Judges the rate of Varve by that of the peer, if it is built in.
GoalRow row_of(const char* goal, const char* name, const Work& varve, const Work& rocksdb) {
  GoalRow row{goal, name, "/s", true, varve.rate()};
  if (rocksdb.rates.empty()) return row;
  row.peers = {{"rocksdb", rocksdb.rate()}};
  row.judged = {{"of RocksDB", varve.rate() / rocksdb.rate(), kGoal, true}};
  return row;
}

}  // namespace

Rows indexed_inserts(const Bench& bench) {
  const std::unique_ptr<VarveOrders> varve = VarveOrders::open(bench.directory);
  const std::unique_ptr<OrderContender> rocksdb = rocksdb_in(bench);
  varve->build(kByNumber);
  std::atomic<std::uint64_t> next{0};
  Work inserts{kClients, [&](int) { varve->insert(next.fetch_add(1), Durability::kSync); }};
  Work batches{kClients, [&](int) { check(rocksdb->insert(next.fetch_add(1))); }};
  std::vector<Work*> all{&inserts};
  if (rocksdb) all.push_back(&batches);
  run_in_turns(all, bench.sizes.seconds);
  GoalRow row = row_of("IX-01", "durable insert into a table with one index, 16 clients", inserts, batches);
  row.sizes = "two keys in one batch of RocksDB, which checks nothing";
  return {row};
}

Rows index_lookups(const Bench& bench) {
  const std::uint64_t count = bench.sizes.cached_entities;
  const std::unique_ptr<VarveOrders> varve = VarveOrders::open(bench.directory);
  const std::unique_ptr<OrderContender> rocksdb = rocksdb_in(bench);
  varve->load(count);
  varve->build(kByNumber);
  check(varve->store().compact());
  if (rocksdb) check(rocksdb->fill(count));
  std::uint64_t n = 0;
  Work finds{1, [&](int) { varve->find(shuffled(n++ % count, count)); }};
  Work two_gets{1, [&](int) { check(rocksdb->find(shuffled(n++ % count, count))); }};
  std::vector<Work*> all{&finds};
  if (rocksdb) all.push_back(&two_gets);
  for (Work* const work : all) {  // fills the caches
    for (std::uint64_t i = 0; i < count; ++i) work->once(0);
  }
  run_in_turns(all, bench.sizes.seconds);
  GoalRow row = row_of("IX-02", "cached look-up by an index, one thread", finds, two_gets);
  row.sizes = scaled_count(count, count, "orders");
  return {row};
}

}  // namespace varve::bench
