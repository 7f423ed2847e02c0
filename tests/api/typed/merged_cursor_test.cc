// Goal: several concurrent queries give one order, all of their results, and their errors.
// Method: partitions spread at random, merged and compared with a sort; tasks run by threads; a query that fails in the
// middle.
#include "varve/merged_cursor.h"

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/api/store_bench.h"
#include "varve/parts.h"

namespace varve::merged_cursor_test {
namespace {

using namespace test;

void on_threads(std::span<const std::function<void()>> tasks) {
  std::vector<std::thread> threads;
  threads.reserve(tasks.size());
  for (const std::function<void()>& task : tasks) threads.emplace_back(task);
  for (std::thread& thread : threads) thread.join();
}

class MergedCursors : public ::testing::Test {
 protected:
  static constexpr int kEntities = 600;

  void SetUp() override {
    EntityGroupTransaction list;
    for (int i = 0; i < kEntities; ++i) {
      list.insert(with_value(partition(random_() % 8), std::to_string(10'000 + i), "v"));
    }
    ASSERT_TRUE(execute_in_parts(table_, list.operations()).status.ok());
  }

  static std::string partition(std::uint64_t number) { return "p" + std::to_string(number); }

  static std::vector<Query<>> of_each_partition(std::uint32_t page_size) {
    std::vector<Query<>> queries;
    for (std::uint64_t i = 8; i > 0; --i) {
      queries.push_back(Query<>().where(field("PartitionKey") == partition(i - 1)).page_entities(page_size));
    }
    return queries;
  }

  std::vector<Entity> merged(std::uint32_t page_size, const MergedPages::Options& options) {
    const std::vector<Query<>> queries = of_each_partition(page_size);
    Result<std::vector<Entity>> all = open_merged_cursor<Entity>(table_, queries, options).all();
    EXPECT_TRUE(all.ok()) << all.status().to_string();
    return all.ok() ? *std::move(all) : std::vector<Entity>();
  }

  static constexpr std::uint64_t kSeed = 23;
  std::mt19937_64 random_{kSeed};
  StoreBench bench_;
  Table table_ = bench_.table();
};

TEST_F(MergedCursors, C08_PartitionsReadSideBySideComeInTheOrderOfKeys) {
  const Result<std::vector<Entity>> scanned = Query<>().run(table_).all();
  ASSERT_TRUE(scanned.ok());
  for (const std::uint32_t page_size : {1U, 13U, 1000U}) {
    for (const std::size_t ahead : {0U, 1U, 5U}) {
      EXPECT_EQ(merged(page_size, {.run_all = {}, .pages_ahead = ahead}), *scanned);
      EXPECT_EQ(merged(page_size, {.run_all = on_threads, .pages_ahead = ahead}), *scanned);
    }
  }
}

/// Returns the figures of a cost as text.
std::string text_of(const PageCost& cost) {
  return std::to_string(cost.key_ranges) + " ranges, " + std::to_string(cost.entities_examined) + " entities, " +
         std::to_string(cost.blocks_read + cost.blocks_from_cache) + " blocks, " + std::to_string(cost.blocks_skipped) +
         " skipped";
}

TEST_F(MergedCursors, CostAllThatTheirPagesCost) {
  ASSERT_EQ(said(bench_.store->compact()), kFine);  // so that pages read blocks
  std::vector<PageCursor> sources;
  PageCost pages;
  for (const Query<>& query : of_each_partition(13)) {
    PageCursor cursor(table_, *query.scan());
    PageCost of_cursor;
    for (Result<std::optional<Page>> page = cursor.next(); *page; page = cursor.next()) {
      if (of_cursor.key_ranges > 0) (*page)->cost.key_ranges = 0;
      of_cursor += (*page)->cost;
    }
    EXPECT_EQ(text_of(cursor.cost()), text_of(of_cursor));
    EXPECT_GT(of_cursor.blocks_from_cache + of_cursor.blocks_read, 0U);
    pages += of_cursor;
    sources.emplace_back(table_, *query.scan());
  }
  MergedPages merged(std::move(sources), {});
  while (*merged.next()) {
  }
  EXPECT_EQ(text_of(merged.cost()), text_of(pages));
}

TEST_F(MergedCursors, C08_WhatWasSpreadOverPartitionsComesInTheOrderOfRowKeys) {
  const std::vector<Entity> found = merged(17, {.order = MergeOrder::kRowKey, .run_all = on_threads});
  ASSERT_EQ(found.size(), static_cast<std::size_t>(kEntities));
  for (int i = 0; i < kEntities; ++i) {
    EXPECT_EQ(found[static_cast<std::size_t>(i)].row_key(), std::to_string(10'000 + i));
  }
}

TEST_F(MergedCursors, C08_TakeCountsAllQueriesTogetherAndLittleIsReadAhead) {
  const std::vector<Query<>> queries = of_each_partition(4);
  Cursor<Entity, MergedPages> cursor =
      open_merged_cursor<Entity>(table_, queries, {.order = MergeOrder::kRowKey, .pages_ahead = 1, .take = 5});
  const Result<std::vector<Entity>> found = cursor.all();
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->size(), 5U);
  EXPECT_EQ(found->back().row_key(), "10004");
  EXPECT_LE(cursor.cost().entities_examined, 8U * 8U) << "at most two pages of each";
}

TEST_F(MergedCursors, C08_TheOrderIsThatOfCodeUnits) {
  Table other = bench_.table("Other");
  for (const std::string_view row : {"a", "\xEF\xBF\xBD", "\xF0\x9F\x98\x80", "aa", ""}) {
    ASSERT_TRUE(other.insert(with_value(row.size() % 2 == 0 ? "x" : "y", row, "v")).ok());
    ASSERT_TRUE(other.insert(with_value("z" + std::string(row), "r", "v")).ok());
  }
  std::vector<Query<>> queries;
  for (const std::string_view key : {"x", "y"}) queries.push_back(Query<>().where(field("PartitionKey") == key));
  std::vector<std::string> rows;
  for (const auto& entity : open_merged_cursor<Entity>(other, queries, {.order = MergeOrder::kRowKey})) {
    ASSERT_TRUE(entity.ok());
    rows.push_back(entity->row_key());
  }
  EXPECT_EQ(rows, (std::vector<std::string>{"", "a", "aa", "\xF0\x9F\x98\x80", "\xEF\xBF\xBD"}));
}

TEST_F(MergedCursors, C08_AnErrorOfOneQueryIsTheLastElement) {
  std::vector<Query<>> queries = of_each_partition(10);
  queries[3].where(field("no name") == 1);
  std::vector<bool> seen;
  for (const auto& entity : open_merged_cursor<Entity>(table_, queries, {.run_all = on_threads}))
    seen.push_back(entity.ok());
  EXPECT_EQ(seen, std::vector<bool>{false});

  const std::vector<Query<>> good = of_each_partition(10);
  Cursor<Entity, MergedPages> cursor =
      open_merged_cursor<Entity>(table_, good, {.run_all = on_threads, .pages_ahead = 1});
  std::size_t count = 0;
  Code last = Code::kOk;
  for (const auto& entity : cursor) {
    last = entity.code();
    if (++count == 5) (void)bench_.store->close();
  }
  EXPECT_EQ(last, Code::kClosed);
  EXPECT_GE(count, 11U) << "what was merged before comes first";
  EXPECT_LT(count, static_cast<std::size_t>(kEntities));
}

TEST_F(MergedCursors, C08_NoQueriesAreNoResults) {
  EXPECT_TRUE((*open_merged_cursor<Entity>(table_, std::vector<Query<>>()).all()).empty());
}

}  // namespace
}  // namespace varve::merged_cursor_test
