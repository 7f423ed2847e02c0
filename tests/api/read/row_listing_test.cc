// Goal: a listing by prefix and delimiter returns what a plain scan and a fold in the test return, page by page, also
// for restricted handles and at snapshots. A common prefix costs one block, however many entities have it.
// Method: random keys against a model; a store of one table file, read with an empty cache.
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/api/store_bench.h"
#include "varve/async.h"

namespace varve::row_listing_test {
namespace {

using namespace test;
using Rows = std::vector<std::string>;

class RowListings : public ::testing::Test {
 protected:
  void insert(const std::string& row, const std::string& partition = "p") {
    ASSERT_TRUE(table_.insert_or_replace(Entity(partition, row).set("V", std::string(100, 'v'))).ok()) << row;
  }
  /// Returns the rows of all pages: RowKeys, and common prefixes in brackets. Checks the order of each page.
  static Rows all_of(const Table& table, RowListing listing, int* pages = nullptr) {
    Rows rows;
    for (int count = 1;; ++count) {
      const Result<RowListingPage> page = table.list_rows(listing);
      EXPECT_TRUE(page.ok()) << page.status().to_string();
      if (!page.ok()) return rows;
      EXPECT_LE(page->entities.size() + page->common_prefixes.size(), listing.page_entities_max);
      for (const Entity& entity : page->entities) rows.push_back(entity.row_key());
      for (const std::string& prefix : page->common_prefixes) rows.push_back("[" + prefix + "]");
      if (pages != nullptr) *pages = count;
      if (!page->continuation) return rows;
      listing.continuation = *page->continuation;
    }
  }
  /// Returns what a scan of the whole partition and a fold of its RowKeys give.
  static std::set<std::string> model(const Table& table, const RowListing& listing) {
    std::set<std::string> rows;
    Scan scan;
    scan.range = ScanRange::partition(listing.partition_key);
    scan.read = listing.read;
    for (;;) {
      const Result<Page> page = table.scan(scan);
      EXPECT_TRUE(page.ok());
      if (!page.ok()) return rows;
      for (const Entity& entity : page->entities) {
        const std::string& row = entity.row_key();
        if (!row.starts_with(listing.prefix)) continue;
        const std::size_t at =
            listing.delimiter.empty() ? std::string::npos : row.find(listing.delimiter, listing.prefix.size());
        rows.insert(at == std::string::npos ? row : "[" + row.substr(0, at + listing.delimiter.size()) + "]");
      }
      if (!page->continuation) return rows;
      scan.continuation = *page->continuation;
    }
  }

  StoreBench bench_;
  Table table_ = bench_.table();
};

TEST_F(RowListings, FoldTheRowsThatHaveADelimiterAfterThePrefix) {
  for (const char* row : {"a", "docs!a.txt", "docs!b.txt", "docs!sub!c.txt", "docs", "docs2!x", "z"}) insert(row);
  insert("docs!elsewhere", "q");
  EXPECT_EQ(all_of(table_, {.partition_key = "p", .delimiter = "!"}), (Rows{"a", "docs", "z", "[docs!]", "[docs2!]"}));
  EXPECT_EQ(all_of(table_, {.partition_key = "p", .prefix = "docs!", .delimiter = "!"}),
            (Rows{"docs!a.txt", "docs!b.txt", "[docs!sub!]"}));
  EXPECT_EQ(all_of(table_, {.partition_key = "p", .prefix = "docs", .delimiter = "!"}),
            (Rows{"docs", "[docs!]", "[docs2!]"}));
  EXPECT_EQ(all_of(table_, {.partition_key = "p", .prefix = "docs!"}),
            (Rows{"docs!a.txt", "docs!b.txt", "docs!sub!c.txt"}));
  EXPECT_EQ(all_of(table_, {.partition_key = "none", .delimiter = "!"}), Rows());
}

TEST_F(RowListings, ReturnTheSelectedProperties) {
  ASSERT_TRUE(table_.insert(Entity("p", "a").set("A", 1).set("B", 2)).ok());
  const Result<RowListingPage> page = table_.list_rows({.partition_key = "p", .read = {.select = {"B"}}});
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->entities.size(), 1u);
  EXPECT_EQ(page->entities[0].properties().size(), 1u);
  EXPECT_EQ(page->entities[0].properties()[0].name, "B");
}

TEST_F(RowListings, AreThatOfTheModelForRandomKeys) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::vector<std::string> letters = {"a", "b", "!", "\xC3\xA9", "\xEF\xBF\xBF", "\xF0\x9F\x98\x80", "\x01"};
  const auto text = [&](int most) {
    std::string made;
    for (int i = static_cast<int>(random() % static_cast<unsigned>(most + 1)); i > 0; --i) {
      made += letters[random() % (letters.size() - 1)];  // no control character: a key may not contain it
    }
    return made;
  };
  for (int i = 0; i < 400; ++i) insert(text(6));
  const Result<Snapshot> before = bench_.store->snapshot();
  ASSERT_TRUE(before.ok());
  ASSERT_TRUE(bench_.store->compact().ok());
  for (int i = 0; i < 100; ++i) insert(text(6));
  Access access;
  access.interval = {KeyBound{"p", "a"}, KeyBound{"p", "b!"}};
  const Result<Table> fenced = table_.restricted_to(access);
  ASSERT_TRUE(fenced.ok());
  for (int round = 0; round < 60; ++round) {
    RowListing listing{.partition_key = "p", .prefix = text(2), .delimiter = random() % 4 == 0 ? text(2) : "!"};
    listing.page_entities_max = 1 + static_cast<std::uint32_t>(random() % 20);
    if (random() % 2 == 0) listing.read.snapshot = *before;
    const Table& table = random() % 3 == 0 ? *fenced : table_;
    const Rows rows = all_of(table, listing);
    const std::set<std::string> unique(rows.begin(), rows.end());
    EXPECT_EQ(unique.size(), rows.size()) << "a row is listed twice";
    EXPECT_EQ(unique, model(table, listing)) << "prefix " << listing.prefix << ", delimiter " << listing.delimiter;
  }
}

