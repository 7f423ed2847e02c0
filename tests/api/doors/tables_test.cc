#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::tables_test {
namespace {

using namespace test;

class Tables : public ::testing::Test {
 protected:
  void SetUp() override {
    bench_.open();
    ASSERT_TRUE(store().create_account(kAccount).ok());
  }

  Store& store() { return *bench_.store; }

  std::vector<std::string> table_names(ListOptions options = {}, std::string_view account = kAccount) {
    std::vector<std::string> names;
    for (;;) {
      const Result<TablePage> page = store().list_tables(account, options);
      EXPECT_TRUE(page.ok()) << page.status().to_string();
      if (!page.ok()) return names;
      EXPECT_LE(page->tables.size(), options.page_names_max);
      for (const TableInfo& table : page->tables) names.push_back(table.name);
      if (!page->continuation) return names;
      options.continuation = *page->continuation;
    }
  }

  std::vector<std::string> account_names(ListOptions options = {}) {
    std::vector<std::string> names;
    for (;;) {
      const Result<AccountPage> page = store().list_accounts(options);
      EXPECT_TRUE(page.ok()) << page.status().to_string();
      if (!page.ok()) return names;
      EXPECT_LE(page->accounts.size(), options.page_names_max);
      for (const AccountInfo& account : page->accounts) names.push_back(account.name);
      if (!page->continuation) return names;
      options.continuation = *page->continuation;
    }
  }

