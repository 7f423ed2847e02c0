// Goal: an index stays whole, and a query its answer, when a build meets a full disk, a drop, a clock that jumps, or values
// that an entry cannot hold whole.
// Method: each trouble by itself, on a store whose disk and clock the test moves; at the end the store is verified.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"
#include "tests/api/uneven_text.h"
#include "varve/limits.h"
#include "varve/table_index.h"
#include "varve/verify.h"

namespace varve::table_index_trouble_test {
namespace {

using namespace test;
using std::chrono::seconds;
using Keys = std::vector<std::string>;

const IndexDefinition kByValue{"ByValue", {{"V"}}, {}};
constexpr std::uint64_t kTicksPerYear = 365 * 86'400 * std::uint64_t{10'000'000};

Scan having(std::string_view value) {
  Scan scan;
  scan.filter = "V eq '" + std::string(value) + "'";
  return scan;
}
Keys found(const Table& table, const Scan& scan) {
  const Result<Page> page = table.scan(scan);
  EXPECT_EQ(said(page), kFine) << page.status().to_string();
  return page.ok() ? keys_of(*page) : Keys();
}
bool takes_index(const Table& table, const Scan& scan) {
  const Result<ScanPlan> plan = table.explain(scan);
  EXPECT_EQ(said(plan), kFine);
  return plan.ok() && plan->indexes.size() == 1 && plan->indexes.front().is_taken;
}
void expect_verified(StoreBench& bench) {
  bench.store.reset();
  const Result<VerifyReport> report = Store::verify(kStorePath, bench.options());
  ASSERT_EQ(said(report), kFine);
  EXPECT_TRUE(report->sound()) << report->findings.front();
}

void fill_disk_during_a_build_of(const IndexDefinition& definition) {
  StoreBench bench(7, OneThreadAtATime{});
  ResourceOptions small;
  small.write_buffer_bytes = 256 << 10;
  StoreOptions scarce = bench.options();
  scarce.resources = *Resources::create(small);
  bench.open(scarce);
  Table table = bench.table();
  for (const char* const partition : {"a", "b", "c"}) {
    EntityGroupTransaction group;
    for (int row = 0; row < 100; ++row) group.insert(with_value(partition, std::to_string(row), row < 50 ? "x" : "y"));
    ASSERT_EQ(said(table.execute(group)), kFine);
  }
  bool is_full = false;
  const Status built = bench.store->create_index(kAccount, "Orders", definition, [&](const IndexBuildProgress&) {
    if (std::exchange(is_full, true)) return true;
    for (const std::size_t bytes : {std::size_t{20'000}, std::size_t{10}}) {  // at last no part of the build fits
      Status written;
      for (std::uint32_t i = 0; i < 5'000 && written.ok(); ++i) {
        bench.machine.files->set_capacity_bytes(bench.machine.files->used_bytes());
        Entity filler = with_value("q", std::to_string(i % 50), std::to_string(i));
        filler.set("Filler", uneven_text(bytes, i));
        written = table.insert_or_replace(filler).status();
      }
      EXPECT_EQ(written.code(), Code::kNoSpace) << written.to_string();
    }
    return true;
  });
  EXPECT_TRUE(is_full);
  EXPECT_EQ(built.code(), Code::kNoSpace) << built.to_string();
  EXPECT_EQ((*bench.store->indexes(kAccount, "Orders")).front().state, IndexState::kBuilding);
  EXPECT_EQ(found(table, having("x")).size(), 150U) << "a query needs no index";
  bench.machine.files->set_capacity_bytes(io::MemoryFileSystem::kUnlimited);
  bench.open(scarce);
  table = *bench.store->open_table(kAccount, "Orders");
  ASSERT_EQ(said(bench.store->create_index(kAccount, "Orders", definition)), kFine);
  EXPECT_TRUE(takes_index(table, having("x")));
  EXPECT_EQ(found(table, having("x")).size(), 150U);
  expect_verified(bench);
}

TEST(TableIndexTrouble, I4_ADiskThatFillsDuringABuildEndsItAndALaterBuildIsWhole) {
  fill_disk_during_a_build_of(kByValue);
}

TEST(TableIndexTrouble, I4_ADiskThatFillsDuringABuildOfAUniqueIndexEndsItAndALaterBuildIsWhole) {
  fill_disk_during_a_build_of({"ByAll", {{"V"}, {"PartitionKey"}, {"RowKey"}}, {}, true});
}

TEST(TableIndexTrouble, I5_ATableMadeAgainDuringABuildGetsNoneOfIt) {
  StoreBench bench;
  Table table = bench.table();
  ASSERT_EQ(said(table.insert(with_value("p", "a", "x"))), kFine);
  const Status built = bench.store->create_index(kAccount, "Orders", kByValue, [&](const IndexBuildProgress&) {
    EXPECT_EQ(said(bench.store->drop_table(kAccount, "Orders")), kFine);
    Table again = bench.table();
    EXPECT_EQ(said(again.insert(with_value("p", "b", "x"))), kFine);
    return true;
  });
  EXPECT_EQ(said(built), kResourceNotFound);
  EXPECT_TRUE((*bench.store->indexes(kAccount, "Orders")).empty());
  EXPECT_EQ(found(table, having("x")), (Keys{"p/b"}));
  ASSERT_EQ(said(bench.store->create_index(kAccount, "Orders", kByValue)), kFine);
  EXPECT_TRUE(takes_index(table, having("x")));
  EXPECT_EQ(found(table, having("x")), (Keys{"p/b"}));
  expect_verified(bench);
}

TEST(TableIndexTrouble, E1_AClockThatIsSetBackOrFarAheadChangesNoAnswer) {
  StoreBench bench;
  bench.open();
  ASSERT_EQ(said(bench.store->create_account(kAccount)), kFine);
  Table table = *bench.store->create_table(kAccount, "Orders", {.expiry = TableExpiry::after(seconds(10))});
  ASSERT_EQ(said(bench.store->create_index(kAccount, "Orders", kByValue)), kFine);
  ASSERT_EQ(said(table.insert(with_value("p", "a", "x"))), kFine);
  ASSERT_EQ(said(table.insert(with_value("p", "b", "x"))), kFine);
  EXPECT_EQ(found(table, having("x")), (Keys{"p/a", "p/b"}));
  bench.machine.clock.advance(seconds(11));
  EXPECT_EQ(found(table, having("x")), Keys());
  const std::uint64_t now = bench.machine.clock.wall();
  bench.machine.clock.set_wall(now - kTicksPerYear);
  EXPECT_TRUE(takes_index(table, having("x")));
  EXPECT_EQ(found(table, having("x")), Keys());
  ASSERT_EQ(said(table.insert(with_value("p", "a", "x"))), kFine);
  EXPECT_EQ(found(table, having("x")), (Keys{"p/a"}));
  bench.machine.clock.set_wall(now + 10 * kTicksPerYear);
  EXPECT_EQ(found(table, having("x")), (Keys{"p/a"})) << "the jump is not followed";
  ASSERT_EQ(said(table.insert(with_value("p", "b", "x"))), kFine);
  ASSERT_EQ(said(bench.store->compact()), kFine);
  EXPECT_EQ(found(table, having("x")), (Keys{"p/a", "p/b"}));
  bench.open();
  table = *bench.store->open_table(kAccount, "Orders");
  EXPECT_TRUE(takes_index(table, having("x")));
  EXPECT_EQ(found(table, having("x")), Keys()) << "an open follows the clock";
  ASSERT_EQ(said(table.insert(with_value("p", "b", "x"))), kFine);
  EXPECT_EQ(found(table, having("x")), (Keys{"p/b"}));
  expect_verified(bench);
}

TEST(TableIndexTrouble, I6_ValuesThatBeginAlikeAreToldApartBehindTheEndOfAnEntry) {
  StoreBench bench;
  Table table = bench.table();
  ASSERT_EQ(said(bench.store->create_index(kAccount, "Orders", kByValue)), kFine);
  const std::string begin(256, 'k');  // as much as an entry has of a value
  const std::string longest(limits::kStringCodeUnitsMax, 'k');
  ASSERT_EQ(said(table.insert(with_value("p", "0", begin))), kFine);
  ASSERT_EQ(said(table.insert(with_value("p", "1", begin + "1"))), kFine);
  ASSERT_EQ(said(table.insert(with_value("p", "2", begin + "2"))), kFine);
  ASSERT_EQ(said(table.insert(with_value("p", "3", longest))), kFine);
  EXPECT_EQ(found(table, having(begin)), (Keys{"p/0"}));
  EXPECT_EQ(found(table, having(begin + "2")), (Keys{"p/2"}));
  EXPECT_EQ(found(table, having(longest.substr(0, 10'000))), Keys());
  Scan scan;
  scan.filter = "V gt '" + begin + "1'";
  EXPECT_TRUE(takes_index(table, scan));
  EXPECT_EQ(found(table, scan), (Keys{"p/2", "p/3"}));
  scan.filter = "V ge '" + begin + "' and V lt '" + begin + "2'";
  EXPECT_EQ(found(table, scan), (Keys{"p/0", "p/1"}));
  ASSERT_EQ(said(table.insert_or_replace(with_value("p", "1", begin + "2"))), kFine);
  EXPECT_EQ(found(table, having(begin + "2")), (Keys{"p/1", "p/2"}));
  ASSERT_EQ(said(table.remove("p", "1", ETag::any())), kFine);
  EXPECT_EQ(found(table, having(begin + "2")), (Keys{"p/2"}));
  expect_verified(bench);
}

TEST(TableIndexTrouble, I6_AFunctionOfTextsIsFalseForANumber) {
  StoreBench bench;
  Table table = bench.table();
  ASSERT_EQ(said(bench.store->create_index(kAccount, "Orders", kByValue)), kFine);
  ASSERT_EQ(said(table.insert(Entity("p", "number").set("V", 12))), kFine);
  ASSERT_EQ(said(table.insert(Entity("p", "text").set("V", "12"))), kFine);
  for (const char* const function : {"startswith(V,'1')", "endswith(V,'2')", "contains(V,'')",
                                     "equals_ignoring_case(V,'12')", "startswith(V,'1') and V gt ''"}) {
    Scan scan;
    scan.filter = function;
    EXPECT_EQ(found(table, scan), (Keys{"p/text"})) << function;
  }
  expect_verified(bench);
}

TEST(TableIndexTrouble, I1_AnIncrementOfATextIsRefusedAndChangesNoEntry) {
  StoreBench bench;
  Table table = bench.table();
  ASSERT_EQ(said(bench.store->create_index(kAccount, "Orders", kByValue)), kFine);
  ASSERT_EQ(said(table.insert(with_value("p", "a", "x"))), kFine);
  const Result<Entity> patched = table.patch(Patch("p", "a").set("W", 1).increment("V", 1), ETag::any());
  EXPECT_EQ(said(patched), (Said{Code::kInvalidArgument, "PropertyTypeMismatch"}));
  EXPECT_EQ(found(table, having("x")), (Keys{"p/a"}));
  EXPECT_EQ(read(table, "p", "a")->find("W"), nullptr);
  expect_verified(bench);
}

}  // namespace
}  // namespace varve::table_index_trouble_test