TEST_F(RowListings, ReadOneBlockForEachCommonPrefix) {
  constexpr int kPrefixes = 20;
  constexpr int kRowsOfEach = 400;  // several blocks
  std::mt19937 random(7);
  const auto incompressible = [&] {
    std::string bytes(500, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    return Binary{bytes};
  };
  for (int prefix = 10; prefix < 10 + kPrefixes; ++prefix) {
    EntityGroupTransaction transaction;
    for (int row = 1000; row < 1000 + kRowsOfEach; ++row) {
      transaction.insert(Entity("p", std::to_string(prefix) + "!" + std::to_string(row)).set("V", incompressible()));
      if (transaction.size() < 100) continue;
      ASSERT_TRUE(table_.execute(transaction).ok());
      transaction.clear();
    }
  }
  ASSERT_TRUE(bench_.store->compact().ok());
  StoreOptions options = bench_.options();
  ResourceOptions small;
  small.block_cache_bytes = 0;
  options.resources = *Resources::create(small);
  bench_.open(options);
  const Result<Table> table = bench_.store->open_table(kAccount, "Orders");
  ASSERT_TRUE(table.ok());
  const Result<RowListingPage> page = table->list_rows({.partition_key = "p", .delimiter = "!"});
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->common_prefixes.size(), std::size_t{kPrefixes});
  EXPECT_EQ(page->cost.entities_examined, std::uint64_t{kPrefixes});
  // One block of entities for each prefix. Several prefixes share a block of the index.
  EXPECT_LE(page->cost.blocks_read, std::uint64_t{kPrefixes} * 3 / 2);
  Scan all;
  all.range = ScanRange::partition("p");
  const Result<Count> count = table->count(all);
  ASSERT_TRUE(count.ok());
  EXPECT_GT(count->cost.blocks_read, std::uint64_t{kPrefixes} * 8)
      << "the rows do not fill enough blocks for this test";
}

TEST_F(RowListings, RefuseWhatTheyCannotList) {
  EXPECT_EQ(said(table_.list_rows({.partition_key = "\xFF"})), kInvalidInput);
  EXPECT_EQ(said(table_.list_rows({.prefix = "\xFF"})), kInvalidInput);
  EXPECT_EQ(said(table_.list_rows({.delimiter = "\xFF"})), kInvalidInput);
  EXPECT_EQ(said(table_.list_rows({.continuation = "no token"})), kInvalidInput);
  EXPECT_EQ(said(table_.list_rows({.page_entities_max = limits::kPageEntitiesMax + 1})), kInvalidInput);
  EXPECT_EQ(said(table_.list_rows({.page_time_max = std::chrono::milliseconds(-1)})), kInvalidInput);
  for (const char* row : {"a", "b"}) insert(row);
  Result<RowListingPage> page = table_.list_rows({.partition_key = "p", .page_entities_max = 1});
  ASSERT_TRUE(page.ok() && page->continuation);
  EXPECT_EQ(said(table_.list_rows({.partition_key = "q", .continuation = *page->continuation})), kInvalidInput);
  page = table_.list_rows({.partition_key = "p", .page_entities_max = 0});
  ASSERT_TRUE(page.ok());
  EXPECT_TRUE(page->entities.empty() && !page->continuation);
  Access writer;
  writer.permissions = Permissions{Permission::kAdd};
  const Result<Table> blind = table_.restricted_to(writer);
  ASSERT_TRUE(blind.ok());
  EXPECT_EQ(said(blind->list_rows({.partition_key = "p"})), kPermissionMismatch);
}

TEST_F(RowListings, RunAsTasks) {
  for (const char* row : {"a", "b!1", "b!2"}) insert(row);
  const Result<RowListingPage> page = wait(AsyncTable(table_).list_rows({.partition_key = "p", .delimiter = "!"}));
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->entities.size(), 1u);
  EXPECT_EQ(page->common_prefixes, (Rows{"b!"}));
}

}  // namespace
}  // namespace varve::row_listing_test
