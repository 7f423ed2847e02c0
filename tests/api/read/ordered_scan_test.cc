// Goal: a scan with an order returns the entities of the same scan by key, sorted, page by page, each once.
// Method: orders, filters and pages drawn by seeds, compared with a sort of all entities by rules of its own; each rule of
// the order by itself; tokens that are bent; handles that see a part of the table.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/async/async_support.h"
#include "tests/api/filter/slow_order.h"
#include "tests/api/store_bench.h"
#include "tests/support/effort.h"
#include "varve/async.h"
#include "varve/limits.h"
#include "varve/store_transaction.h"

namespace varve::ordered_scan_test {
namespace {

using namespace test;

using Keys = std::vector<std::string>;

Scan ordered(std::string_view order_by) {
  Scan scan;
  scan.order_by = order_by;
  return scan;
}

/// Returns the keys of all pages. Fails the test if a page does.
Keys pages_of(const Table& table, Scan scan) {
  Keys keys;
  for (int pages = 0; pages < 1'000; ++pages) {
    const Result<Page> page = table.scan(scan);
    EXPECT_EQ(said(page), kFine) << page.status().to_string();
    if (!page.ok()) return keys;
    EXPECT_FALSE(page->continuation && page->entities.empty());
    for (const std::string& key : keys_of(*page)) keys.push_back(key);
    if (!page->continuation) return keys;
    scan.continuation = *page->continuation;
  }
  ADD_FAILURE() << "the pages have no end";
  return keys;
}

class OrderedScan : public ::testing::Test {
 protected:
  void SetUp() override { table_.emplace(bench_.table()); }
  Table& table() { return *table_; }
  void put(const Entity& entity) { ASSERT_EQ(said(table().insert_or_replace(entity)), kFine); }
  /// Puts one entity for each value. Their RowKeys have the reverse order of the values.
  void put_values(const std::vector<Value>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      put(Entity("p", std::string(1, static_cast<char>('z' - i))).set("V", values[i]));
    }
  }

  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(OrderedScan, ValuesComeByTypeAndThenByValueAndWithoutThePropertyLast) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<Value> ascending = {
      false,
      true,
      -kInfinity,
      std::int32_t{-3},
      std::int64_t{1} << 40,
      9007199254740992.0,              // 2^53
      std::int64_t{9007199254740993},  // which no Double is
      9007199254740994.0,
      kInfinity,
      std::numeric_limits<double>::quiet_NaN(),
      DateTime{limits::kDateTimeTicksMin},
      DateTime{limits::kDateTimeTicksMax},
      *Guid::parse("00000000-0000-0000-0000-000000000001"),
      *Guid::parse("ff000000-0000-0000-0000-000000000000"),
      "",
      "A",
      "a",
      "a\U00010000",
      "a\uE000",  // UTF-16 writes the one before with surrogates, which are below
      Binary{"\x01"},
      Binary{"\xFF"},
  };
  put_values(ascending);
  put(Entity("p", "0").set("W", 1));
  put(Entity("p", "1"));
  Keys expected;
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    expected.push_back("p/" + std::string(1, static_cast<char>('z' - i)));
  }
  Keys reversed(expected.rbegin(), expected.rend());
  for (Keys* keys : {&expected, &reversed}) keys->insert(keys->end(), {"p/0", "p/1"});
  for (const std::uint32_t entities : {1u, 5u, 1000u}) {
    Scan scan = ordered("V");
    scan.page_entities_max = entities;
    EXPECT_EQ(pages_of(table(), scan), expected);
    scan.order_by = " V  desc ";
    EXPECT_EQ(pages_of(table(), scan), reversed);
  }
}

TEST_F(OrderedScan, EqualValuesComeInTheOrderOfTheirKeys) {
  put_values({0.0, -0.0, std::int32_t{0}, std::int64_t{0}});
  EXPECT_EQ(pages_of(table(), ordered("V")), (Keys{"p/w", "p/x", "p/y", "p/z"}));
  EXPECT_EQ(pages_of(table(), ordered("V desc")), (Keys{"p/w", "p/x", "p/y", "p/z"}));
}

