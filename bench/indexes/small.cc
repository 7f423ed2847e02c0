// Owns: the rows of single entities: inserts into a table with an index, and look-ups by it. IX-01, IX-02.
// Must never: compare figures of different moments. What a row compares is measured in turns.
#include <array>
#include <atomic>
#include <functional>

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

/// Compares inserts by `next`, which returns the next order of a thread, with batches of two keys. Beside them are the same
/// inserts without an index, and batches of one key.
GoalRow inserts_row(const Bench& bench, const char* name, const std::function<std::uint64_t(int)>& next) {
  const std::unique_ptr<VarveOrders> varve = VarveOrders::open(bench.part("indexed"));
  const std::unique_ptr<VarveOrders> plain = VarveOrders::open(bench.part("plain"));
  const std::unique_ptr<OrderContender> rocksdb = rocksdb_in(bench);
  varve->build(kByNumber);
  Work inserts{kClients, [&](int client) { varve->insert(next(client), Durability::kSync); }};
  Work plain_inserts{kClients, [&](int client) { plain->insert(next(client), Durability::kSync); }};
  Work two_keys{kClients, [&](int client) { check(rocksdb->insert(next(client), true)); }};
  Work one_key{kClients, [&](int client) { check(rocksdb->insert(next(client), false)); }};
  std::vector<Work*> all{&inserts, &plain_inserts};
  if (rocksdb) all.insert(all.end(), {&two_keys, &one_key});
  run_in_turns(all, bench.sizes.seconds);
  GoalRow row = row_of("IX-01", name, inserts, two_keys);
  row.beside = {{"without an index", plain_inserts.rate()}};
  if (rocksdb) row.beside.emplace("one key in rocksdb", one_key.rate());
  const Statistics after = take(varve->store().statistics());
  row.figures = {{"commits a group", static_cast<double>(after.commits) / static_cast<double>(after.groups)}};
  row.sizes = "two keys in one batch of RocksDB, which checks nothing";
  return row;
}

}  // namespace

Rows indexed_inserts(const Bench& bench) {
  std::array<std::atomic<std::uint64_t>, kClients> next_of_client{};
  std::atomic<std::uint64_t> next{0};
  constexpr std::uint64_t kOrdersOfClient = 10'000'000;  // no partition has orders of two clients
  return {inserts_row({bench.part("apart"), bench.sizes},
                      "durable insert with one index, 16 clients, each in its own partition",
                      [&](int client) {
                        const auto i = static_cast<std::size_t>(client);
                        return i * kOrdersOfClient + next_of_client[i].fetch_add(1);
                      }),
          inserts_row({bench.part("together"), bench.sizes},
                      "durable insert with one index, 16 clients, all in one partition",
                      [&](int) { return next.fetch_add(1); })};
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
