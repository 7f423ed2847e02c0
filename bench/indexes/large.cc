// Owns: the rows over many entities: builds of an index, ends, groups and ordered pages. IX-03 to IX-06.
// Must never: leave out work that a question needs: opponents and Varve return the same figures, and are compared.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "bench/blobs/measure.h"
#include "bench/indexes/goals.h"
#include "bench/indexes/orders.h"
#include "bench/indexes/varve_orders.h"
#include "bench/varve_bench/entities.h"
#include "varve/loader.h"

namespace varve::bench {

namespace {

constexpr std::uint64_t kGoalEntities = 10'000'000;
const IndexDefinition kByNumberOfAll{"ByNumber", {{"Number"}}};

std::string sizes_of(const Bench& bench) {
  return scaled_count(bench.sizes.entities, kGoalEntities, "orders");
}

/// Loads an entity for each entry that an index by number has. Returns the seconds.
double load_of_entries(VarveOrders& varve, std::uint64_t count) {
  return seconds_of([&] {
    Loader loader = take(varve.store().load_table(VarveOrders::kAccount, "Entries"));
    for (std::uint64_t n = 0; n < count; ++n) {
      const Keys keys = keys_of(n);
      check(loader.add(Entity(number_of(n), keys.partition + keys.row)));
    }
    check(loader.finish().status());
  });
}

/// Two threads insert into a table without a wait for the device, until the work is done. Returns their rate.
double rate_beside(VarveOrders& varve, std::atomic<std::uint64_t>& next, const std::function<void()>& work) {
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> inserted{0};
  const double seconds = seconds_of([&] {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 2; ++i) {
      writers.emplace_back([&] {
        while (!done.load()) {
          varve.insert(next.fetch_add(1), Durability::kBuffered);
          inserted.fetch_add(1);
        }
      });
    }
    work();
    done.store(true);
  });
  return static_cast<double>(inserted.load()) / seconds;
}

std::uint64_t blocks_of(const PageCost& cost) noexcept {
  return cost.blocks_read + cost.blocks_from_cache;
}

Scan scan_below_bound() {
  Scan scan;
  scan.filter = "Total lt " + std::to_string(kTotalBound) + "L";
  return scan;
}

/// Returns the figures of Varve's groups.
std::vector<Group> group_of(const Table& orders, PageCost& cost) {
  Aggregation by_country = take(Aggregation::create({Aggregate::count(), Aggregate::sum("Total")}, {{"Country"}}));
  Scan scan = scan_below_bound();
  cost = PageCost();
  for (;;) {
    const Count part = take(orders.aggregate(scan, by_country));
    cost += part.cost;
    if (!part.continuation) break;
    scan.continuation = *part.continuation;
  }
  std::vector<Group> groups;
  for (const AggregateRow& row : take(by_country.rows())) {
    groups.push_back(
        {static_cast<std::uint64_t>(*row.figures[0]->get_if<std::int64_t>()), *row.figures[1]->get_if<std::int64_t>()});
  }
  return groups;
}

/// Fails if the answers differ. Their order does not matter.
void check_equal(std::vector<Group> a, std::vector<Group> b) {
  const auto before = [](const Group& x, const Group& y) { return x.total < y.total; };
  std::sort(a.begin(), a.end(), before);
  std::sort(b.begin(), b.end(), before);
  const bool equal = std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Group& x, const Group& y) {
    return x.orders == y.orders && x.total == y.total;
  });
  if (!equal) check(Status::corruption("two programs have different groups"));
}

struct GetRates {
  double with_ends = 0;
  double without_ends = 0;
  double ratio = 0;
};

/// Gets orders of the second half from two tables, the same ones in the same order. Turns of a few thousand gets change places,
/// so that what disturbs the machine meets both tables, and so does what a turn leaves in the processor's caches.
GetRates compare_gets(const Table& without_ends, const Table& with_ends, std::uint64_t count, double seconds) {
  constexpr std::uint64_t kGetsOfTurn = 2'000;
  const auto rate_of = [&](const Table& table, std::uint64_t first) {
    const double taken = seconds_of([&] {
      for (std::uint64_t n = first; n < first + kGetsOfTurn; ++n) {
        const Keys keys = keys_of(count / 2 + shuffled(n % (count / 2), count / 2));
        if (!take(table.get(keys.partition, keys.row))) check(Status::corruption("an order is missing"));
      }
    });
    return static_cast<double>(kGetsOfTurn) / taken;
  };
  std::vector<double> with;
  std::vector<double> without;
  std::vector<double> ratios;
  const auto turn = [&] {
    const std::uint64_t first = ratios.size() * kGetsOfTurn;
    const bool is_even = ratios.size() % 2 == 0;
    if (is_even) without.push_back(rate_of(without_ends, first));
    with.push_back(rate_of(with_ends, first));
    if (!is_even) without.push_back(rate_of(without_ends, first));
    ratios.push_back(with.back() / without.back());
  };
  double taken = 0;
  while (taken < 2 * seconds) taken += seconds_of(turn);
  return {median(with), median(without), median(ratios)};
}

}  // namespace

