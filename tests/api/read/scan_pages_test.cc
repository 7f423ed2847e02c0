// Goal: pages end by count, time and bytes. A limit over all of them holds, counting gives the result of reading, and a
// client that handles short and empty pages gets everything.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::scan_pages_test {
namespace {

using namespace test;
using Keys = std::vector<std::string>;

class ScanPages : public ::testing::Test {
 protected:
  void SetUp() override {
    table_.emplace(bench_.table());
    for (const std::string_view partition : {"a", "b"}) {
      for (int row = 10; row < 16; ++row) insert(partition, std::to_string(row), row);
    }
  }
  void insert(std::string_view partition, std::string_view row, int number) {
    Entity entity{std::string(partition), std::string(row)};
    entity.set("N", number).set("Text", std::string(100, 'x'));
    ASSERT_TRUE(table_->insert(entity).ok());
  }
  void open_with_short_pages() {
    table_.reset();
    StoreOptions options = bench_.options();
    options.short_pages = true;
    bench_.open(options);
    table_.emplace(*bench_.store->open_table(kAccount, "Orders"));
  }
  std::vector<Keys> pages(Scan scan) {
    std::vector<Keys> all;
    for (;;) {
      const Result<Page> page = table_->scan(scan);
      EXPECT_TRUE(page.ok()) << page.status().to_string();
      if (!page.ok()) return all;
      all.push_back(keys_of(*page));
      if (!page->continuation) return all;
      scan.continuation = *page->continuation;
    }
  }
  static Keys joined(const std::vector<Keys>& pages) {
    Keys all;
    for (const Keys& page : pages) all.insert(all.end(), page.begin(), page.end());
    return all;
  }
  /// Returns the number of counted entities, and the number of parts.
  std::pair<std::uint64_t, int> counted(Scan scan) {
    std::uint64_t entities = 0;
    for (int parts = 1;; ++parts) {
      const Result<Count> count = table_->count(scan);
      EXPECT_TRUE(count.ok()) << count.status().to_string();
      if (!count.ok()) return {entities, parts};
      entities += count->entities;
      if (!count->continuation) return {entities, parts};
      scan.continuation = *count->continuation;
    }
  }

  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(ScanPages, Q41_APageEndsByItsBytesButHoldsAtLeastOneEntity) {
  Scan scan;
  scan.page_bytes_max = 1;
  EXPECT_EQ(pages(scan).size(), 12U);
  scan.page_bytes_max = 400;  // an entity has between 100 and 200 bytes here
  const std::vector<Keys> found = pages(scan);
  EXPECT_GT(found.size(), 3U);
  EXPECT_LT(found.size(), 12U);
  EXPECT_EQ(joined(found).size(), 12U);
  scan.page_bytes_max = 0;
  EXPECT_EQ(joined(pages(scan)).size(), 12U);
}

TEST_F(ScanPages, Q42_WhileMoreMayFollowThereIsATokenAndAtTheEndNone) {
  Scan scan;
  scan.page_entities_max = 11;
  const Result<Page> first = table_->scan(scan);
  ASSERT_TRUE(first.ok() && first->continuation);
  EXPECT_EQ(*first->continuation, "1!4!Yg-- 1!4!MTU-") << "PartitionKey and RowKey, both";
  scan.continuation = *first->continuation;
  EXPECT_FALSE((*table_->scan(scan)).continuation.has_value());
}

TEST_F(ScanPages, Q45_AFullPageThatIsTheLastHasNoToken) {
  Scan scan;
  scan.page_entities_max = 12;
  EXPECT_FALSE((*table_->scan(scan)).continuation.has_value());
  scan.backward = true;
  EXPECT_FALSE((*table_->scan(scan)).continuation.has_value());
}

TEST_F(ScanPages, Q48_TakeBoundsAllPagesTogether) {
  Scan scan;
  scan.page_entities_max = 3;
  scan.take = 7;
  EXPECT_EQ(pages(scan), (std::vector<Keys>{{"a/10", "a/11", "a/12"}, {"a/13", "a/14", "a/15"}, {"b/10"}}));
  scan.take = 6;
  EXPECT_EQ(pages(scan).size(), 2U) << "the page with the last one has no token";
  scan.take = 100;
  EXPECT_EQ(joined(pages(scan)).size(), 12U);
  scan.take = 0;
  EXPECT_EQ(pages(scan), std::vector<Keys>{Keys{}});
}

TEST_F(ScanPages, Q43_ATokenOfAScanWithALimitGoesWithALimitAlone) {
  Scan scan;
  scan.page_entities_max = 1;
  const std::string without = *(*table_->scan(scan)).continuation;
  scan.take = 5;
  const std::string with = *(*table_->scan(scan)).continuation;
  scan.continuation = without;
  EXPECT_EQ(said(table_->scan(scan)), kInvalidInput);
  scan.take.reset();
  scan.continuation = with;
  EXPECT_EQ(said(table_->scan(scan)), kInvalidInput);
  scan.take = 2;
  scan.page_entities_max = 1000;
  EXPECT_EQ(pages(scan), (std::vector<Keys>{{"a/11", "a/12"}})) << "a forged remainder widens nothing";
}

TEST_F(ScanPages, CountGivesAsManyAsReadingGives) {
  Scan scan;
  EXPECT_EQ(counted(scan), std::pair(std::uint64_t{12}, 1));
  scan.filter = "N gt 13";
  EXPECT_EQ(counted(scan), std::pair(std::uint64_t{4}, 1));
  scan.take = 3;
  EXPECT_EQ(counted(scan), std::pair(std::uint64_t{3}, 1));
  scan.take.reset();
  scan.page_entities_max = 1;
  EXPECT_EQ(counted(scan).second, 1) << "pages are of time alone";
  scan.page_time_max = std::chrono::milliseconds(0);
  const auto [entities, parts] = counted(scan);
  EXPECT_EQ(entities, 4U);
  EXPECT_GT(parts, 2);
  scan.filter = "N eq";
  EXPECT_EQ(said(table_->count(scan)), kInvalidInput);
}

TEST_F(ScanPages, Q41_ShortAndEmptyPagesTogetherAreTheWhole) {
  Keys expected = joined(pages(Scan()));
  open_with_short_pages();
  Scan scan;
  std::vector<Keys> found = pages(scan);
  EXPECT_EQ(joined(found), expected);
  EXPECT_GE(std::count(found.begin(), found.end(), Keys{}), 2) << "some are empty";
  for (const Keys& page : found) EXPECT_LE(page.size(), 2U);
  scan.backward = true;
  std::reverse(expected.begin(), expected.end());
  found = pages(scan);
  EXPECT_EQ(joined(found), expected);
  EXPECT_GE(std::count(found.begin(), found.end(), Keys{}), 1);
  scan.filter = "N eq 15";
  EXPECT_EQ(joined(pages(scan)), (Keys{"b/15", "a/15"}));
  EXPECT_EQ(counted(scan).first, 2U);
  scan.filter = "PartitionKey eq 'a' and (RowKey eq '11' or RowKey eq '14' or RowKey eq '99')";
  EXPECT_EQ(joined(pages(scan)), (Keys{"a/14", "a/11"}));
}

TEST_F(ScanPages, Q51_KeysAndTimestampComeWithEveryProjectionAndTheETagToo) {
  Scan scan;
  scan.read.select = {"N"};
  scan.page_entities_max = 1;
  const Result<Page> page = table_->scan(scan);
  ASSERT_TRUE(page.ok());
  const Entity& entity = page->entities.front();
  EXPECT_EQ(entity.properties().size(), 1U);
  EXPECT_EQ(entity.partition_key() + "/" + entity.row_key(), "a/10");
  EXPECT_FALSE(entity.etag().is_none());
  EXPECT_GT(entity.timestamp().ticks, 0U);
}

TEST_F(ScanPages, Q52_AnEntityThatLacksAllSelectedPropertiesIsReturnedWithoutThem) {
  Scan scan;
  scan.read.select = {"Missing"};
  scan.filter = "N eq 10";  // a property that is not selected
  const Result<Page> page = table_->scan(scan);
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->entities.size(), 2U);
  EXPECT_TRUE(page->entities[0].properties().empty());
  EXPECT_EQ(page->entities[0].find("Missing"), nullptr);
}

TEST_F(ScanPages, Q24_WideningWorksOnlyTowardTheTypeOfTheProperty) {
  Entity entity("c", "r");
  entity.set("I", std::int32_t{3}).set("L", std::int64_t{3}).set("D", 3.0);
  ASSERT_TRUE(table_->insert(entity).ok());
  const auto matches = [&](const std::string& filter) {
    Scan scan;
    scan.range = ScanRange::partition("c");
    scan.filter = filter;
    return (*table_->scan(scan)).entities.size() == 1;
  };
  for (const char* filter : {"I eq 3", "L eq 3", "L eq 3L", "D eq 3", "D eq 3L", "D eq 3.0"})
    EXPECT_TRUE(matches(filter)) << filter;
  for (const char* filter : {"I eq 3L", "I eq 3.0", "L eq 3.0", "I ge 3L", "L gt 2.0"})
    EXPECT_FALSE(matches(filter)) << filter;
  for (const char* filter : {"I lt 3L", "I ne 3.0", "L le 3.0"}) EXPECT_TRUE(matches(filter)) << filter;
}

}  // namespace
}  // namespace varve::scan_pages_test
