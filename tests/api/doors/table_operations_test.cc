// The rules of tables about cost: a drop, an open, the first writes.
#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::table_operations_test {
namespace {

using namespace test;

class TableOperations : public ::testing::Test {
 protected:
  void SetUp() override { bench_.table("Empty"); }
  Statistics statistics() { return *bench_.store->statistics(); }

  StoreBench bench_;
};

TEST_F(TableOperations, B05_ADropIsOneCommitOfTheSameSizeWhateverTheTableHolds) {
  Table full = bench_.table("Large");
  for (int group = 0; group < 20; ++group) {
    EntityGroupTransaction transaction;
    for (int i = 0; i < 100; ++i) {
      transaction.insert(with_value(std::to_string(group), std::to_string(i), std::string(1000, 'x')));
    }
    ASSERT_TRUE(full.execute(transaction).ok());
  }
  const auto cost_of_drop = [&](std::string_view name) {
    const Statistics before = statistics();
    EXPECT_TRUE(bench_.store->drop_table(kAccount, name).ok());
    const Statistics after = statistics();
    return std::pair(after.commits - before.commits, after.batch_bytes - before.batch_bytes);
  };
  const auto of_empty = cost_of_drop("Empty");
  const auto of_full = cost_of_drop("Large");
  EXPECT_EQ(of_empty.first, 1u);
  EXPECT_EQ(of_full, of_empty);
  EXPECT_LT(of_full.second, 1000u);
  EXPECT_EQ(said(full.get("0", "0")), kTableNotFound);
}

TEST_F(TableOperations, B09_OneTableIsLookedUpByItsNameInAnyCase) {
  for (const std::string_view name : {"Empty", "empty", "EMPTY"}) {
    EXPECT_EQ(said(bench_.store->open_table(kAccount, name)), kFine) << name;
  }
  EXPECT_EQ(bench_.store->open_table(kAccount, "Absent").code(), Code::kNotFound);
  EXPECT_EQ(bench_.store->open_table(kAccount, "no").code(), Code::kNotFound);
  ListOptions exactly;
  exactly.prefix = "EMPTY";
  const Result<TablePage> page = bench_.store->list_tables(kAccount, exactly);
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->tables.size(), 1u);
  EXPECT_EQ(page->tables[0].name, "Empty");
}

TEST_F(TableOperations, B11_ANewTableTakesEveryWriteFromItsFirstMoment) {
  Table fresh = bench_.table("Fresh");
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(said(fresh.insert(with_value(std::to_string(i), "r", "x"))), kFine) << i;
  }
  EXPECT_EQ(statistics().commits_refused, 0u);
  EXPECT_EQ(keys_of(*fresh.scan(Scan{})).size(), 500u);
}

}  // namespace
}  // namespace varve::table_operations_test