TEST_F(OrderedScan, KeysAndTimestampAreComponents) {
  for (const char* key : {"a1", "b1", "a2", "b2"}) put(Entity(std::string(key, 1), key + 1));
  EXPECT_EQ(pages_of(table(), ordered("RowKey desc,PartitionKey")), (Keys{"a/2", "b/2", "a/1", "b/1"}));
  EXPECT_EQ(pages_of(table(), ordered("PartitionKey desc")), (Keys{"b/1", "b/2", "a/1", "a/2"}));
  EXPECT_EQ(pages_of(table(), ordered("Timestamp desc")), (Keys{"b/2", "a/2", "b/1", "a/1"}));
  Scan one = ordered("Timestamp");
  one.page_entities_max = 1;
  EXPECT_EQ(pages_of(table(), one), (Keys{"a/1", "b/1", "a/2", "b/2"}));
}

TEST_F(OrderedScan, LongTextsThatBeginAlikeAreOrderedByTheirEnds) {
  const std::string begin(20'000, 'x');
  put_values({begin + "1", begin + "2", begin + "20", begin + "3"});
  Scan scan = ordered("V desc");
  scan.page_entities_max = 1;
  EXPECT_EQ(pages_of(table(), scan), (Keys{"p/w", "p/x", "p/y", "p/z"}));
  scan.range = ScanRange::rows_with_prefix("p", "z");
  EXPECT_EQ(pages_of(table(), scan), (Keys{"p/z"}));
}

TEST_F(OrderedScan, APageIsBoundedByBytesAndHasAtLeastOneEntity) {
  for (int i = 0; i < 30; ++i) {
    const auto size = static_cast<std::size_t>(i * 7 % 30) * 100;
    put(Entity("p", std::to_string(i)).set("V", i * 11 % 30).set("Large", std::string(size, 'x')));
  }
  const Keys expected = pages_of(table(), ordered("V"));
  ASSERT_EQ(expected.size(), 30u);
  for (const std::uint64_t bytes : {1u, 3'000u, 10'000u}) {
    Scan scan = ordered("V");
    scan.page_bytes_max = bytes;
    const Result<Page> first = table().scan(scan);
    ASSERT_EQ(said(first), kFine);
    EXPECT_TRUE(first->continuation.has_value());
    EXPECT_EQ(pages_of(table(), scan), expected) << bytes;
  }
}

TEST_F(OrderedScan, TakeBoundsAllPagesTogether) {
  put_values({1, 2, 3, 4, 5});
  Scan scan = ordered("V");
  scan.take = 3;
  scan.page_entities_max = 2;
  EXPECT_EQ(pages_of(table(), scan), (Keys{"p/z", "p/y", "p/x"}));
  scan.take = 5;
  scan.page_entities_max = 5;
  EXPECT_FALSE((*table().scan(scan)).continuation.has_value());
  scan.page_entities_max = 0;
  EXPECT_EQ(pages_of(table(), scan), (Keys{}));
}

TEST_F(OrderedScan, ThePageGoesOnBehindTheLastEntityAsItWas) {
  put_values({1, 2, 3, 4});
  Scan scan = ordered("V");
  scan.page_entities_max = 2;
  scan.continuation = *(*table().scan(scan)).continuation;
  ASSERT_EQ(said(table().remove("p", "y", ETag::any())), kFine);
  EXPECT_EQ(keys_of(*table().scan(scan)), (Keys{"p/x", "p/w"}));
  put(Entity("p", "y").set("V", 9));
  put(Entity("p", "v").set("V", 2));  // before the deleted one, in the order of keys
  EXPECT_EQ(pages_of(table(), scan), (Keys{"p/x", "p/w", "p/y"}));
}

TEST_F(OrderedScan, ATokenHasAHashInPlaceOfALongText) {
  const std::string text(20'000, 'k');
  put_values({text + "a", text + "b", Binary{text}, text + "c"});
  Scan scan = ordered("V desc");
  scan.page_entities_max = 1;
  EXPECT_EQ(pages_of(table(), scan), (Keys{"p/x", "p/w", "p/y", "p/z"}));
  const Result<Page> first = table().scan(scan);
  ASSERT_TRUE(first.ok() && first->continuation);
  EXPECT_LT(first->continuation->size(), 300U);
  scan.continuation = *first->continuation;
  EXPECT_EQ(keys_of(*table().scan(scan)), (Keys{"p/w"}));
  const Result<Page> later = wait(AsyncTable(table()).scan(scan));
  ASSERT_EQ(said(later), kFine);
  EXPECT_EQ(keys_of(*later), (Keys{"p/w"}));
  Scan outside = scan;
  outside.range = ScanRange::partition("q");
  EXPECT_EQ(said(table().scan(outside)), kInvalidInput) << "the entity is none of the scan";
  const Result<Snapshot> snapshot = bench_.store->snapshot();
  ASSERT_TRUE(snapshot.ok());
  put(Entity("p", "x").set("V", Binary{text + "other"}));
  EXPECT_EQ(said(table().scan(scan)), kInvalidInput);
  ASSERT_EQ(said(table().remove("p", "x", ETag::any())), kFine);
  EXPECT_EQ(said(table().scan(scan)), kInvalidInput);
  scan.read.snapshot = *snapshot;
  EXPECT_EQ(keys_of(*table().scan(scan)), (Keys{"p/w"}));
}

TEST_F(OrderedScan, SelectAndTheReaderInPlaceGetTheSameEntities) {
  put_values({3, 1, 2});
  Scan scan = ordered("V");
  scan.read.select = {"W"};
  Keys seen;
  const Result<Page> page = table().scan_in_place(scan, [&seen](const EntityView& entity) {
    EXPECT_TRUE(entity.properties.empty());
    seen.push_back(std::string(entity.partition_key) + "/" + std::string(entity.row_key));
  });
  ASSERT_EQ(said(page), kFine);
  EXPECT_EQ(seen, (Keys{"p/y", "p/x", "p/z"}));
  EXPECT_EQ(page->cost.entities_examined, 3u);
}

TEST_F(OrderedScan, OfARestrictedHandleSeesWhatItMaySeeWithAnyToken) {
  put_values({1, 2, 3, 4, 5});
  const Table restricted =
      *table().restricted_to({Permissions::all(), {KeyBound{"p", "w"}, KeyBound{"p", "y"}}, nullptr});
  Scan scan = ordered("V desc");
  EXPECT_EQ(pages_of(restricted, scan), (Keys{"p/w", "p/x", "p/y"}));
  scan.page_entities_max = 1;
  scan.continuation = *(*table().scan(scan)).continuation;  // it names an entity outside
  EXPECT_EQ(pages_of(restricted, scan), (Keys{"p/w", "p/x", "p/y"}));
  const Table blind = *table().restricted_to({*Permissions::parse("a"), {}, nullptr});
  EXPECT_EQ(said(blind.scan(scan)), kPermissionMismatch);
}

TEST_F(OrderedScan, ATokenIsOfOneOrderAndABentOneIsRefused) {
  put_values({1, 2, 3, 4, 5});
  Scan scan = ordered("V desc, RowKey");
  scan.page_entities_max = 2;
  const std::string token = *(*table().scan(scan)).continuation;
  scan.continuation = token;
  scan.order_by = "V desc,RowKey asc";
  EXPECT_EQ(keys_of(*table().scan(scan)), (Keys{"p/x", "p/y"})) << "the same order";
  for (const char* other : {"V", "V desc", "RowKey,V desc", "W desc,RowKey"}) {
    scan.order_by = other;
    EXPECT_EQ(said(table().scan(scan)), kInvalidInput) << other;
  }
  scan.order_by = "V desc,RowKey";
  scan.take = 3;
  EXPECT_EQ(said(table().scan(scan)), kInvalidInput);
  scan.take.reset();
  Scan by_key;
  by_key.continuation = token;
  EXPECT_EQ(said(table().scan(by_key)), kInvalidInput);
  by_key.continuation.clear();
  by_key.page_entities_max = 2;
  scan.continuation = *(*table().scan(by_key)).continuation;
  EXPECT_EQ(said(table().scan(scan)), kInvalidInput);
  for (std::size_t at = 0; at < token.size(); ++at) {
    scan.continuation = token;
    scan.continuation[at] = token[at] == 'A' ? 'B' : 'A';
    const Said answer = said(table().scan(scan));  // Some texts are tokens too: of another key or value.
    EXPECT_TRUE(answer == kInvalidInput || answer == kFine) << at;
    scan.continuation.resize(at);
    if (at > 0) {
      EXPECT_EQ(said(table().scan(scan)), kInvalidInput) << at;
    }
  }
}

TEST_F(OrderedScan, WhatIsNoOrderIsRefused) {
  for (const char* order_by :
       {" ", ",", "V,", ",V", "V up", "V desc desc", "V DESC", "A,B,C,D,E", "V,W,V desc", "V:desc", "-V", "\xFF"}) {
    EXPECT_EQ(said(table().scan(ordered(order_by))), kInvalidInput) << order_by;
  }
  EXPECT_EQ(said(table().scan(ordered("A,B,C,D"))), kFine);
  Scan backward = ordered("V");
  backward.backward = true;
  EXPECT_EQ(said(table().scan(backward)), kInvalidInput);
  EXPECT_EQ(said(table().count(ordered("V"))), kInvalidInput);
}

TEST(OrderedScanLimits, MoreEntitiesThanTheLimitAreRefused) {
  StoreBench bench;
  StoreOptions options = bench.options();
  options.limits.emplace().page_entities_max = limits::kOrderedPageEntitiesMax + 1;
  bench.open(options);
  const Table table = bench.table();
  Scan scan = ordered("V");
  scan.page_entities_max = limits::kOrderedPageEntitiesMax;
  EXPECT_EQ(said(table.scan(scan)), kFine);
  ++scan.page_entities_max;
  const Status refused = table.scan(scan).status();
  EXPECT_EQ(said(refused), (Said{Code::kTooLarge, "InvalidInput"}));
  EXPECT_NE(refused.message().find("'V asc'"), std::string_view::npos) << refused.message();
  EXPECT_NE(refused.message().find("an index on 'V' serves"), std::string_view::npos) << refused.message();
  for (const auto& [order, index] : {std::pair("V desc", "'V'"),
                                     {"V desc,W,Timestamp desc", "'V desc,W,Timestamp desc'"},
                                     {"V,W desc,RowKey,X", "'V,W desc'"}}) {
    scan.order_by = order;
    const Status named = table.scan(scan).status();
    EXPECT_NE(named.message().find(std::string("an index on ") + index + " serves"), std::string_view::npos)
        << named.message();
  }
  scan.order_by = "RowKey desc,V";
  const Status by_key = table.scan(scan).status();
  EXPECT_EQ(said(by_key), (Said{Code::kTooLarge, "InvalidInput"}));
  EXPECT_EQ(by_key.message().find("index on"), std::string_view::npos) << by_key.message();
  scan.take = 10;
  EXPECT_EQ(said(table.scan(scan)), kFine);
}

TEST_F(OrderedScan, AnAsynchronousPageOfManySharesIsTheSame) {
  constexpr int kGroups = 15;
  for (int group = 0; group < kGroups; ++group) {
    EntityGroupTransaction inserts;
    for (int i = 0; i < 100; ++i) {
      inserts.insert(Entity("p", std::to_string(group * 100 + i)).set("V", (group * 100 + i) * 7 % 1501));
    }
    ASSERT_EQ(said(table().execute(inserts)), kFine);
  }
  Scan scan = ordered("V desc");
  scan.page_entities_max = 7;
  const Keys expected = keys_of(*table().scan(scan));
  ASSERT_EQ(expected.size(), 7u);
  const Result<Page> page = Begun<Result<Page>>(bench_.machine.scheduler(), AsyncTable(table()).scan(scan)).take();
  ASSERT_EQ(said(page), kFine);
  EXPECT_EQ(keys_of(*page), expected);
  EXPECT_EQ(page->continuation, (*table().scan(scan)).continuation);
}

TEST_F(OrderedScan, OfATransactionCoversTheWholeRange) {
  put_values({1, 2, 3});
  Result<StoreTransaction> transaction = bench_.store->begin_transaction();
  Scan scan = ordered("V");
  scan.range = ScanRange::partition("p");
  scan.page_entities_max = 1;
  ASSERT_EQ(said(transaction->scan_checked(table(), scan)), kFine);
  put(Entity("p", "a").set("V", 9));
  transaction->insert(table(), Entity("q", "1"));
  EXPECT_EQ(transaction->commit().status().code(), Code::kConflict);
}

// -- Against a sort ---------------------------------------------------------------------------------------------------

class OrderedScanModel : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  std::uint64_t below(std::uint64_t bound) { return random_.next() % bound; }

  Value any_value() {
    switch (below(10)) {
      case 0: return below(2) == 0;
      case 1: return static_cast<std::int32_t>(below(5)) - 2;
      case 2: return static_cast<std::int64_t>(below(5)) - 2;
      case 3: return (static_cast<double>(below(9)) - 4) / 2;
      case 4: return below(2) == 0 ? -0.0 : std::numeric_limits<double>::quiet_NaN();
      case 5: return DateTime{limits::kDateTimeTicksMin + below(3)};
      case 6: return *Guid::parse("00000000-0000-0000-0000-00000000000" + std::to_string(below(3)));
      case 7: return Binary{std::string(below(3), '\x7F')};
      case 8: return std::string(300, 'x') + std::to_string(below(3));
      default: return std::string(below(3), 'b');
    }
  }
  void fill(Table& table) {
    for (int i = 0; i < 80; ++i) {
      Entity entity(std::to_string(below(3)), std::to_string(i));
      for (const char* name : {"A", "B", "C"}) {
        if (below(4) != 0) entity.set(name, any_value());
      }
      ASSERT_EQ(said(table.insert(entity)), kFine);
    }
  }
  /// Writes some entities again, and removes some.
  void change(Table& table) {
    const Result<Page> all = table.scan(Scan{});
    ASSERT_EQ(said(all), kFine);
    for (const Entity& entity : all->entities) {
      switch (below(4)) {
        case 0: {
          ASSERT_EQ(said(table.remove(entity.partition_key(), entity.row_key(), ETag::any())), kFine);
          break;
        }
        case 1: {
          Entity changed(entity.partition_key(), entity.row_key());
          changed.set("A", any_value());
          ASSERT_EQ(said(table.merge(changed, ETag::any())), kFine);
          break;
        }
        default: break;
      }
    }
  }
  std::vector<IndexComponent> any_order() {
    Keys names = {"A", "B", "C", "PartitionKey", "RowKey", "Timestamp", "None"};
    std::vector<IndexComponent> order;
    for (std::uint64_t count = 1 + below(4); count > 0; --count) {
      const auto at = static_cast<std::ptrdiff_t>(below(names.size()));
      order.push_back({names[static_cast<std::size_t>(at)], below(2) == 0});
      names.erase(names.begin() + at);
    }
    return order;
  }
  /// `entities` are in the order of keys.
  static Keys sorted(std::vector<Entity> entities, const std::vector<IndexComponent>& order) {
    std::stable_sort(entities.begin(), entities.end(),
                     [&](const Entity& a, const Entity& b) { return is_before(order, a, b); });
    Keys keys;
    for (const Entity& entity : entities) keys.push_back(entity.partition_key() + "/" + entity.row_key());
    return keys;
  }

  io::SeededRandom random_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Seeds, OrderedScanModel, testing::Range(std::uint64_t{1}, std::uint64_t{4}));

TEST_P(OrderedScanModel, PagesAgreeWithASortOfAllEntities) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  StoreBench bench(GetParam());
  Table table = bench.table();
  fill(table);
  ASSERT_EQ(said(bench.store->compact()), kFine);
  change(table);
  const AsyncTable async(table);
  const std::vector<ScanRange> ranges = {ScanRange::whole_table(), ScanRange::partition("1"),
                                         ScanRange::rows("2", "2", "6"), ScanRange::partitions("1")};
  const Keys filters = {"", "A ge 0", "not (B eq true)", "RowKey ge '4' or C lt 'x'"};
  for (int round = 0; round < effort(24); ++round) {
    const std::vector<IndexComponent> order = any_order();
    Scan scan;
    scan.range = ranges[below(ranges.size())];
    scan.filter = filters[below(filters.size())];
    scan.read.snapshot = *bench.store->snapshot();
    const Result<Page> all = table.scan(scan);
    ASSERT_EQ(said(all), kFine) << all.status().to_string();
    ASSERT_FALSE(all->continuation.has_value());
    const Keys expected = sorted(all->entities, order);
    scan.order_by = order_text(order);
    scan.page_entities_max = static_cast<std::uint32_t>(1 + below(40));
    if (below(3) == 0) scan.page_bytes_max = 200 + below(2'000);
    ASSERT_EQ(pages_of(table, scan), expected) << scan.order_by << " where " << scan.filter;
    scan.page_entities_max = limits::kPageEntitiesMax;
    scan.page_bytes_max = UINT64_MAX;
    const Result<Page> awaited = Begun<Result<Page>>(bench.machine.scheduler(), async.scan(scan)).take();
    ASSERT_EQ(said(awaited), kFine);
    ASSERT_EQ(keys_of(*awaited), expected) << scan.order_by;
  }
}

}  // namespace
}  // namespace varve::ordered_scan_test