Rows index_builds(const Bench& bench) {
  const std::uint64_t count = bench.sizes.entities;
  const std::unique_ptr<VarveOrders> varve = VarveOrders::open(bench.directory);
  varve->load(count);
  const double reading = seconds_of([&] { varve->read_all(); });
  const double loading = load_of_entries(*varve, count);
  const double quiet = varve->build(kByNumberOfAll);
  GoalRow build{"IX-03", "build of an index", "s", false, quiet};
  build.beside = {{"reading all orders", reading}, {"loading the entries", loading}};
  build.judged = {{"of reading and loading", quiet / (reading + loading), 1.3, false}};
  build.figures = {{"orders /s", static_cast<double>(count) / quiet}};
  build.sizes = sizes_of(bench);

  // The index is ready: what its maintenance costs is no cost of a build. What merges are left of the build would slow the
  // writers, so both rates begin with a compacted store, and are measured about as long.
  std::atomic<std::uint64_t> next{count};
  check(varve->store().compact());
  const std::chrono::duration<double> as_long(std::max(quiet, bench.sizes.seconds));
  const double alone = rate_beside(*varve, next, [&] { std::this_thread::sleep_for(as_long); });
  // The table grew by the inserts of the writers alone. So a second quiet build has the orders that the busy one begins with.
  const auto drop = [&] {
    check(varve->store().drop_index(VarveOrders::kAccount, VarveOrders::kOrders, kByNumberOfAll.name));
    check(varve->store().compact());
  };
  drop();
  const double same = varve->build(kByNumberOfAll);
  drop();
  const std::uint64_t at_start = next.load();
  double busy = 0;
  const double beside = rate_beside(*varve, next, [&] { busy = varve->build(kByNumberOfAll); });
  GoalRow loaded{"IX-03", "build of an index beside two writers", "s", false, busy};
  loaded.beside = {{"quiet build", same}};
  loaded.judged = {{"of the quiet build", busy / same, 1.5, false},
                   {"of the writers' rate", beside / alone, 0.67, true}};
  loaded.figures = {{"inserts beside the build /s", beside},
                    {"inserts alone /s", alone},
                    {"orders at its start", static_cast<double>(at_start)}};
  loaded.sizes = build.sizes;
  return {build, loaded};
}

Rows expiry(const Bench& bench) {
  const std::uint64_t count = bench.sizes.entities;
  const std::unique_ptr<VarveOrders> plain = VarveOrders::open(bench.part("plain"));
  const std::unique_ptr<VarveOrders> ending =
      VarveOrders::open(bench.part("ending"), {.expiry = TableExpiry::at("KeepUntil")});
  // The first half ends in the table: after the load, and before the merge.
  constexpr std::uint64_t kTicksOfSecond = 10'000'000;
  const DateTime soon{DateTime::now().ticks + 2 * kTicksOfSecond + 40 * count};
  const DateTime future = take(DateTime::parse("2999-01-01T00:00:00Z"));
  plain->load(count, [&](std::uint64_t, Entity& order) { order.set("KeepUntil", future); });
  ending->load(count, [&](std::uint64_t n, Entity& order) { order.set("KeepUntil", n < count / 2 ? soon : future); });
  while (DateTime::now() <= soon) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Statistics before = take(ending->store().statistics());
  const double settling = seconds_of([&] { check(ending->store().compact()); });
  check(plain->store().compact());  // Neither table has merges left when both are asked.
  const Statistics after = take(ending->store().statistics());
  GoalRow space{"IX-04", "space of ended orders returned", "s", false, settling};
  space.figures = {{"files unlinked unread", static_cast<double>(after.unlinked_files - before.unlinked_files)},
                   {"MB read", static_cast<double>(after.compaction_read_bytes - before.compaction_read_bytes) / 1e6}};
  space.judged = {{"MB rewritten",
                   static_cast<double>(after.compaction_written_bytes - before.compaction_written_bytes) / 1e6, 0,
                   false}};
  space.sizes = sizes_of(bench) + ", the first half has ended";
#ifdef VARVE_BENCH_ROCKSDB
  const std::unique_ptr<OrderContender> rocksdb = take(open_rocksdb_orders(bench.part("rocksdb"), true));
  const OrderContender::Expired cost = take(rocksdb->expire(count));
  space.peers = {{"rocksdb", cost.seconds}};
  space.figures["MB rewritten by RocksDB"] = cost.written_bytes / 1e6;
#endif

  const GetRates rates = compare_gets(plain->orders(), ending->orders(), count, bench.sizes.seconds * 5);
  GoalRow gets{"IX-04", "get of an order from a table whose orders end", "/s", true, rates.with_ends};
  gets.beside = {{"table without ends", rates.without_ends}};
  gets.judged = {{"of a table without ends", rates.ratio, 1, true}};
  gets.sizes = space.sizes;
  return {space, gets};
}

