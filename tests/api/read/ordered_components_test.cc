// Goal: an index gives an order by several of its components (I6), and a page reads about its own entities (I7).
// Method: two tables with the same entities, one of them with indexes. Values of many types, and equal ones, are in each
// component. Counts of examined entities show that a page in the middle of many equal values reads no others.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/read/ordered_tables.h"
#include "varve/limits.h"
#include "varve/table_index.h"

namespace varve::test::ordered_components_test {
namespace {

class OrderedComponents : public OrderedTables {
 protected:
  /// Puts entities of three countries into both tables, with a total and a note.
  void put_orders(int count) {
    std::vector<WriteOperation> operations;
    for (int i = 0; i < count; ++i) {
      Entity entity("p" + std::to_string(i / 100), std::to_string(10'000 + i));
      entity.set("Country", std::string(1, "dfg"[i % 3])).set("Total", i * 37 % 250).set("Note", i % 7);
      operations.push_back({WriteOperation::Kind::kInsert, entity, ETag()});
      if (i % 100 != 99) continue;
      ASSERT_EQ(said(plain_->execute(operations)), kFine);
      ASSERT_EQ(said(indexed_->execute(operations)), kFine);
      operations.clear();
    }
  }
  /// Compares all pages of both tables. Returns the most entities that a page of the indexed one examined. If entities may lack
  /// the first property, an empty page may follow, which looks for them.
  std::uint64_t compare_pages(Scan scan) {
    Scan whole = scan;
    whole.page_entities_max = limits::kPageEntitiesMax;
    const Keys expected = all_keys(*plain_, whole, nullptr);
    std::uint64_t most = 0;
    EXPECT_EQ(all_keys(*indexed_, scan, &most), expected) << scan.order_by << " of " << scan.filter;
    return most;
  }

 private:
  static Keys all_keys(const Table& table, Scan scan, std::uint64_t* most_examined) {
    Keys keys;
    for (bool goes_on = true; goes_on; goes_on = !scan.continuation.empty()) {
      const Result<Page> page = table.scan(scan);
      EXPECT_EQ(said(page), kFine);
      if (!page.ok()) return keys;
      EXPECT_LE(page->entities.size(), scan.page_entities_max);
      for (std::string& key : keys_of(*page)) keys.push_back(std::move(key));
      if (most_examined != nullptr) *most_examined = std::max(*most_examined, page->cost.entities_examined);
      scan.continuation = page->continuation.value_or("");
    }
    return keys;
  }
};

TEST_F(OrderedComponents, I7_APageReadsItsEntitiesWhereverItBegins) {
  put_orders(1500);
  create_index("ByCountryAndTotal", {{"Country"}, {"Total", true}});
  Scan scan;
  scan.filter = "exists(Total) and exists(Country)";  // Then each entity has an entry.
  scan.page_entities_max = 20;
  for (const char* const order : {"Country,Total desc", "Country desc,Total"}) {
    scan.order_by = order;
    EXPECT_EQ(order_index(scan), "ByCountryAndTotal");
    EXPECT_EQ((*indexed_->explain(scan)).order_components, 2U);
    EXPECT_LE(compare_pages(scan), 20U) << order;
  }
  for (const char* const order : {"Country,Total desc,Note", "Country desc,Total,Note desc"}) {
    scan.order_by = order;
    EXPECT_LE(compare_pages(scan), 24U) << order << ": two entities have one country and one total";
  }
  scan.order_by = "Country,Total desc";
  scan.filter = "Total ge 230 and Total lt 240 and exists(Country)";
  EXPECT_LE(compare_pages(scan), 24U) << "in each country, the first total above the bound is read too";
  scan.filter = "Country eq 'f' and Total ge 0";
  EXPECT_LE(compare_pages(scan), 20U);
}

TEST_F(OrderedComponents, I7_AnOrderThatEndsWithKeysReadsNoOtherEntities) {
  put_orders(600);
  create_index("ByCountry", {{"Country"}});
  Scan scan;
  scan.filter = "exists(Country)";
  scan.page_entities_max = 20;
  for (const char* const order : {"Country,PartitionKey", "Country desc,PartitionKey,RowKey,Total"}) {
    scan.order_by = order;
    EXPECT_LE(compare_pages(scan), 20U) << order;
  }
  // The order of keys is another one.
  for (const char* const order : {"Country,RowKey", "Country,PartitionKey desc", "Country,PartitionKey,Total"}) {
    scan.order_by = order;
    EXPECT_GT(compare_pages(scan), 20U) << order;
  }
  scan.range = ScanRange::partition("p3");
  for (const char* const order : {"Country,RowKey", "Country desc,PartitionKey desc,RowKey,Total",
                                  "PartitionKey,Country", "PartitionKey desc,Country desc,RowKey"}) {
    scan.order_by = order;
    EXPECT_LE(compare_pages(scan), 20U) << order;
  }
  scan.order_by = "Country,RowKey desc";
  EXPECT_GT(compare_pages(scan), 20U);
}

TEST_F(OrderedComponents, I6_TheTokenOfAnotherPartitionGoesOnAtTheSamePlace) {
  for (int row = 10; row < 30; ++row) {
    for (const char* const partition : {"a", "b"}) put(Entity(partition, std::to_string(row)).set("V", row % 2));
  }
  create_index("ByV", {{"V"}});
  for (const char* const order : {"V,RowKey", "V desc,RowKey", "V,PartitionKey,RowKey", "V desc,PartitionKey desc",
                                  "PartitionKey,V", "PartitionKey desc,V desc,RowKey"}) {
    for (const char* const from : {"a", "b"}) {
      Scan scan;
      scan.order_by = order;
      scan.range = ScanRange::partition(from);
      scan.page_entities_max = 13;
      scan.continuation = *(*plain_->scan(scan)).continuation;
      scan.filter = "exists(V)";
      scan.page_entities_max = 3;
      for (const char* const to : {"a", "b"}) {
        scan.range = ScanRange::partition(to);
        compare_pages(scan);
      }
    }
  }
}

TEST_F(OrderedComponents, AnIndexWithMoreComponentsOfTheOrderIsTaken) {
  put_orders(300);
  create_index("ByCountry", {{"Country"}});
  create_index("ByBoth", {{"Country"}, {"Total", true}});
  create_index("ByAnother", {{"Country"}, {"Note"}});
  const auto index_of = [this](const char* order) {
    Scan scan;
    scan.filter = "Total ge 0 and Note ge 0";
    scan.order_by = order;
    scan.page_entities_max = 7;
    compare_pages(scan);
    return order_index(scan);
  };
  EXPECT_EQ(index_of("Country,Total desc"), "ByBoth");
  EXPECT_EQ(index_of("Country desc,Total"), "ByBoth");
  EXPECT_EQ(index_of("Country,Note,Total"), "ByAnother");
  EXPECT_EQ(index_of("Country"), "ByCountry");
  EXPECT_EQ(index_of("Total desc,Country"), "");
}

TEST_F(OrderedComponents, I6_ValuesOfAllTypesAreInOrderInEachComponent) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::string text(256, 'k');
  const std::vector<Value> values = {std::int32_t{3},
                                     3.0,
                                     std::int64_t{3},
                                     "a",
                                     -0.0,
                                     0.0,
                                     3.5,
                                     text,
                                     kNan,
                                     text + "x",
                                     Binary{""},
                                     true,
                                     INT64_MIN,
                                     INT32_MAX,
                                     text + "y",
                                     false,
                                     DateTime{limits::kDateTimeTicksMin}};
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count * count; ++i) {
    Entity entity("p" + std::to_string(i * 7 % 5), std::to_string(1000 + i * 61 % 509));
    entity.set("C", static_cast<int>(i % 2));
    if (i % 19 != 7)
      entity.set("A", values[i % 5 == 0 ? i / count : i / count % 4]);  // Some values have many entities.
    if (i % 23 != 7) entity.set("B", values[i % count]);
    put(entity);
  }
  const std::vector<std::vector<IndexComponent>> indexes = {{{"A"}, {"B"}},
                                                            {{"A", true}, {"B"}},
                                                            {{"A"}, {"B", true}, {"C"}},
                                                            {{"C"}, {"A", true}, {"B", true}},
                                                            {{"B"}, {"A"}, {"C", true}}};
  for (const std::vector<IndexComponent>& components : indexes) {
    create_index("Some", components);
    for (const char* const order : {"A,B", "A desc,B desc", "A,B desc", "A desc,B", "A,B desc,C", "A desc,B,C desc",
                                    "C,A desc,B desc", "B,A,C desc", "B desc,A desc,C"}) {
      for (const char* const filter :
           {"exists(A) and exists(B)", "exists(B)", "A ge 3 and exists(B)", "C eq 1 and B ge 0 and exists(A)"}) {
        Scan scan;
        scan.order_by = order;
        scan.filter = filter;
        scan.page_entities_max = 41;
        compare_pages(scan);
      }
    }
    ASSERT_FALSE(HasFailure()) << components.front().property;
    ASSERT_EQ(said(bench_.store->drop_index(kAccount, "Indexed", "Some")), kFine);
  }
}

TEST_F(OrderedComponents, I6_TheTokenOfAnotherFilterGoesOnAtTheSamePlace) {
  for (int i = 0; i < 60; ++i) {
    Entity entity("p", std::to_string(100 + i));
    entity.set("A", i % 2);
    if (i % 5 != 0) entity.set("B", i % 7);
    put(entity);
  }
  create_index("ByAAndB", {{"A"}, {"B"}});
  for (const char* const order : {"A,B", "A desc,B desc"}) {
    Scan scan;
    scan.order_by = order;
    scan.page_entities_max = 29;  // It ends among the entities of the first A that lack B.
    scan.continuation = *(*plain_->scan(scan)).continuation;
    for (const char* const filter : {"exists(B)", "B ge 3", "A eq 1 and exists(B)", "A eq 0 and exists(B)"}) {
      scan.filter = filter;
      scan.page_entities_max = 4;
      compare_pages(scan);
    }
  }
}

TEST_F(OrderedComponents, I6_APropertyOfSeveralTypesIsFoundAndOrderedAsWithoutItsIndex) {
  const std::vector<Value> values = {std::int32_t{-1},
                                     std::int32_t{3},
                                     std::int64_t{-1},
                                     std::int64_t{3},
                                     INT64_MAX,
                                     -1.0,
                                     3.0,
                                     3.5,
                                     "",
                                     "3",
                                     "a",
                                     "\xEF\xBF\xBD",
                                     true,
                                     false};
  for (std::size_t i = 0; i < 5 * values.size(); ++i) {
    put(Entity("p" + std::to_string(i % 3), std::to_string(100 + i * 29 % 83)).set("V", values[i % values.size()]));
  }
  put(Entity("p0", "none"));
  for (const bool is_descending : {false, true}) {
    create_index("ByV", {{"V", is_descending}});
    std::vector<std::string> filters = {"exists(V)",           "V in (3, '3', true, 3.5)", "startswith(V, '')",
                                        "V ge 0 and V lt 3.5", "V gt -1L and V le 3.0",    "V ge 'a' or V ge 3"};
    for (const char* const literal :
         {"-1", "3", "3L", "9223372036854775807L", "-1.0", "3.0", "3.5", "''", "'3'", "'a'", "true", "false"}) {
      for (const char* const compare : {" eq ", " ne ", " ge ", " gt ", " le ", " lt "}) {
        filters.push_back(std::string("V").append(compare).append(literal));
      }
    }
    std::uint64_t served = 0;
    for (const std::string& filter : filters) {
      for (const char* const order : {"", "V", "V desc"}) {
        Scan scan;
        scan.filter = filter;
        scan.order_by = order;
        scan.page_entities_max = 7;
        compare_pages(scan);
        const Result<ScanPlan> plan = indexed_->explain(scan);
        ASSERT_EQ(said(plan), kFine);
        served += plan->order_index.empty() && plan->indexes.empty() ? 0U : 1U;
      }
      ASSERT_FALSE(HasFailure()) << filter;
    }
    EXPECT_GE(served, 2 * filters.size()) << "the index serves each order, and most filters";
    ASSERT_EQ(said(bench_.store->drop_index(kAccount, "Indexed", "ByV")), kFine);
  }
}

}  // namespace
}  // namespace varve::test::ordered_components_test
