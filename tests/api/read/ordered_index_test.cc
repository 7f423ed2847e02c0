// Goal: a page with an order is the same with an index as without one, whatever its token, its handle and its snapshot (I6).
// Method: two tables with the same entities, one of them with indexes. Tokens are made by hand: of each type, with values
// that no store writes, of other filters, and without a value.
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/model/continuation_token.h"
#include "format/keys/entity.h"
#include "tests/api/blob/large_value_bench.h"
#include "tests/api/read/ordered_tables.h"
#include "tests/api/store_bench.h"
#include "varve/limits.h"
#include "varve/table_index.h"

namespace varve::test::ordered_index_test {
namespace {

class OrderedIndex : public OrderedTables {
 protected:
  /// Puts one entity for each value, and two without one.
  void put_values_of_all_types() {
    const std::string text(256, 'k');
    const std::vector<Value> values = {
        false,
        true,
        std::int32_t{-1},
        std::int32_t{0},
        INT32_MAX,
        std::int64_t{0},
        INT64_MIN,
        std::int64_t{9'007'199'254'740'993},
        -0.0,
        9'007'199'254'740'992.0,
        std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN(),
        DateTime{limits::kDateTimeTicksMin},
        DateTime{limits::kDateTimeTicksMax},
        *Guid::parse("7f7f7f7f-7f7f-7f7f-7f7f-7f7f7f7f7f7f"),
        "",
        "k",
        text,
        text + "x",
        text.substr(1) + "\xC3\xA9",
        Binary{""},
        Binary{std::string(300, '\xFF')},
    };
    for (std::size_t i = 0; i < values.size(); ++i) {
      put(Entity("p", std::string(1, static_cast<char>('z' - i))).set("V", values[i]).set("W", i % 3 == 0));
    }
    put(Entity("p", "0"));
    put(Entity("p", "1").set("W", 1));
  }
};

/// Returns a token whose first component has these bytes, or is away.
std::string token_at(std::string_view order, std::optional<format::PropertyView> value,
                     std::int64_t version = INT64_MIN) {
  format::EntityBuilder fields;
  fields.add_string("order", order);
  fields.add_string("partition", "p");
  fields.add_string("row", "m");
  fields.add_int64("version", version);
  if (value) {
    value->name = "0";
    fields.add(*value);
  }
  return encode_bytes_token(fields.finish());
}

TEST_F(OrderedIndex, APageReadsNoNumbersOfOtherTypesThatAreBeforeIt) {
  create_index("ByN", {{"N"}});
  std::vector<WriteOperation> operations;
  for (int i = 0; i < 3000; ++i) {
    Entity entity("p" + std::to_string(i / 100), std::to_string(10'000 + i));
    const bool is_last = i >= 2970;
    if (!is_last) entity.set("N", std::int32_t{i});
    if (is_last && i % 2 == 0) entity.set("N", std::int64_t{INT32_MAX} + i);
    if (is_last && i % 2 == 1) entity.set("N", static_cast<double>(INT32_MAX) + i + 0.5);
    operations.push_back({WriteOperation::Kind::kInsert, entity, ETag()});
    if (operations.size() < 100) continue;
    ASSERT_EQ(said(indexed_->execute(operations)), kFine);
    operations.clear();
  }
  for (const char* const order : {"N", "N desc"}) {
    Scan scan;
    scan.order_by = order;
    scan.filter = "N ge 2900";  // Then each entity has an entry.
    scan.page_entities_max = 10;
    std::size_t found = 0;
    for (bool goes_on = true; goes_on;) {
      const Result<Page> page = indexed_->scan(scan);
      ASSERT_EQ(said(page), kFine);
      EXPECT_LE(page->cost.entities_examined, 14U) << order << " after " << found;
      found += page->entities.size();
      goes_on = page->continuation.has_value();
      if (goes_on) scan.continuation = *page->continuation;
    }
    EXPECT_EQ(found, 100U);
  }
}

TEST_F(OrderedIndex, I7_APageReadsOnlyItsEntitiesAlsoAmongEqualValues) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::string text(256, 'k');
  const std::vector<Value> values = {std::int32_t{3}, 3.0,  std::int64_t{3}, -0.0, 0.0,         std::int64_t{0},
                                     INT64_MIN,       kNan, -kNan,           text, Binary{"k"}, text};
  const auto put_some = [this](int begin, int end, const std::vector<Value>& of) {
    for (int i = begin; i < end; ++i) {
      const std::string row = std::to_string(1000 + i * 37 % 300);
      const auto which = static_cast<std::size_t>(i) % of.size();
      put(Entity("p" + std::to_string(i * 7 % 5), row).set("V", of[which]).set("W", i % 3));
    }
  };
  put_some(0, 200, values);
  Scan scan;
  scan.page_entities_max = 23;
  const auto expect_the_same = [&](bool has_cut_text) {
    for (const char* const order : {"V", "V desc"}) {
      scan.order_by = order;
      scan.filter = "exists(V)";
      EXPECT_EQ(order_index(scan), "ByV");
      const std::string expected = pages_of(*plain_, scan);
      EXPECT_EQ(pages_of(*indexed_, scan), expected) << order;
      for (bool goes_on = !has_cut_text; goes_on; goes_on = !scan.continuation.empty()) {
        const Result<Page> page = indexed_->scan(scan);
        ASSERT_EQ(said(page), kFine);
        EXPECT_EQ(page->cost.entities_examined, page->entities.size()) << order;
        scan.continuation = page->continuation.value_or("");
      }
      for (const char* const filter :
           {"W ge 1", "W eq 2 and exists(V)"}) {  // Others take the place of what they reject.
        scan.filter = filter;
        EXPECT_EQ(pages_of(*indexed_, scan), pages_of(*plain_, scan)) << order << " of " << filter;
        Scan hasty = scan;
        hasty.order_time_max = std::chrono::milliseconds(0);
        EXPECT_TRUE(page_of(*indexed_, hasty).starts_with("p"))
            << "no key in the first page of " << order << " and " << filter;
        const std::string found = pages_of(*indexed_, hasty);
        EXPECT_TRUE(pages_of(*plain_, scan).starts_with(found.substr(0, found.find_first_of(".r")))) << order;
      }
    }
  };
  create_index("ByV", {{"V"}});
  ASSERT_NO_FATAL_FAILURE(expect_the_same(false));
  ASSERT_EQ(said(bench_.store->drop_index(kAccount, "Indexed", "ByV")), kFine);
  create_index("ByV", {{"V", true}});
  ASSERT_NO_FATAL_FAILURE(expect_the_same(false));
  put_some(200, 230, {text + "x", text, text + "y", text.substr(1) + "\xC3\xA9", text.substr(1) + "a"});
  ASSERT_NO_FATAL_FAILURE(expect_the_same(true));
  ASSERT_EQ(said(bench_.store->drop_index(kAccount, "Indexed", "ByV")), kFine);
  create_index("ByV", {{"V"}});
  ASSERT_NO_FATAL_FAILURE(expect_the_same(true));
}

TEST_F(OrderedIndex, I7_APageGoesOnBehindMoreEqualValuesThanItReadsEntries) {
  create_index("ByV", {{"V"}});
  for (int partition = 0; partition < 30; ++partition) {
    std::vector<WriteOperation> operations;
    for (int row = 0; row < 100; ++row) {
      const Entity entity = Entity("p" + std::to_string(partition), std::to_string(1000 + row)).set("V", "open");
      operations.push_back({WriteOperation::Kind::kInsert, entity, ETag()});
    }
    ASSERT_EQ(said(indexed_->execute(operations)), kFine);
  }
  Scan scan;
  scan.order_by = "V";
  scan.filter = "V ge ''";
  scan.page_entities_max = 100;
  std::size_t pages = 0;
  do {
    const Result<Page> page = indexed_->scan(scan);
    ASSERT_EQ(said(page), kFine);
    ASSERT_EQ(page->cost.entities_examined, 100U);
    ++pages;
    scan.continuation = page->continuation.value_or("");
  } while (!scan.continuation.empty());
  EXPECT_EQ(pages, 30U);
}

TEST_F(OrderedIndex, I7_AnIndexInTheOrderOfKeysIsTakenWhicheverWasDeclaredFirst) {
  for (int i = 0; i < 6; ++i) put(Entity("p", std::to_string(i)).set("V", i / 2));
  Scan scan;
  scan.filter = "V ge 0";
  scan.page_entities_max = 4;
  for (const bool descending_first : {true, false}) {
    create_index(descending_first ? "Down" : "Up", {{"V", descending_first}});
    create_index(descending_first ? "Up" : "Down", {{"V", !descending_first}});
    for (const auto& [order, index] : {std::pair("V", "Up"), std::pair("V desc", "Down")}) {
      scan.order_by = order;
      EXPECT_EQ(order_index(scan), index) << "the descending one first: " << descending_first;
      EXPECT_EQ(pages_of(*indexed_, scan), pages_of(*plain_, scan)) << order;
    }
    ASSERT_EQ(said(bench_.store->drop_index(kAccount, "Indexed", "Up")), kFine);
    ASSERT_EQ(said(bench_.store->drop_index(kAccount, "Indexed", "Down")), kFine);
  }
}

TEST_F(OrderedIndex, I6_ATokenWithAnyValueGoesOnAtTheSamePlace) {
  put_values_of_all_types();
  create_index("ByV", {{"V", false}});
  for (const char* order : {"V asc", "V desc"}) {
    Scan scan;
    scan.order_by = order;
    scan.page_entities_max = 8;
    ASSERT_EQ(order_index(scan), "ByV");
    scan.continuation = token_at(order, std::nullopt);
    EXPECT_EQ(pages_of(*indexed_, scan), pages_of(*plain_, scan));
    for (std::uint8_t type = 1; type <= static_cast<std::uint8_t>(PropertyType::kLargeValue); ++type) {
      format::PropertyView value;
      value.type = static_cast<PropertyType>(type);
      const std::optional<std::size_t> fixed = format::fixed_value_bytes(value.type);
      const std::vector<std::size_t> sizes = fixed ? std::vector{*fixed} : std::vector<std::size_t>{0, 255, 256, 2000};
      for (const std::size_t size : sizes) {
        for (const char byte : {'\x00', '\x01', 'k', '\x7F', '\x80', '\xF8', '\xFF'}) {
          const std::string bytes(size, byte);
          value.value = bytes;
          scan.continuation = token_at(order, value);
          EXPECT_EQ(pages_of(*indexed_, scan), pages_of(*plain_, scan))
              << order << " type " << int{type} << ", " << size << " times " << int{byte};
        }
      }
    }
  }
}

TEST_F(OrderedIndex, I6_ABentTokenGoesOnAtTheSamePlace) {
  put_values_of_all_types();
  create_index("ByV", {{"V", true}});
  Scan scan;
  scan.order_by = "V,W desc";
  scan.page_entities_max = 9;
  ASSERT_EQ(order_index(scan), "ByV");
  const std::string token = *(*indexed_->scan(scan)).continuation;
  for (std::size_t at = 0; at < token.size(); ++at) {
    scan.continuation = token;
    scan.continuation[at] = token[at] == 'A' ? 'B' : 'A';
    EXPECT_EQ(page_of(*indexed_, scan), page_of(*plain_, scan)) << at;
  }
}

TEST_F(OrderedIndex, I6_TheTokenOfAnotherFilterGoesOnAtTheSamePlace) {
  for (int a = 1; a <= 3; ++a) {
    for (int b = 0; b < 6; ++b) {
      const std::string row = std::to_string(a) + std::to_string(b);
      put(a == 2 ? Entity("p", row).set("A", 2.0).set("B", b) : Entity("p", row).set("A", a).set("B", b));
    }
  }
  create_index("ByAThenB", {{"A", false}, {"B", false}});
  for (const char* order : {"A,B", "A,B desc", "A desc,B", "B"}) {
    for (const char* from : {"A eq 1", "A eq 2", "A eq 3", "A ge 1", ""}) {
      Scan scan;
      scan.order_by = order;
      scan.filter = from;
      scan.page_entities_max = 3;
      scan.continuation = *(*plain_->scan(scan)).continuation;
      for (const char* to : {"A eq 1", "A eq 2", "A eq 3", "A eq 2.0", "A eq 'x'"}) {
        scan.filter = to;
        EXPECT_EQ(pages_of(*indexed_, scan), pages_of(*plain_, scan)) << order << " from " << from << " to " << to;
      }
    }
  }
}

TEST_F(OrderedIndex, APageThatTakesTooLongIsRefusedUnlessAnIndexServesIt) {
  for (int i = 0; i < 12; ++i) put(Entity("p", std::to_string(100 - i)).set("V", i).set("W", i / 2));
  Scan scan;
  scan.filter = "V ge 0 and W ge 0";
  scan.order_by = "V";
  scan.page_entities_max = 4;
  const std::string whole = pages_of(*plain_, scan);
  scan.order_time_max = std::chrono::milliseconds(0);
  const Status refused = plain_->scan(scan).status();
  EXPECT_EQ(said(refused), (Said{Code::kTooLarge, "InvalidInput"}));
  EXPECT_NE(refused.message().find("an index on 'V' can"), std::string_view::npos) << refused.message();
  create_index("ByV", {{"V"}});
  EXPECT_EQ(pages_of(*indexed_, scan), whole);
  scan.order_by = "V desc";
  EXPECT_EQ(pages_of(*indexed_, scan).substr(0, 12), "p/89 p/90 p/");
  scan.order_by = "W desc,V";
  EXPECT_EQ(page_of(*indexed_, scan), "refused InvalidInput");
  const Status of_both = indexed_->scan(scan).status();
  EXPECT_NE(of_both.message().find("an index on 'W desc,V' can"), std::string_view::npos) << of_both.message();
  create_index("ByW", {{"W"}});
  // If two entities have one value, only both together are certainly before the rest.
  scan.page_entities_max = 3;
  EXPECT_EQ(page_of(*indexed_, scan), "p/90 p/89 ");
  EXPECT_EQ(pages_of(*indexed_, scan).substr(0, 25), "p/90 p/89 p/92 p/91 p/94 ");
  scan.order_time_max = std::chrono::hours(1);
  EXPECT_EQ(page_of(*indexed_, scan), "p/90 p/89 p/92 ");
}

TEST_F(OrderedIndex, TheTimestampOrdersAndIsAPartOfTheOrder) {
  for (int i = 0; i < 8; ++i) put(Entity("p", std::to_string(10 + (i * 5) % 8)).set("V", i % 2));
  create_index("ByTime", {{"V"}, {"Timestamp", true}});
  Scan scan;
  scan.order_by = "Timestamp";
  scan.page_entities_max = 2;
  EXPECT_EQ(order_index(scan), "");
  scan.filter = "V eq 1";
  for (const char* const order : {"Timestamp", "Timestamp desc", "V desc,Timestamp", "Timestamp,V"}) {
    scan.order_by = order;
    EXPECT_EQ(order_index(scan), "ByTime") << order;
    EXPECT_EQ(pages_of(*indexed_, scan), pages_of(*plain_, scan)) << order;
  }
  for (const char* const order : {"Timestamp asc", "Timestamp desc"}) {
    scan.order_by = order;
    for (const std::int64_t version :
         {INT64_MIN, std::int64_t{-5}, std::int64_t{0}, std::int64_t{1} << 62, INT64_MAX}) {
      scan.continuation = token_at(order, std::nullopt, version);
      EXPECT_EQ(pages_of(*indexed_, scan), pages_of(*plain_, scan)) << order << " " << version;
    }
  }
}

TEST_F(OrderedIndex, GoesOnByTheIndexIfTheFilterFixesTheFirstComponent) {
  for (int b = 0; b < 6; ++b) put(Entity("p", std::to_string(b)).set("A", 2.0).set("B", b));
  create_index("ByAThenB", {{"A", false}, {"B", false}});
  Scan scan;
  scan.order_by = "A,B desc";
  scan.filter = "A eq 2";
  scan.page_entities_max = 2;
  scan.continuation = *(*indexed_->scan(scan)).continuation;
  EXPECT_EQ(order_index(scan), "ByAThenB") << "2.0 and 2 are at one place";
  const Result<Page> page = indexed_->scan(scan);
  ASSERT_EQ(said(page), kFine);
  EXPECT_EQ(keys_of(*page), (Keys{"p/3", "p/2"}));
}

TEST_F(OrderedIndex, MergesARangeForEachValueThatTheFilterGivesBeforeTheOrder) {
  for (int i = 0; i < 60; ++i) {
    const std::string status(1, "abc"[i % 3]);
    put(Entity("p", std::to_string(100 + i)).set("Status", status).set("Total", i * 7 % 20).set("W", i % 7));
  }
  create_index("ByStatus", {{"Status"}, {"Total"}});
  Scan scan;
  scan.page_entities_max = 7;
  for (const char* const filter :
       {"Status in ('a','b')", "(Status eq 'b' or Status eq 'a')", "Status in ('c')", "Status in (1,'c',2.5)"}) {
    scan.filter = filter;
    for (const char* const order : {"Total", "Total desc", "Total,W"}) {
      scan.order_by = order;
      EXPECT_EQ(order_index(scan), "ByStatus") << filter;
      EXPECT_EQ(pages_of(*indexed_, scan), pages_of(*plain_, scan)) << order << " of " << filter;
    }
    scan.order_by = "Status desc,Total";
    scan.filter += " and Total ge 0";  // Then each entity has an entry.
    EXPECT_EQ(order_index(scan), "ByStatus") << filter;
    EXPECT_EQ(pages_of(*indexed_, scan), pages_of(*plain_, scan)) << filter;
  }
}

TEST_F(OrderedIndex, I6_RestrictedHandlesAndSnapshotsSeeTheSame) {
  put_values_of_all_types();
  create_index("ByV", {{"V", false}});
  const Access rows{Permissions::all(), {KeyBound{"p", "f"}, KeyBound{"p", "t"}}, nullptr};
  const Table plain = *plain_->restricted_to(rows);
  const Table indexed = *indexed_->restricted_to(rows);
  Scan scan;
  scan.page_entities_max = 3;
  for (const char* order : {"V", "V desc"}) {
    scan.order_by = order;
    EXPECT_EQ(pages_of(indexed, scan), pages_of(plain, scan));
    scan.continuation = *(*indexed_->scan(scan)).continuation;  // of an entity outside
    EXPECT_EQ(page_of(indexed, scan), page_of(plain, scan));
    scan.continuation.clear();
  }
  const Snapshot before = *bench_.store->snapshot();
  scan.read.snapshot = before;
  const std::string expected = pages_of(*plain_, scan);
  for (const char* row : {"z", "u", "o"}) put(Entity("p", row).set("V", "moved"));
  create_index("Later", {{"V", true}});
  EXPECT_EQ(pages_of(*indexed_, scan), expected);
  EXPECT_EQ(pages_of(*plain_, scan), expected);
}

TEST_F(OrderedIndex, I6_LargeValuesHaveNoEntrySoTheFilterBoundsTheOrderFromBelow) {
  Table people = value_table(*bench_.store);
  const Unnamed large = written(people, "content");
  ASSERT_EQ(said(people.insert(Entity("p", "a").set("V", large.value))), kFine);
  for (int i = 1; i <= 3; ++i) ASSERT_EQ(said(people.insert(Entity("p", std::to_string(i)).set("V", i))), kFine);
  ASSERT_EQ(said(people.insert(Entity("p", "b"))), kFine);
  ASSERT_EQ(said(bench_.store->create_index(kAccount, "People", {"ByV", {{"V", false}}, {}})), kFine);
  const auto index_and_pages = [&people](const char* filter, const char* order) {
    Scan scan;
    scan.filter = filter;
    scan.order_by = order;
    scan.page_entities_max = 2;
    const Result<ScanPlan> plan = people.explain(scan);
    return (plan.ok() ? plan->order_index : "no plan") + ": " + pages_of(people, scan);
  };
  EXPECT_EQ(index_and_pages("", "V"), ": p/1 p/2 p/3 p/a p/b ");
  EXPECT_EQ(index_and_pages("", "V desc"), ": p/a p/3 p/2 p/1 p/b ");
  EXPECT_EQ(index_and_pages("V lt 3", "V desc"), ": p/a p/2 p/1 ");
  EXPECT_EQ(index_and_pages("V gt 1", "V desc"), "ByV: p/3 p/2 ");
}

TEST_F(OrderedIndex, AnIndexThatLeadsToFewerEntitiesThanThePageHasComesBeforeTheOrder) {
  for (int i = 0; i < 100; ++i) {
    put(Entity("p", std::to_string(100 + i)).set("Customer", i % 40 == 7 ? "ann" : "bob").set("Price", i * 37 % 100));
  }
  create_index("ByPrice", {{"Price", false}});
  create_index("ByCustomer", {{"Customer", false}});
  Scan scan;
  scan.filter = "Customer eq 'ann'";
  scan.order_by = "Price desc";
  EXPECT_EQ(pages_of(*indexed_, scan), "p/107 p/147 p/187 ");
  const Result<Page> page = indexed_->scan(scan);
  ASSERT_EQ(said(page), kFine);
  EXPECT_EQ(page->cost.entities_examined, 3U);
  for (const std::uint32_t entities : {1U, 2U, 3U}) {
    scan.page_entities_max = entities;
    EXPECT_EQ(pages_of(*indexed_, scan), pages_of(*plain_, scan));
  }
}

}  // namespace
}  // namespace varve::test::ordered_index_test