Rows groups(const Bench& bench) {
  const std::uint64_t count = bench.sizes.entities;
  const std::unique_ptr<VarveOrders> varve = VarveOrders::open(bench.directory);
  varve->load(count);
  std::vector<Group> of_varve;
  PageCost cost;
  std::vector<std::function<double()>> all{
      [&] { return seconds_of([&] { of_varve = group_of(varve->orders(), cost); }); }};
#ifdef VARVE_BENCH_SQLITE
  const std::unique_ptr<OrderContender> sqlite = take(open_sqlite_orders(bench.part("sqlite")));
  check(sqlite->fill(count));
  std::vector<Group> of_sqlite;
  all.emplace_back([&] { return seconds_of([&] { of_sqlite = take(sqlite->group()); }); });
#endif
  const std::vector<double> seconds = medians_in_turns(3, all);
  GoalRow row{"IX-05", "count and sum by group, with a filter", "s", false, seconds[0]};
  row.figures = {{"orders /s", static_cast<double>(count) / seconds[0]},
                 {"blocks", static_cast<double>(blocks_of(cost))},
                 {"blocks from the device", static_cast<double>(cost.blocks_read)}};
  row.plan = varve->plan_of(scan_below_bound());
#ifdef VARVE_BENCH_SQLITE
  check_equal(of_varve, of_sqlite);
  row.peers = {{"sqlite", seconds[1]}};
  row.judged = {{"times as fast as SQLite", seconds[1] / seconds[0], 2, true}};
#endif
  row.sizes = sizes_of(bench);
  return {row};
}

Rows ordered_pages(const Bench& bench) {
  const std::uint64_t count = bench.sizes.entities;
  const std::unique_ptr<VarveOrders> varve = VarveOrders::open(bench.directory);
  varve->load(count);
  varve->build({"ByTotal", {{"Total", true}}});
  varve->build(kByNumberOfAll);
  Scan scan;
  scan.filter = "Total ge 0";
  scan.order_by = "Total desc";
  scan.page_entities_max = 20;
  Page page;
  const double first = seconds_of([&] { page = take(varve->orders().scan(scan)); });
  const PageCost first_cost = page.cost;
  const std::vector<double> seconds =
      medians_in_turns(kTurns, {[&] { return seconds_of([&] { page = take(varve->orders().scan(scan)); }); }});
  GoalRow row{"IX-06", "first 20 orders by total, descending", "us", false, seconds[0] * 1e6};
  row.figures = {{"first call us", first * 1e6},
                 {"first call, blocks from the device", static_cast<double>(first_cost.blocks_read)},
                 {"entities examined", static_cast<double>(page.cost.entities_examined)},
                 {"blocks", static_cast<double>(blocks_of(page.cost))}};
  row.judged = {{"entities examined", static_cast<double>(page.cost.entities_examined), 20, false}};
  row.sizes = sizes_of(bench);
  row.plan = varve->plan_of(scan);

  std::uint64_t n = 0;
  PageCost cost;
  Work finds{1, [&](int) { cost += varve->find(shuffled(n++ % count, count)); }};
  run_in_turns({&finds}, bench.sizes.seconds * 5);
  GoalRow find{"IX-06", "look-up of an order by its number, of all orders", "us", false, finds.seconds() * 1e6};
  find.figures = {{"blocks", static_cast<double>(blocks_of(cost)) / static_cast<double>(n)},
                  {"blocks from the device", static_cast<double>(cost.blocks_read) / static_cast<double>(n)}};
  find.sizes = row.sizes;
  find.plan = varve->plan_of(VarveOrders::scan_for(0));
  return {row, find};
}

}  // namespace varve::bench
