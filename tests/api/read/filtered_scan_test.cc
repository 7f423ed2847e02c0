// Goal: a scan with a filter returns the matching entities in order, page by page, and reads no more than necessary.
// Method: the cost of pages at known places. random_query_test.cc tests random queries.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::filtered_scan_test {
namespace {

using namespace test;

using Keys = std::vector<std::string>;

class FilteredScans : public ::testing::Test {
 protected:
  void SetUp() override {
    table_.emplace(bench_.table());
    for (const std::string_view partition : {"a", "b", "c"}) {
      for (int row = 0; row < 20; ++row) {
        const std::string name = std::to_string(100 + row);
        ASSERT_TRUE(table_->insert(Entity(std::string(partition), name).set("N", row).set("Odd", row % 2 == 1)).ok());
      }
    }
  }

  Result<Page> page(std::string_view filter, const ScanRange& range = ScanRange::whole_table()) {
    Scan scan;
    scan.range = range;
    scan.filter = filter;
    return table_->scan(scan);
  }
  Keys keys(std::string_view filter, const ScanRange& range = ScanRange::whole_table()) {
    const Result<Page> found = page(filter, range);
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return found.ok() ? keys_of(*found) : Keys{"failed"};
  }
  PageCost cost(std::string_view filter) {
    const Result<Page> found = page(filter);
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return found.ok() ? found->cost : PageCost();
  }

  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(FilteredScans, ReturnWhatMatchesInTheOrderOfKeys) {
  EXPECT_EQ(keys("N eq 7"), (Keys{"a/107", "b/107", "c/107"}));
  EXPECT_EQ(keys("PartitionKey gt 'a' and Odd and N lt 4"), (Keys{"b/101", "b/103", "c/101", "c/103"}));
  EXPECT_EQ(keys("PartitionKey eq 'c' and RowKey eq '119' or PartitionKey eq 'a' and RowKey eq '100'"),
            (Keys{"a/100", "c/119"}));
  EXPECT_EQ(keys("Missing ne 3"), Keys{});
}

TEST_F(FilteredScans, Q33_ContradictoryBoundsGiveAnEmptyPageWithoutAToken) {
  const Result<Page> found = page("PartitionKey eq 'a' and PartitionKey eq 'b'");
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->entities.empty());
  EXPECT_FALSE(found->continuation.has_value());
  EXPECT_EQ(found->cost.entities_examined, 0U);
}

TEST_F(FilteredScans, Q31_CostNoMoreThanTheirAccessPath) {
  EXPECT_EQ(cost("PartitionKey eq 'b' and RowKey eq '105'").entities_examined, 1U);
  EXPECT_EQ(cost("PartitionKey eq 'b' and RowKey ge '105' and RowKey lt '108' and N ne 6").entities_examined, 3U);
  EXPECT_EQ(cost("PartitionKey eq 'b' and N eq 3").entities_examined, 20U);
  EXPECT_EQ(cost("N eq 3").entities_examined, 60U);
  EXPECT_EQ(cost("").entities_examined, 60U);
}

TEST_F(FilteredScans, Q32_ADisjunctionOfKeysCostsAsManyLookups) {
  std::string rows = "RowKey eq '100'";
  for (int row = 1; row < 50; ++row) rows += " or RowKey eq '" + std::to_string(100 + row) + "'";
  const PageCost found = cost("PartitionKey eq 'b' and (" + rows + ")");
  EXPECT_EQ(found.key_ranges, 50U);
  EXPECT_EQ(found.entities_examined, 20U) << "those that are there";
}

TEST_F(FilteredScans, NarrowTheRangeOfTheScan) {
  EXPECT_EQ(keys("N ge 18", ScanRange::partition("b")), (Keys{"b/118", "b/119"}));
  EXPECT_EQ(keys("PartitionKey eq 'a'", ScanRange::partition("b")), Keys{});
  EXPECT_EQ(keys("RowKey lt '112' and Odd", ScanRange::rows("c", "109")), (Keys{"c/109", "c/111"}));
}

TEST_F(FilteredScans, SelectNeedNotNameWhatTheFilterNames) {
  Scan scan;
  scan.filter = "N eq 7 and PartitionKey eq 'a'";
  scan.read.select = {"Odd"};
  const Result<Page> found = table_->scan(scan);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->entities.size(), 1U);
  EXPECT_EQ(found->entities[0].properties().size(), 1U);
  EXPECT_TRUE(*found->entities[0].get<bool>("Odd"));
}

TEST_F(FilteredScans, BadFiltersAreRefusedAndNameTheCharacter) {
  const Result<Page> refused = page("N eq 7 and");
  EXPECT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_EQ(refused.status().service_error(), "InvalidInput");
  EXPECT_NE(refused.status().message().find("character 11"), std::string::npos) << refused.status().message();
  EXPECT_EQ(page("tolower(N) eq 'x'").status().service_error(), "NotImplemented");
  EXPECT_NE(page("startswith(N, 7)").status().message().find("character 15"), std::string::npos);
}

TEST_F(FilteredScans, AListOfKeysCostsAsManyLookupsAndAPrefixOneRange) {
  const PageCost points = cost("PartitionKey in ('b','c','q') and RowKey in ('105','106')");
  EXPECT_EQ(points.key_ranges, 6U);
  EXPECT_EQ(points.entities_examined, 4U);
  EXPECT_EQ(cost("PartitionKey eq 'b' and startswith(RowKey,'11')").entities_examined, 10U);
  EXPECT_EQ(keys("startswith(PartitionKey,'b') and endswith(RowKey,'7') and N in (7,8)"), Keys{"b/107"});
  EXPECT_EQ(keys("N lt N or PartitionKey gt RowKey and N ge 19"), (Keys{"a/119", "b/119", "c/119"}));
}

TEST_F(FilteredScans, WithoutExtensionsAcceptOnlyTheGrammarOfTheService) {
  Scan scan;
  // Long enough that its plan is kept.
  for (int i = 0; i < 10; ++i) scan.filter += "startswith(RowKey, '10') and not contains(RowKey, '7') and ";
  scan.filter += "N in (6, 7)";
  for (const bool are_allowed : {false, true, false, true}) {
    scan.filter_extensions = are_allowed;
    const Result<Page> found = table_->scan(scan);
    ASSERT_EQ(found.ok(), are_allowed);
    if (are_allowed) {
      EXPECT_EQ(keys_of(*found), (Keys{"a/106", "b/106", "c/106"}));
    } else {
      EXPECT_EQ(found.status().service_error(), "NotImplemented");
    }
    EXPECT_EQ(table_->count(scan).ok(), are_allowed);
    EXPECT_EQ(table_->explain(scan).ok(), are_allowed);
  }
}

TEST_F(FilteredScans, PagesEndByTimeThoughNothingMatches) {
  Scan scan;
  scan.filter = "N lt 0";
  scan.page_time_max = std::chrono::milliseconds(0);
  std::size_t pages = 0;
  for (;;) {
    const Result<Page> found = table_->scan(scan);
    ASSERT_TRUE(found.ok());
    EXPECT_TRUE(found->entities.empty());
    EXPECT_GT(found->cost.entities_examined, 0U) << "every page gets on";
    ++pages;
    if (!found->continuation) break;
    scan.continuation = *found->continuation;
  }
  EXPECT_GT(pages, 10U);
}

}  // namespace
}  // namespace varve::filtered_scan_test