  using Names = std::vector<std::string>;
  StoreBench bench_;
};

TEST_F(Tables, B01_ATableIsMadeOnceWhateverTheCase) {
  EXPECT_EQ(said(store().create_table(kAccount, "Orders")), kFine);
  EXPECT_EQ(said(store().create_table(kAccount, "Orders")), kTableAlreadyExists);
  EXPECT_EQ(said(store().create_table(kAccount, "oRDERS")), kTableAlreadyExists);
  EXPECT_EQ(table_names(), Names{"Orders"});
}

TEST_F(Tables, D04_TwoNamesThatDifferInCaseAreOneTableAndTheSpellingOfItsCreationIsKept) {
  Table made = *store().create_table(kAccount, "OrDers");
  Table other = *store().open_table(kAccount, "orders");
  ASSERT_TRUE(made.insert(with_value("p", "r", "x")).ok());
  EXPECT_EQ(value_in(other, "p", "r"), "x");
  EXPECT_EQ(other.name(), "orders");
  EXPECT_EQ(other.account(), kAccount);
  EXPECT_EQ(table_names(), Names{"OrDers"});
  EXPECT_EQ(said(store().drop_table(kAccount, "ORDERS")), kFine);
  EXPECT_EQ(said(made.insert(with_value("p", "r", "x"))), kTableNotFound);
}

TEST_F(Tables, B02_NamesThatNoTableCanHave) {
  EXPECT_EQ(said(store().create_table(kAccount, "ab")), kOutOfRangeInput);
  EXPECT_EQ(said(store().create_table(kAccount, std::string(64, 'a'))), kOutOfRangeInput);
  EXPECT_EQ(said(store().create_table(kAccount, std::string(63, 'a'))), kFine);
  EXPECT_EQ(said(store().create_table(kAccount, "abc")), kFine);
  EXPECT_EQ(said(store().create_table(kAccount, "1abc")), kInvalidResourceName);
  EXPECT_EQ(said(store().create_table(kAccount, "Tables")), kInvalidInput);
  EXPECT_EQ(said(store().create_table(kAccount, "ab\xFF")), kInvalidInput);
}

TEST_F(Tables, B03_UnknownAndImpossibleNamesAreNotFoundByADrop) {
  EXPECT_EQ(said(store().drop_table(kAccount, "Orders")), kResourceNotFound);
  EXPECT_EQ(said(store().drop_table(kAccount, "a")), kResourceNotFound);
  EXPECT_EQ(said(store().drop_table(kAccount, "no-name")), kResourceNotFound);
  EXPECT_EQ(said(store().drop_table(kAccount, "\xFF\xFF\xFF")), kResourceNotFound);
  EXPECT_EQ(said(store().drop_table("nobody", "Orders")), kResourceNotFound);
  EXPECT_EQ(said(store().drop_table("No Account", "Orders")), kResourceNotFound);
}

TEST_F(Tables, X11_ASecondDropIsNotFound) {
  ASSERT_TRUE(store().create_table(kAccount, "Orders").ok());
  EXPECT_EQ(said(store().drop_table(kAccount, "Orders")), kFine);
  EXPECT_EQ(said(store().drop_table(kAccount, "Orders")), kResourceNotFound);
}

TEST_F(Tables, TheMissingAccountIsToldApartFromTheMissingTable) {
  EXPECT_EQ(said(store().open_table(kAccount, "Orders")), kTableNotFound);
  EXPECT_EQ(said(store().open_table(kAccount, "no-name")), kTableNotFound);
  EXPECT_EQ(said(store().open_table("nobody", "Orders")), kResourceNotFound);
  EXPECT_EQ(said(store().open_table("No Account", "Orders")), kResourceNotFound);
  EXPECT_EQ(said(store().create_table("nobody", "Orders")), kResourceNotFound);
  EXPECT_EQ(said(store().create_table("No Account", "Orders")), kResourceNotFound);
  EXPECT_EQ(said(store().list_tables("nobody")), kResourceNotFound);
  EXPECT_EQ(said(store().list_tables("No Account")), kResourceNotFound);
}

TEST_F(Tables, B04_EveryVerbOnADroppedTableSaysSo) {
  Table table = *store().create_table(kAccount, "Orders");
  const ETag etag = *table.insert(with_value("p", "r", "x"));
  ASSERT_TRUE(store().drop_table(kAccount, "Orders").ok());
  EXPECT_EQ(said(table.get("p", "r")), kTableNotFound);
  EXPECT_EQ(said(table.scan(Scan{})), kTableNotFound);
  EXPECT_EQ(said(table.insert(with_value("p", "r", "x"))), kTableNotFound);
  EXPECT_EQ(said(table.replace(with_value("p", "r", "x"), etag)), kTableNotFound);
  EXPECT_EQ(said(table.merge(with_value("p", "r", "x"), etag)), kTableNotFound);
  EXPECT_EQ(said(table.insert_or_replace(with_value("p", "r", "x"))), kTableNotFound);
  EXPECT_EQ(said(table.insert_or_merge(with_value("p", "r", "x"))), kTableNotFound);
  EXPECT_EQ(said(table.remove("p", "r", etag)), kTableNotFound);
  EXPECT_EQ(said(store().open_table(kAccount, "Orders")), kTableNotFound);
  EXPECT_EQ(table_names(), Names{});
}

TEST_F(Tables, B04_ATableMadeAgainIsEmptyAndAnOldHandleMeansTheNewOne) {
  Table table = *store().create_table(kAccount, "Orders");
  for (int round = 0; round < 5; ++round) {
    SCOPED_TRACE(round);
    EXPECT_EQ((*table.scan(Scan{})).entities.size(), 0u);
    EXPECT_EQ(value_in(table, "p", "r"), "-");
    ASSERT_TRUE(table.insert(with_value("p", "r", std::to_string(round))).ok());
    EXPECT_EQ(value_in(table, "p", "r"), std::to_string(round));
    ASSERT_TRUE(store().drop_table(kAccount, "orders").ok());
    if (round % 2 == 0) {
      EXPECT_EQ(said(table.get("p", "r")), kTableNotFound);
    }
    ASSERT_TRUE(store().create_table(kAccount, "ORDERS").ok());
  }
  bench_.open();
  EXPECT_EQ(value_in(*store().open_table(kAccount, "Orders"), "p", "r"), "-");
}

TEST_F(Tables, B04_NoIdIsGivenTwiceAcrossDropsAndReopens) {
  // If a table created after a reopen had the id of the old one, it would show the old entities. Recovery removes dead
  // ids, so writes would also be refused.
  Table table = *store().create_table(kAccount, "Orders");
  ASSERT_TRUE(table.insert(with_value("p", "r", "old")).ok());
  ASSERT_TRUE(store().drop_table(kAccount, "Orders").ok());
  bench_.open();
  Table again = *store().create_table(kAccount, "Orders");
  EXPECT_EQ(value_in(again, "p", "r"), "-");
  EXPECT_EQ(said(again.insert(with_value("p", "r", "new"))), kFine);
  EXPECT_EQ(value_in(again, "p", "r"), "new");
}

TEST_F(Tables, B06_AreListedInTheOrderOfTheirNamesInLowerCaseByPages) {
  const Names sorted = {"Alpha", "beta", "Beta2", "gamma", "Zulu"};
  for (const std::string_view name : {"Zulu", "beta", "gamma", "Alpha", "Beta2"}) {
    ASSERT_TRUE(store().create_table(kAccount, name).ok());
  }
  for (std::uint32_t page_size = 1; page_size <= 6; ++page_size) {
    SCOPED_TRACE(page_size);
    ListOptions options;
    options.page_names_max = page_size;
    EXPECT_EQ(table_names(options), sorted);
  }
  ListOptions five;
  five.page_names_max = 5;
  EXPECT_FALSE((*store().list_tables(kAccount, five)).continuation.has_value());
}

TEST_F(Tables, B06_APageGoesOnWhereATableWasDropped) {
  for (const std::string_view name : {"aaa", "bbb", "ccc", "ddd"}) {
    ASSERT_TRUE(store().create_table(kAccount, name).ok());
  }
  ListOptions options;
  options.page_names_max = 2;
  options.continuation = *(*store().list_tables(kAccount, options)).continuation;
  ASSERT_TRUE(store().drop_table(kAccount, "ccc").ok());
  EXPECT_EQ(table_names(options), Names{"ddd"});
}

TEST_F(Tables, B07_ListsByPrefixInAnyCase) {
  for (const std::string_view name : {"abc", "ABd", "abE1", "acc", "zab"}) {
    ASSERT_TRUE(store().create_table(kAccount, name).ok());
  }
  ListOptions options;
  options.prefix = "aB";
  EXPECT_EQ(table_names(options), (Names{"abc", "ABd", "abE1"}));
  options.page_names_max = 1;
  EXPECT_EQ(table_names(options), (Names{"abc", "ABd", "abE1"}));
  options.prefix = "none";
  EXPECT_EQ(table_names(options), Names{});
  options.prefix = "\xC3\xA9";
  EXPECT_EQ(table_names(options), Names{});
}

TEST_F(Tables, B06_BadListOptionsAreRefused) {
  ListOptions options;
  options.page_names_max = 0;
  EXPECT_EQ(said(store().list_tables(kAccount, options)), kInvalidInput);
  EXPECT_EQ(said(store().list_accounts(options)), kInvalidInput);
  options.page_names_max = 1001;
  EXPECT_EQ(said(store().list_tables(kAccount, options)), kInvalidInput);
  options.page_names_max = 1000;
  EXPECT_EQ(said(store().list_tables(kAccount, options)), kFine);
  options.continuation = "garbage";
  EXPECT_EQ(said(store().list_tables(kAccount, options)), kInvalidInput);
  EXPECT_EQ(said(store().list_accounts(options)), kInvalidInput);
  options.continuation.clear();
  options.prefix = "\xFF";
  EXPECT_EQ(said(store().list_tables(kAccount, options)), kInvalidInput);
}

TEST_F(Tables, ATableTellsWhenItWasMadeAlsoWhenItsAccountsRowIsWrittenAgain) {
  const DateTime account_made = (*store().list_accounts()).accounts[0].created;
  bench_.machine.clock.advance(std::chrono::seconds(1));
  ASSERT_TRUE(store().create_table(kAccount, "aaa").ok());
  bench_.machine.clock.advance(std::chrono::seconds(1));
  ASSERT_TRUE(store().create_table(kAccount, "bbb").ok());
  const std::vector<TableInfo> tables = (*store().list_tables(kAccount)).tables;
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_GT(tables[0].created, account_made);
  EXPECT_GT(tables[1].created, tables[0].created);
  EXPECT_EQ((*store().list_accounts()).accounts[0].created, account_made);
}

TEST_F(Tables, ThousandsOfNamesInUseAreLetGoAgain) {
  for (int i = 0; i < 5000; ++i) {
    EXPECT_EQ(said(store().open_table(kAccount, "Table" + std::to_string(i))), kTableNotFound);
  }
  Table table = *store().create_table(kAccount, "Orders");
  ASSERT_TRUE(table.insert(with_value("p", "r", "x")).ok());
  for (int i = 0; i < 9000; ++i) (void)store().open_table(kAccount, "More" + std::to_string(i)).ok();
  EXPECT_EQ(value_in(table, "p", "r"), "x");
  ASSERT_TRUE(store().drop_table(kAccount, "Orders").ok());
  EXPECT_EQ(said(table.get("p", "r")), kTableNotFound);
}

using Accounts = Tables;

TEST_F(Accounts, D03_AreMadeOnce) {
  EXPECT_EQ(said(store().create_account(kAccount)), kResourceAlreadyExists);
  EXPECT_EQ(said(store().create_account("second")), kFine);
  EXPECT_EQ(said(store().create_account("Second")), kInvalidResourceName);
  EXPECT_EQ(said(store().create_account("ab")), kInvalidResourceName);
  EXPECT_EQ(account_names(), (Names{std::string(kAccount), "second"}));
}

TEST_F(Accounts, HoldTablesOfTheSameNameApart) {
  ASSERT_TRUE(store().create_account("second").ok());
  Table mine = *store().create_table(kAccount, "Orders");
  Table theirs = *store().create_table("second", "Orders");
  ASSERT_TRUE(mine.insert(with_value("p", "r", "mine")).ok());
  ASSERT_TRUE(theirs.insert(with_value("p", "r", "theirs")).ok());
  EXPECT_EQ(value_in(mine, "p", "r"), "mine");
  EXPECT_EQ(value_in(theirs, "p", "r"), "theirs");
  ASSERT_TRUE(store().drop_table(kAccount, "Orders").ok());
  EXPECT_EQ(value_in(theirs, "p", "r"), "theirs");
}

TEST_F(Accounts, AreListedByPagesAndPrefix) {
  for (const std::string_view name : {"zzz", "aab", "aaa", "abc"}) ASSERT_TRUE(store().create_account(name).ok());
  ListOptions options;
  options.page_names_max = 2;
  EXPECT_EQ(account_names(options), (Names{"aaa", "aab", "abc", std::string(kAccount), "zzz"}));
  options.prefix = "aa";
  options.page_names_max = 1;
  EXPECT_EQ(account_names(options), (Names{"aaa", "aab"}));
}

TEST_F(Accounts, ADropTakesEveryTableInOneCommitAndLeavesOtherAccountsAlone) {
  ASSERT_TRUE(store().create_account("second").ok());
  ASSERT_TRUE(store().create_account("seconds").ok());
  Table bystander = *store().create_table("seconds", "Orders");
  ASSERT_TRUE(bystander.insert(with_value("p", "r", "stays")).ok());
  std::vector<Table> tables;
  for (int i = 0; i < 20; ++i) {
    tables.push_back(*store().create_table("second", "Table" + std::to_string(i)));
    ASSERT_TRUE(tables.back().insert(with_value("p", "r", "x")).ok());
  }
  const std::uint64_t before = (*store().statistics()).commits;
  ASSERT_EQ(said(store().drop_account("second")), kFine);
  EXPECT_EQ((*store().statistics()).commits, before + 1);
  for (Table& table : tables) {
    EXPECT_EQ(said(table.get("p", "r")), kTableNotFound);
    EXPECT_EQ(said(table.insert(with_value("p", "r", "x"))), kTableNotFound);
  }
  EXPECT_EQ(said(store().drop_account("second")), kResourceNotFound);
  EXPECT_EQ(said(store().list_tables("second")), kResourceNotFound);
  EXPECT_EQ(said(store().create_table("second", "Orders")), kResourceNotFound);
  EXPECT_EQ(value_in(bystander, "p", "r"), "stays");
  EXPECT_EQ(account_names(), (Names{std::string(kAccount), "seconds"}));
}

TEST_F(Accounts, MadeAgainTheyAreEmptyAndOldHandlesFollowTheName) {
  ASSERT_TRUE(store().create_account("second").ok());
  Table table = *store().create_table("second", "Orders");
  ASSERT_TRUE(table.insert(with_value("p", "r", "old")).ok());
  ASSERT_TRUE(store().drop_account("second").ok());
  ASSERT_TRUE(store().create_account("second").ok());
  EXPECT_EQ(table_names({}, "second"), Names{});
  EXPECT_EQ(said(table.get("p", "r")), kTableNotFound);
  ASSERT_TRUE(store().create_table("second", "Orders").ok());
  EXPECT_EQ(value_in(table, "p", "r"), "-");
  EXPECT_EQ(said(table.insert(with_value("p", "r", "new"))), kFine);
  bench_.open();
  EXPECT_EQ(value_in(*store().open_table("second", "Orders"), "p", "r"), "new");
}

TEST_F(Accounts, ImpossibleNamesAreNotFoundByADrop) {
  EXPECT_EQ(said(store().drop_account("Nobody At All")), kResourceNotFound);
  EXPECT_EQ(said(store().drop_account("")), kResourceNotFound);
  EXPECT_EQ(said(store().drop_account("nobody")), kResourceNotFound);
}

}  // namespace
}  // namespace varve::tables_test
