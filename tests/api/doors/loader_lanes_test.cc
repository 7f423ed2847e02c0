// Goal: a load that several threads fill has what one thread would have loaded: every entity once, and all or nothing.
// Method: lanes with ranges of their own, with overlapping keys, with keys out of order, under seeded schedules; a key
// in two lanes; lanes that outlive their load.
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/seeded_threads.h"
#include "tests/api/store_bench.h"
#include "tests/support/effort.h"
#include "varve/loader.h"

namespace varve::loader_lanes_test {
namespace {

using namespace test;

constexpr Said kClosed = {Code::kClosed, ""};

std::string number(std::uint64_t i) {
  return std::to_string(100'000 + i);
}

class LoaderLanes : public ::testing::Test {
 protected:
  LoaderLanes() {
    bench_.open();
    EXPECT_TRUE(bench_.store->create_account(kAccount).ok());
  }
  Loader begin() {
    Result<Loader> loader = bench_.store->load_table(kAccount, "Loaded");
    EXPECT_TRUE(loader.ok()) << loader.status().to_string();
    return *std::move(loader);
  }
  /// Returns the row keys of the table, in the order of a scan.
  static std::vector<std::string> rows(Store& store) {
    std::vector<std::string> found;
    const Result<Table> table = store.open_table(kAccount, "Loaded");
    EXPECT_TRUE(table.ok()) << table.status().to_string();
    if (!table.ok()) return found;
    for (Scan scan;;) {
      const Result<Page> page = table->scan(scan);
      EXPECT_TRUE(page.ok()) << page.status().to_string();
      if (!page.ok()) return found;
      for (const Entity& entity : page->entities) found.emplace_back(entity.row_key());
      if (!page->continuation) return found;
      scan.continuation = *page->continuation;
    }
  }

  StoreBench bench_;
};

std::uint64_t table_files(const Store& store) {
  std::uint64_t files = 0;
  const Result<Statistics> figures = store.statistics();
  EXPECT_TRUE(figures.ok());
  if (!figures.ok()) return 0;
  for (const auto& level : figures->levels) files += level.files;
  return files;
}

/// Adds rows to a load from three threads, and compares the table with them.
void load_together(StoreBench& bench, const std::function<std::uint64_t(std::uint64_t thread, std::uint64_t i)>& row) {
  constexpr std::uint64_t kThreads = 3;
  constexpr std::uint64_t kRows = 40;
  Store& store = bench.open();
  ASSERT_TRUE(store.create_account(kAccount).ok());
  Result<Loader> loader = store.load_table(kAccount, "Loaded");
  ASSERT_TRUE(loader.ok()) << loader.status().to_string();
  std::vector<std::function<void()>> bodies;
  std::set<std::string> expected;
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    for (std::uint64_t i = 0; i < kRows; ++i) expected.insert(number(row(thread, i)));
    bodies.emplace_back([&, thread] {
      std::optional<LoaderLane> lane;
      if (thread > 0) {  // One thread uses the loader itself.
        Result<LoaderLane> made = loader->lane();
        ASSERT_TRUE(made.ok()) << made.status().to_string();
        lane.emplace(*std::move(made));
      }
      for (std::uint64_t i = 0; i < kRows; ++i) {
        const Entity entity = with_value("p", number(row(thread, i)), "x");
        const Status added = lane ? lane->add(entity) : loader->add(entity);
        ASSERT_TRUE(added.ok()) << added.to_string();
      }
    });
  }
  run_together(bench, bodies);
  EXPECT_EQ(loader->progress().entities, kThreads * kRows);
  ASSERT_EQ(said(loader->finish()), kFine);
  const Result<Table> table = store.open_table(kAccount, "Loaded");
  ASSERT_TRUE(table.ok());
  const Result<Page> page = table->scan(Scan{});
  ASSERT_TRUE(page.ok());
  std::vector<std::string> found;
  for (const Entity& entity : page->entities) found.emplace_back(entity.row_key());
  EXPECT_EQ(found, std::vector<std::string>(expected.begin(), expected.end()));
}

TEST(LoaderLaneSchedules, WithRangesOfTheirOwnNeedNoSorting) {
  for_each_seed(test::effort<std::uint64_t>(20), [](StoreBench& bench) {
    load_together(bench, [](std::uint64_t thread, std::uint64_t i) { return 1000 * thread + i; });
    EXPECT_EQ(table_files(*bench.store), 3u) << "each lane's file is the table's";
  });
}

TEST(LoaderLaneSchedules, WithKeysBetweenEachOthersAreMerged) {
  for_each_seed(test::effort<std::uint64_t>(20), [](StoreBench& bench) {
    load_together(bench, [](std::uint64_t thread, std::uint64_t i) { return 3 * i + thread; });
    EXPECT_EQ(table_files(*bench.store), 1u);
  });
}

TEST(LoaderLaneSchedules, WithKeysInAnyOrderAreSorted) {
  for_each_seed(test::effort<std::uint64_t>(20), [](StoreBench& bench) {
    load_together(bench, [](std::uint64_t thread, std::uint64_t i) { return (7 * i) % 40 * 3 + thread; });
  });
}

TEST_F(LoaderLanes, AKeyInTwoLanesEndsTheLoad) {
  Loader loader = begin();
  Result<LoaderLane> one = loader.lane();
  Result<LoaderLane> other = loader.lane();
  ASSERT_TRUE(one.ok() && other.ok());
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(one->add(with_value("p", number(2 * static_cast<std::uint64_t>(i)), "x")).ok());
    ASSERT_TRUE(other->add(with_value("p", number(i == 5 ? 4 : 2 * static_cast<std::uint64_t>(i) + 1), "x")).ok());
  }
  EXPECT_EQ(said(loader.finish()), kEntityAlreadyExists);
  EXPECT_EQ(bench_.store->open_table(kAccount, "Loaded").status().code(), Code::kNotFound);
}

TEST_F(LoaderLanes, AnErrorInOneEndsAll) {
  Loader loader = begin();
  Result<LoaderLane> one = loader.lane();
  Result<LoaderLane> other = loader.lane();
  ASSERT_TRUE(one.ok() && other.ok());
  ASSERT_TRUE(other->add(with_value("q", "1", "x")).ok());
  ASSERT_TRUE(one->add(with_value("p", "1", "x")).ok());
  Status twice = one->add(with_value("p", "1", "x"));
  if (twice.ok()) twice = loader.finish().status();  // It may be found only then.
  EXPECT_EQ(said(twice), kEntityAlreadyExists);
  EXPECT_FALSE(other->add(with_value("q", "2", "x")).ok());
  EXPECT_FALSE(loader.finish().ok());
  EXPECT_FALSE(loader.lane().ok());
}

TEST_F(LoaderLanes, ARefusedEntityEndsNothing) {
  Loader loader = begin();
  Result<LoaderLane> lane = loader.lane();
  ASSERT_TRUE(lane.ok());
  EXPECT_EQ(lane->add(with_value("a/b", "1", "x")).code(), Code::kInvalidArgument);
  ASSERT_TRUE(lane->add(with_value("a", "1", "x")).ok());
  ASSERT_EQ(said(loader.finish()), kFine);
  EXPECT_EQ(rows(*bench_.store), std::vector<std::string>{"1"});
}

TEST_F(LoaderLanes, OutliveTheirLoadAndAnswerClosed) {
  std::optional<Loader> loader(begin());
  Result<LoaderLane> lane = loader->lane();
  ASSERT_TRUE(lane.ok());
  ASSERT_TRUE(lane->add(with_value("a", "1", "x")).ok());
  loader->abort();
  EXPECT_EQ(said(lane->add(with_value("a", "2", "x"))), kClosed);
  loader.reset();
  EXPECT_EQ(said(lane->add(with_value("a", "3", "x"))), kClosed);
  bench_.store.reset();
  EXPECT_EQ(said(lane->add(with_value("a", "4", "x"))), kClosed);
}

}  // namespace
}  // namespace varve::loader_lanes_test
