// Goal: explain() returns the keys that a scan reads and the remaining condition. The cost of a page shows the data
// that was read.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::query_plan_test {
namespace {

using namespace test;
using Texts = std::vector<std::string>;

class QueryPlans : public ::testing::Test {
 protected:
  void SetUp() override { table_.emplace(bench_.table()); }
  void fill(int partitions, int rows) {
    for (int partition = 0; partition < partitions; ++partition) {
      EntityGroupTransaction transaction;
      for (int row = 0; row < rows; ++row) {
        transaction.insert(Entity(std::string(1, static_cast<char>('a' + partition)), std::to_string(100 + row))
                               .set("N", row)
                               .set("Text", std::string(400, static_cast<char>('a' + row % 26))));
      }
      ASSERT_TRUE(table_->execute(transaction).ok());
    }
  }
  ScanPlan plan(const std::string& filter, const ScanRange& range = ScanRange::whole_table(), bool backward = false) {
    Scan scan;
    scan.filter = filter;
    scan.range = range;
    scan.backward = backward;
    const Result<ScanPlan> found = table_->explain(scan);
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return found.ok() ? *found : ScanPlan();
  }
  std::string path(const std::string& filter, const ScanRange& range = ScanRange::whole_table()) {
    return std::string(access_path_name(plan(filter, range).path));
  }
  Texts ranges(const std::string& filter, const ScanRange& range = ScanRange::whole_table(), bool backward = false) {
    Texts texts;
    for (const PlannedRange& each : plan(filter, range, backward).ranges) texts.push_back(each.to_string());
    return texts;
  }
  PageCost cost(const Scan& scan) {
    const Result<Page> page = table_->scan(scan);
    EXPECT_TRUE(page.ok()) << page.status().to_string();
    return page.ok() ? page->cost : PageCost();
  }

  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(QueryPlans, Q31_EveryAccessPathHasItsName) {
  EXPECT_EQ(path("PartitionKey eq 'p' and RowKey eq 'r'"), "point");
  EXPECT_EQ(path("PartitionKey eq 'p' and (RowKey eq 'r' or RowKey eq 's')"), "points");
  EXPECT_EQ(path("PartitionKey eq 'p' and RowKey ge 'a' and RowKey lt 'c'"), "row range");
  EXPECT_EQ(path("PartitionKey eq 'p' and RowKey gt 'a'"), "row range");
  EXPECT_EQ(path("PartitionKey eq 'p' and RowKey ge 'ab' and RowKey lt 'ac'"), "row prefix");
  EXPECT_EQ(path("PartitionKey eq 'p' and N gt 3"), "partition");
  EXPECT_EQ(path("PartitionKey eq 'p' and not (RowKey eq 'x')"), "partition");
  EXPECT_EQ(path("PartitionKey ge 'p' and PartitionKey lt 'q' and RowKey eq 'r'"), "partition range");
  EXPECT_EQ(path("RowKey eq 'r'"), "table");
  EXPECT_EQ(path("PartitionKey eq 'p' or N eq 3"), "table");
  EXPECT_EQ(path(""), "table");
  EXPECT_EQ(path("PartitionKey eq 'p' or PartitionKey gt 'q'"), "several ranges");
  EXPECT_EQ(path("PartitionKey eq 5"), "nothing");
}

TEST_F(QueryPlans, Q31_ListsAndPrefixesHaveThePathsOfTheirComparisons) {
  EXPECT_EQ(path("PartitionKey eq 'p' and RowKey in ('r','s')"), "points");
  EXPECT_EQ(path("PartitionKey in ('p') and RowKey in ('r')"), "point");
  EXPECT_EQ(path("PartitionKey in ('p','q') and N gt 3"), "several ranges");
  EXPECT_EQ(path("PartitionKey eq 'p' and startswith(RowKey,'ab')"), "row prefix");
  EXPECT_EQ(path("startswith(PartitionKey,'ab')"), "partition range");
  EXPECT_EQ(path("equals_ignoring_case(PartitionKey,'ab')"), "partition range");
  EXPECT_EQ(path("PartitionKey eq 'p' and contains(RowKey,'ab')"), "partition");
  EXPECT_EQ(path("N in (1,2) or exists(N) or PartitionKey eq RowKey"), "table");
  EXPECT_EQ(path("PartitionKey in (1,2)"), "nothing");
  EXPECT_EQ(ranges("PartitionKey eq 'p' and startswith(RowKey,'\xC3\xBF')"),
            Texts{"rows that begin with '\xC3\xBF' of partition 'p'"});
  EXPECT_EQ(ranges("startswith(PartitionKey,'\xC3\xBF')"), Texts{"partitions from '\xC3\xBF' to before '\xC4\x80'"});
  EXPECT_EQ(ranges("startswith(PartitionKey,'\xEF\xBF\xBF')"), Texts{"partitions from '\xEF\xBF\xBF'"});
  EXPECT_EQ(ranges("equals_ignoring_case(PartitionKey,'aB')"), Texts{"partitions from 'AB' to 'ab'"});
  EXPECT_EQ(plan("PartitionKey eq 'p' and RowKey in ('r','s') and endswith( N , 'x' )").residual,
            "endswith( N , 'x' )");
  EXPECT_EQ(plan("startswith(PartitionKey,'a') and equals_ignoring_case(RowKey,'r')").residual,
            "equals_ignoring_case(RowKey,'r')");
}

TEST_F(QueryPlans, Q33_ContradictoryBoundsReadNothing) {
  EXPECT_EQ(path("PartitionKey gt 'b' and PartitionKey lt 'a'"), "nothing");
  EXPECT_EQ(path("PartitionKey eq 'p' and RowKey gt 'b' and RowKey le 'b'"), "nothing");
  EXPECT_EQ(path("false"), "nothing");
  EXPECT_EQ(path("PartitionKey eq 'p'", ScanRange::partition("q")), "nothing");
  EXPECT_EQ(path("", ScanRange::rows("p", "b", "a")), "nothing");
}

TEST_F(QueryPlans, Q31_RangesAreToldInTheWordsOfTheFilter) {
  EXPECT_EQ(ranges("PartitionKey eq 'p' and RowKey eq 'r'"), Texts{"row 'r' of partition 'p'"});
  EXPECT_EQ(ranges("PartitionKey eq 'p' and RowKey ge '05' and RowKey lt '08'"),
            Texts{"rows from '05' to before '08' of partition 'p'"});
  EXPECT_EQ(ranges("PartitionKey eq 'p' and RowKey gt '05' and RowKey le '08'"),
            Texts{"rows after '05' to '08' of partition 'p'"});
  EXPECT_EQ(ranges("PartitionKey eq 'p' and RowKey ge 'x-' and RowKey lt 'x.'"),
            Texts{"rows that begin with 'x-' of partition 'p'"});
  EXPECT_EQ(ranges("PartitionKey ge 'eu' and PartitionKey lt 'ev'"), Texts{"partitions from 'eu' to before 'ev'"});
  EXPECT_EQ(ranges("PartitionKey gt ''"), Texts{"partitions after ''"});
  EXPECT_EQ(ranges("PartitionKey eq '\xEF\xBF\xBD'"), Texts{"all of partition '\xEF\xBF\xBD'"});
  EXPECT_EQ(ranges("", ScanRange::rows_with_prefix("p", "ab")), Texts{"rows that begin with 'ab' of partition 'p'"});
  EXPECT_EQ(ranges("PartitionKey eq 'b' or PartitionKey eq 'a'"),
            (Texts{"all of partition 'a'", "all of partition 'b'"}));
  EXPECT_EQ(ranges("PartitionKey eq 'b' or PartitionKey eq 'a'", ScanRange::whole_table(), true),
            (Texts{"all of partition 'b'", "all of partition 'a'"}));
  EXPECT_EQ(ranges("N eq 3"), Texts{"the whole table"});
}

TEST_F(QueryPlans, Q31_WhatTheRangesSayIsNotJudgedAgain) {
  const auto residual = [&](const std::string& filter) { return plan(filter).residual; };
  EXPECT_EQ(residual("PartitionKey eq 'p' and RowKey ge 'a'"), "");
  EXPECT_EQ(residual("PartitionKey eq 'p' and N gt 3 and RowKey lt 'x' and  B"), "N gt 3 and B");
  EXPECT_EQ(residual("PartitionKey eq 'p' and (N gt 3 or not (M eq 'x'))"), "(N gt 3 or not (M eq 'x'))");
  EXPECT_EQ(residual("PartitionKey ge 'p' and RowKey eq 'r'"), "RowKey eq 'r'")
      << "rows bound within a partition alone";
  EXPECT_EQ(residual("PartitionKey eq 'p' and RowKey ne 'r'"), "RowKey ne 'r'");
  EXPECT_EQ(residual("(PartitionKey eq 'p' and RowKey eq 'a') or (PartitionKey eq 'p' and RowKey eq 'b')"), "");
  EXPECT_EQ(residual("PartitionKey eq 'p' or N eq 3"), "PartitionKey eq 'p' or N eq 3");
  EXPECT_EQ(residual("not (PartitionKey eq 'p')"), "not (PartitionKey eq 'p')");
  EXPECT_EQ(residual("true and PartitionKey eq 'p'"), "");
  EXPECT_EQ(residual("  "), "");
}

TEST_F(QueryPlans, ExplainRefusesWhatTheScanRefuses) {
  Scan scan;
  scan.filter = "N eq";
  EXPECT_EQ(said(table_->explain(scan)), kInvalidInput);
  scan = Scan();
  scan.continuation = "x";
  EXPECT_EQ(said(table_->explain(scan)), kInvalidInput);
  ASSERT_TRUE(bench_.store->drop_table(kAccount, "Orders").ok());
  EXPECT_EQ(said(table_->explain(Scan())), kTableNotFound);
}

TEST_F(QueryPlans, APageTellsItsBlocksFromTheDeviceAndFromTheCache) {
  ASSERT_NO_FATAL_FAILURE(fill(3, 100));
  ASSERT_TRUE(bench_.store->compact().ok());
  bench_.open();
  table_.emplace(*bench_.store->open_table(kAccount, "Orders"));
  Scan scan;
  scan.filter = "not (N ge 0)";  // a condition that ranges of values cannot decide
  const PageCost cold = cost(scan);
  EXPECT_EQ(cold.entities_examined, 300U);
  EXPECT_GT(cold.blocks_read, 2U);
  const PageCost warm = cost(scan);
  EXPECT_EQ(warm.blocks_read, 0U);
  EXPECT_EQ(warm.blocks_from_cache, cold.blocks_read + cold.blocks_from_cache);
  scan.backward = true;
  EXPECT_EQ(cost(scan).blocks_from_cache, warm.blocks_from_cache) << "as many backward";
  scan = Scan();
  scan.filter = "PartitionKey eq 'b' and RowKey eq '150'";
  const PageCost point = cost(scan);
  EXPECT_EQ(point.blocks_from_cache + point.blocks_read, 3U) << "filter, index and data";
}

TEST_F(QueryPlans, Q32_APointThatIsNotThereIsSkippedByTheFilter) {
  ASSERT_NO_FATAL_FAILURE(fill(1, 50));
  ASSERT_TRUE(bench_.store->compact().ok());
  Scan scan;
  scan.filter = "PartitionKey eq 'a' and (RowKey eq '1005' or RowKey eq '1006' or RowKey eq '1007')";
  const PageCost found = cost(scan);
  EXPECT_EQ(found.key_ranges, 3U);
  EXPECT_EQ(found.entities_examined, 0U);
  EXPECT_EQ(found.blocks_skipped, 3U);
}

}  // namespace
}  // namespace varve::query_plan_test
