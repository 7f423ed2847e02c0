#include "api/catalog/name_cache.h"

#include <gtest/gtest.h>

#include "io/scheduler.h"

namespace varve::name_cache_test {
namespace {

class Names : public ::testing::Test {
 protected:
  std::shared_ptr<NameEntry> entry(std::string_view account, std::string_view name) {
    return cache_.find_or_add(account, name);
  }
  void enter(NameEntry& entry, format::TableId id) { cache_.enter(entry, cache_.begin_lookup(entry), id); }

  io::Scheduler scheduler_;
  NameCache cache_{scheduler_};
};

TEST_F(Names, OneNameHasOneEntry) {
  EXPECT_EQ(entry("abc", "orders"), entry("abc", "orders"));
  EXPECT_NE(entry("abc", "orders"), entry("abd", "orders"));
  EXPECT_NE(entry("abc", "orders"), entry("abc", "orders1"));
  EXPECT_NE(entry("abcd", "orders"), entry("abc", "dorders"));
}

TEST_F(Names, N1_AnIdIsLiveUntilADropBegins) {
  const auto orders = entry("abc", "orders");
  EXPECT_EQ(orders->live_id(), 0u);
  enter(*orders, 7);
  EXPECT_EQ(orders->live_id(), 7u);
  {
    const auto mark = cache_.mark_table_drop("abc", "orders");
    EXPECT_EQ(orders->live_id(), 0u);
  }
  EXPECT_EQ(orders->live_id(), 0u);
  enter(*orders, 9);
  EXPECT_EQ(orders->live_id(), 9u);
}

TEST_F(Names, N3_NothingIsEnteredThatWasLookedUpBeforeADropEnded) {
  const auto orders = entry("abc", "orders");
  const std::uint64_t before = cache_.begin_lookup(*orders);
  std::uint64_t during = 0;
  {
    const auto mark = cache_.mark_table_drop("abc", "orders");
    cache_.enter(*orders, before, 7);
    EXPECT_EQ(orders->live_id(), 0u);
    during = cache_.begin_lookup(*orders);
    cache_.enter(*orders, during, 7);
    EXPECT_EQ(orders->live_id(), 0u);
  }
  cache_.enter(*orders, before, 7);
  cache_.enter(*orders, during, 7);
  EXPECT_EQ(orders->live_id(), 0u);
  enter(*orders, 8);
  EXPECT_EQ(orders->live_id(), 8u);
}

TEST_F(Names, RulesAreKnownForViewsSinceTheirRowWasRead) {
  const auto orders = entry("abc", "orders");
  EXPECT_FALSE(cache_.rules_at(*orders, 7, 100));
  TableRules rules{nullptr, std::make_shared<const TableIndexes>(), 50};
  cache_.enter(*orders, cache_.begin_lookup(*orders), 7, rules);
  EXPECT_FALSE(cache_.rules_at(*orders, 7, 49)) << "another rule may have been in force";
  EXPECT_FALSE(cache_.rules_at(*orders, 8, 50));
  const std::optional<TableRules> known = cache_.rules_at(*orders, 7, 50);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->indexes, rules.indexes);
  const auto mark = cache_.mark_table_drop("abc", "orders");
  EXPECT_FALSE(cache_.rules_at(*orders, 7, 50));
}

TEST_F(Names, N3_TheDropOfAnAccountConcernsAllItsNamesAndNoOthers) {
  const auto mine = entry("abc", "orders");
  const auto longer_account = entry("abcd", "orders");
  const auto shorter_account = entry("ab1", "orders");
  for (const auto& each : {mine, longer_account, shorter_account}) enter(*each, 7);
  std::shared_ptr<NameEntry> made_meanwhile;
  std::uint64_t during = 0;
  {
    const auto mark = cache_.mark_account_drop("abc");
    EXPECT_EQ(mine->live_id(), 0u);
    EXPECT_EQ(longer_account->live_id(), 7u);
    EXPECT_EQ(shorter_account->live_id(), 7u);
    made_meanwhile = entry("abc", "later");
    during = cache_.begin_lookup(*made_meanwhile);
    cache_.enter(*made_meanwhile, during, 9);
    EXPECT_EQ(made_meanwhile->live_id(), 0u);
    enter(*mine, 8);
    EXPECT_EQ(mine->live_id(), 0u);
  }
  cache_.enter(*made_meanwhile, during, 9);
  EXPECT_EQ(made_meanwhile->live_id(), 0u);
  enter(*made_meanwhile, 9);
  EXPECT_EQ(made_meanwhile->live_id(), 9u);
  enter(*mine, 8);
  EXPECT_EQ(mine->live_id(), 8u);
}

TEST_F(Names, DropsOfATableAndItsAccountMayOverlap) {
  const auto orders = entry("abc", "orders");
  {
    const auto account = cache_.mark_account_drop("abc");
    const auto table = cache_.mark_table_drop("abc", "orders");
    const auto again = cache_.mark_account_drop("abc");
    enter(*orders, 7);
    EXPECT_EQ(orders->live_id(), 0u);
  }
  enter(*orders, 7);
  EXPECT_EQ(orders->live_id(), 7u);
}

TEST_F(Names, N2_EntriesInUseAreNeverLetGoAndOthersAre) {
  std::vector<std::shared_ptr<NameEntry>> held;
  for (int i = 0; i < 6000; ++i) held.push_back(entry("abc", "held" + std::to_string(i)));
  for (int i = 0; i < 30'000; ++i) (void)entry("aaaaaaaaaaaaaaaaaaaaaaaa", "unused" + std::to_string(i));
  EXPECT_LE(cache_.size(), 6000 + 2 * NameCache::kUnusedEntriesMax);
  for (int i = 0; i < 6000; ++i) EXPECT_EQ(entry("abc", "held" + std::to_string(i)), held[static_cast<std::size_t>(i)]);
  held.clear();
  for (int i = 0; i < 30'000; ++i) (void)entry("zzz", "unused" + std::to_string(i));
  EXPECT_LE(cache_.size(), NameCache::kUnusedEntriesMax + 1);
}

}  // namespace
}  // namespace varve::name_cache_test
