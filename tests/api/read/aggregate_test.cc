// Goal: an aggregation gives the figures that a plain fold over scanned entities gives: for values of all types, in one
// call or in many, with filters, at snapshots, and for restricted handles. Values without a common order, sums out of
// range and too many groups are refused. No error leaves figures that can be read.
// Method: stated cases; random entities and deletes against a slow model; each allocation failing once.
#include "varve/aggregate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/allocation_sweep.h"
#include "tests/api/async/async_support.h"
#include "tests/api/store_bench.h"
#include "tests/support/effort.h"
#include "varve/async.h"
#include "varve/table_expiry.h"

namespace varve::test::aggregate_test {
namespace {

using Kind = Aggregate::Kind;
using Rows = std::vector<std::string>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct ValueText {
  std::string operator()(const Binary& value) const { return "b" + value.bytes; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const DateTime& value) const { return "t" + std::to_string(value.ticks); }
  std::string operator()(double value) const {
    if (std::isnan(value)) return "dnan";
    char text[40];
    (void)std::snprintf(text, sizeof(text), "d%.17g", value);
    return text;
  }
  std::string operator()(const Guid& value) const { return "g" + value.to_string(); }
  std::string operator()(std::int32_t value) const { return "i" + std::to_string(value); }
  std::string operator()(std::int64_t value) const { return "l" + std::to_string(value); }
  std::string operator()(const std::string& value) const { return "s" + value; }
  std::string operator()(const LargeValue&) const { return "large"; }
};

/// Returns the type and the value. Nothing is "-".
std::string text_of(const std::optional<Value>& value) {
  return value ? std::visit(ValueText{}, value->variant()) : "-";
}

std::string text_of(const AggregateRow& row) {
  std::string text;
  for (const std::optional<Value>& value : row.group) text += text_of(value) + " ";
  text += "|";
  for (const std::optional<Value>& value : row.figures) text += " " + text_of(value);
  return text;
}

Rows texts_of(const Result<std::vector<AggregateRow>>& rows) {
  EXPECT_EQ(said(rows), kFine) << rows.status().to_string();
  Rows texts;
  if (!rows.ok()) return texts;
  for (const AggregateRow& row : *rows) texts.push_back(text_of(row));
  return texts;
}

Aggregation must(Result<Aggregation> made) {
  EXPECT_EQ(said(made), kFine) << made.status().to_string();
  if (!made.ok()) std::abort();
  return *std::move(made);
}

class Aggregates : public ::testing::Test {
 protected:
  void insert(const std::string& row, Entity&& properties, const std::string& partition = "p") {
    Entity entity(partition, row);
    for (const Property& property : properties.properties()) entity.set(property.name, property.value);
    ASSERT_EQ(said(table_.insert_or_replace(entity)), kFine) << row;
  }
  void insert(const std::string& row, const Value& value) { insert(row, Entity("", "").set("V", value)); }

  /// Adds all pages of a scan. Returns the first error.
  static Status add(const Table& table, Scan scan, Aggregation& into, std::uint64_t* calls = nullptr) {
    for (std::uint64_t count = 1;; ++count) {
      const Result<Count> part = table.aggregate(scan, into);
      if (calls != nullptr) *calls = count;
      if (!part.ok() || !part->continuation) return part.status();
      scan.continuation = *part->continuation;
    }
  }
  Rows rows_of(std::vector<Aggregate> figures, std::vector<GroupBy> group_by = {}, const Scan& scan = {}) {
    Aggregation into = must(Aggregation::create(std::move(figures), std::move(group_by)));
    const Status added = add(table_, scan, into);
    EXPECT_EQ(said(added), kFine) << added.to_string();
    return texts_of(into.rows());
  }
  Said refusal_of(Aggregate figure, std::vector<GroupBy> group_by = {}) {
    Aggregation into = must(Aggregation::create({std::move(figure)}, std::move(group_by)));
    const Status added = add(table_, Scan(), into);
    EXPECT_EQ(said(into.rows()), kInvalidInput) << "figures that lack entities can be read";
    EXPECT_EQ(said(table_.aggregate(Scan(), into)), kInvalidInput) << "more was added after an error";
    return said(added);
  }

  StoreBench bench_;
  Table table_ = bench_.table();
};

// -- Figures ----------------------------------------------------------------------------------------------------------

TEST_F(Aggregates, OfNoEntitiesHaveOneRowOrNoGroup) {
  EXPECT_EQ(rows_of({Aggregate::count(), Aggregate::count("V"), Aggregate::sum("V"), Aggregate::min("V"),
                     Aggregate::max("V"), Aggregate::average("V"), Aggregate::distinct("V")}),
            Rows{"| l0 l0 - - - - l0"});
  EXPECT_EQ(rows_of({Aggregate::count()}, {{"V"}}), Rows());
}

TEST_F(Aggregates, LeaveOutEntitiesWithoutTheProperty) {
  insert("a", 3);
  insert("b", Entity("", "").set("Other", 1));
  insert("c", 5);
  EXPECT_EQ(rows_of({Aggregate::count(), Aggregate::count("V"), Aggregate::sum("V"), Aggregate::min("V"),
                     Aggregate::max("V"), Aggregate::average("V"), Aggregate::distinct("V")}),
            Rows{"| l3 l2 l8 i3 i5 d4 l2"});
}

TEST_F(Aggregates, ReadKeysAndTimestamps) {
  insert("a", 1);
  insert("b", 2);
  const Result<ETag> last = table_.insert(Entity("q", "a"));
  ASSERT_EQ(said(last), kFine);
  EXPECT_EQ(rows_of({Aggregate::max("PartitionKey"), Aggregate::distinct("RowKey"), Aggregate::max("Timestamp")}),
            Rows{"| sq l2 t" + std::to_string(last->timestamp().ticks)});
}

TEST_F(Aggregates, AddIntegersExactlyAndRefuseOnlyASumOutOfRange) {
  insert("a", INT64_MAX);
  insert("b", INT64_MAX);
  insert("c", INT64_MIN);
  EXPECT_EQ(rows_of({Aggregate::sum("V")}), Rows{"| l" + std::to_string(INT64_MAX - 1)});
  insert("d", INT64_MIN);
  insert("e", -7);
  EXPECT_EQ(rows_of({Aggregate::sum("V")}), Rows{"| l-9"});
  Scan only_largest;
  only_largest.filter = "V gt 0L";
  Aggregation into = must(Aggregation::create({Aggregate::sum("V")}));
  ASSERT_EQ(said(add(table_, only_largest, into)), kFine);
  EXPECT_EQ(into.rows().code(), Code::kTooLarge);
  EXPECT_EQ(rows_of({Aggregate::average("V")}, {}, only_largest), Rows{"| d9.2233720368547758e+18"});
  Scan only_smallest;
  only_smallest.filter = "V lt -7L";
  Aggregation low = must(Aggregation::create({Aggregate::sum("V")}));
  ASSERT_EQ(said(add(table_, only_smallest, low)), kFine);
  EXPECT_EQ(low.rows().code(), Code::kTooLarge);
}

TEST_F(Aggregates, OfMixedNumbersAreDoublesAndCompareExactly) {
  insert("a", std::int64_t{9'007'199'254'740'993});  // no Double
  insert("b", 9'007'199'254'740'992.0);
  insert("c", 2);
  EXPECT_EQ(rows_of({Aggregate::max("V"), Aggregate::min("V"), Aggregate::distinct("V")}),
            Rows{"| l9007199254740993 i2 l3"});
  insert("d", 2.5);
  Scan small;
  small.filter = "V lt 3.0 and RowKey gt 'b'";
  EXPECT_EQ(rows_of({Aggregate::sum("V"), Aggregate::average("V")}, {}, small), Rows{"| d4.5 d2.25"});
}

TEST_F(Aggregates, TakeEqualNumbersAsOneValueAndShowTheFirst) {
  insert("a", 1.0);
  insert("b", 1);
  insert("c", std::int64_t{1});
  insert("d", -0.0);
  insert("e", 0);
  EXPECT_EQ(rows_of({Aggregate::distinct("V"), Aggregate::max("V"), Aggregate::min("V")}), Rows{"| l2 d1 d-0"});
  EXPECT_EQ(rows_of({Aggregate::count()}, {{"V"}}), (Rows{"d-0 | l2", "d1 | l3"}));
}

TEST_F(Aggregates, LeaveNaNOutOfTheSmallestAndLargestOnly) {
  insert("a", kNaN);
  EXPECT_EQ(rows_of({Aggregate::min("V"), Aggregate::max("V"), Aggregate::sum("V"), Aggregate::average("V"),
                     Aggregate::count("V"), Aggregate::distinct("V")}),
            Rows{"| - - dnan dnan l1 l1"});
  insert("b", 4.0);
  insert("c", -kNaN);
  insert("d", kInfinity);
  EXPECT_EQ(rows_of({Aggregate::min("V"), Aggregate::max("V"), Aggregate::sum("V"), Aggregate::distinct("V")}),
            Rows{"| d4 dinf dnan l3"});
  EXPECT_EQ(rows_of({Aggregate::count()}, {{"V"}}), (Rows{"d4 | l1", "dinf | l1", "dnan | l2"}));
}

TEST_F(Aggregates, CompareOtherTypesWithThemselves) {
  insert("a", Entity("", "").set("S", "\xF0\x9F\x98\x80").set("B", true).set("D", DateTime{638'000'000'000'000'000}));
  insert("b", Entity("", "").set("S", "\xEF\xBF\xBF").set("B", false).set("D", DateTime{638'000'000'000'000'001}));
  insert("c", Entity("", "").set("G", Guid{{1}}).set("Y", Binary{"\x80"}));
  insert("d", Entity("", "").set("G", Guid{{2}}).set("Y", Binary{"\x7F\x01"}));
  EXPECT_EQ(rows_of({Aggregate::min("S"), Aggregate::max("B"), Aggregate::min("B"), Aggregate::max("D")}),
            Rows{"| s\xF0\x9F\x98\x80 true false t638000000000000001"})
      << "texts compare by UTF-16 code units, as keys do";
  EXPECT_EQ(rows_of({Aggregate::max("G"), Aggregate::max("Y")}), Rows{"| g02000000-0000-0000-0000-000000000000 b\x80"});
}

TEST_F(Aggregates, RefuseValuesWithoutACommonOrderInOneGroup) {
  insert("a", 1);
  insert("b", "text");
  EXPECT_EQ(refusal_of(Aggregate::min("V")), kInvalidInput);
  EXPECT_EQ(refusal_of(Aggregate::max("V")), kInvalidInput);
  EXPECT_EQ(refusal_of(Aggregate::sum("V")), kInvalidInput);
  EXPECT_EQ(refusal_of(Aggregate::average("V")), kInvalidInput);
  EXPECT_EQ(rows_of({Aggregate::min("V"), Aggregate::distinct("V")}, {{"RowKey"}}),
            (Rows{"sa | i1 l1", "sb | stext l1"}));
  EXPECT_EQ(rows_of({Aggregate::distinct("V")}), Rows{"| l2"});
  insert("a", kNaN);
  EXPECT_EQ(refusal_of(Aggregate::min("V")), kInvalidInput) << "a NaN is a number too";
}

TEST_F(Aggregates, RefuseImpossibleRequests) {
  const auto create = [](std::vector<Aggregate> figures, std::vector<GroupBy> group_by = {}) {
    return said(Aggregation::create(std::move(figures), std::move(group_by)));
  };
  EXPECT_EQ(create({}), kInvalidInput);
  EXPECT_EQ(create(std::vector<Aggregate>(limits::kAggregateFiguresMax, Aggregate::count())), kFine);
  EXPECT_EQ(create(std::vector<Aggregate>(limits::kAggregateFiguresMax + 1, Aggregate::count())), kInvalidInput);
  EXPECT_EQ(create({Aggregate::count()}, {{"A"}, {"B"}, {"C"}}), kInvalidInput);
  EXPECT_EQ(create({Aggregate::sum("")}).code, Code::kInvalidArgument);
  EXPECT_EQ(create({Aggregate::sum("no name")}), kPropertyNameInvalid);
  EXPECT_EQ(create({Aggregate::count()}, {{""}}).code, Code::kInvalidArgument);
  EXPECT_EQ(create({Aggregate::count()}, {{"Custom", 3}}), kInvalidInput);
  EXPECT_EQ(create({Aggregate::count()}, {{"RowKey", 3, "!"}}), kInvalidInput);
  EXPECT_EQ(create({Aggregate::count()}, {{"RowKey", 0, "\xFF"}}), kInvalidInput);
  Aggregation into = must(Aggregation::create({Aggregate::count()}));
  Scan wrong;
  wrong.filter = "V eq";
  EXPECT_EQ(said(table_.aggregate(wrong, into)), kInvalidInput);
}

// -- Groups -----------------------------------------------------------------------------------------------------------

TEST_F(Aggregates, GroupByValuesOfAllTypesInOrder) {
  insert("a", "b");
  insert("b", true);
  insert("c", 7);
  insert("d", Entity("", ""));
  insert("e", "B");
  insert("f", DateTime{638'000'000'000'000'000});
  insert("g", -1.5);
  insert("h", Guid{{9}});
  insert("i", Binary{"x"});
  insert("j", kNaN);
  insert("k", false);
  insert("l", Binary{""});
  EXPECT_EQ(rows_of({Aggregate::count()}, {{"V"}}),
            (Rows{"- | l1", "d-1.5 | l1", "i7 | l1", "dnan | l1", "sB | l1", "sb | l1", "t638000000000000000 | l1",
                  "false | l1", "true | l1", "g09000000-0000-0000-0000-000000000000 | l1", "b | l1", "bx | l1"}));
}

TEST_F(Aggregates, GroupByTwoPropertiesThatNeverRunTogether) {
  insert("1", Entity("", "").set("A", "x").set("B", "yz"));
  insert("2", Entity("", "").set("A", "xy").set("B", "z"));
  insert("3", Entity("", "").set("B", "-"));
  insert("4", Entity("", "").set("A", "-"));
  insert("5", Entity("", "").set("A", "x").set("B", "a"));
  EXPECT_EQ(rows_of({Aggregate::count()}, {{"A"}, {"B"}}),
            (Rows{"- s- | l1", "s- - | l1", "sx sa | l1", "sx syz | l1", "sxy sz | l1"}));
}

TEST_F(Aggregates, GroupByTheBeginningsOfKeys) {
  for (const char* row : {"2026-01-30", "2026-01-31", "2026-02-01", "2026", "\xC3\xA9\xC3\xA9!a", "\xC3\xA9\xC3\xA9!b"})
    insert(row, 1);
  EXPECT_EQ(
      rows_of({Aggregate::count()}, {{"RowKey", 7}}),
      (Rows{"s2026 | l1", "s2026-01 | l2", "s2026-02 | l1", "s\xC3\xA9\xC3\xA9!a | l1", "s\xC3\xA9\xC3\xA9!b | l1"}));
  EXPECT_EQ(rows_of({Aggregate::count()}, {{"RowKey", 2}}), (Rows{"s20 | l4", "s\xC3\xA9\xC3\xA9 | l2"}));
  EXPECT_EQ(
      rows_of({Aggregate::count()}, {{"RowKey", 0, "!"}}),
      (Rows{"s2026 | l1", "s2026-01-30 | l1", "s2026-01-31 | l1", "s2026-02-01 | l1", "s\xC3\xA9\xC3\xA9! | l2"}));
  EXPECT_EQ(rows_of({Aggregate::count()}, {{"PartitionKey", 1}, {"RowKey", 0, "-0"}}),
            (Rows{"sp s2026 | l1", "sp s2026-0 | l3", "sp s\xC3\xA9\xC3\xA9!a | l1", "sp s\xC3\xA9\xC3\xA9!b | l1"}));
}

TEST_F(Aggregates, OfLargeValuesAreCountsAlone) {
  const Result<Table> large = bench_.store->create_table(kAccount, "Large", {.has_large_values = true});
  ASSERT_EQ(said(large), kFine);
  table_ = *large;
  Result<LargeValueWriter> writer = table_.write_large_value();
  ASSERT_EQ(said(writer), kFine);
  ASSERT_EQ(said(writer->append("content")), kFine);
  const Result<LargeValue> value = writer->finish();
  ASSERT_EQ(said(value), kFine);
  insert("a", *value);
  EXPECT_EQ(rows_of({Aggregate::count("V")}), Rows{"| l1"});
  EXPECT_EQ(refusal_of(Aggregate::distinct("V")), kInvalidInput);
  EXPECT_EQ(refusal_of(Aggregate::min("V")), kInvalidInput);
  EXPECT_EQ(refusal_of(Aggregate::count(), {{"V"}}), kInvalidInput);
}

// -- Limits -----------------------------------------------------------------------------------------------------------

/// Adds entities that no store holds, until the aggregation refuses one. Returns how many it took.
std::size_t taken(Aggregation& into, std::size_t most, const std::function<ValueView(std::size_t)>& value_of,
                  Code& refusal) {
  for (std::size_t i = 0; i < most; ++i) {
    const PropertyView property{"V", value_of(i)};
    EntityView entity;
    entity.properties = {&property, 1};
    const Status added = into.add(entity);
    refusal = added.code();
    if (!added.ok()) return i;
  }
  return most;
}

TEST(AggregationLimits, BoundGroupsValuesAndBytes) {
  const auto number = [](std::size_t i) { return ValueView(static_cast<std::int64_t>(i)); };
  Code refusal = Code::kOk;
  Aggregation groups = must(Aggregation::create({Aggregate::count()}, {{"V"}}));
  EXPECT_EQ(taken(groups, limits::kAggregateGroupsMax + 2, number, refusal), limits::kAggregateGroupsMax);
  EXPECT_EQ(refusal, Code::kTooLarge);
  EXPECT_EQ(said(groups.rows()), kInvalidInput);

  if (kEffortDivisor == 1) {
    Aggregation different = must(Aggregation::create({Aggregate::distinct("V")}));
    EXPECT_EQ(taken(different, limits::kAggregateDistinctMax + 2, number, refusal), limits::kAggregateDistinctMax);
    EXPECT_EQ(refusal, Code::kTooLarge);
  }

  std::string text(std::size_t{1} << 20, 'x');
  const auto large = [&text](std::size_t i) {
    text[0] = static_cast<char>('0' + i / 64);
    text[1] = static_cast<char>('0' + i % 64);
    return ValueView(std::string_view(text));
  };
  Aggregation values = must(Aggregation::create({Aggregate::distinct("V")}));
  EXPECT_EQ(taken(values, 200, large, refusal), (limits::kAggregateBytesMax >> 20) - 1);
  EXPECT_EQ(refusal, Code::kTooLarge);
  Aggregation largest = must(Aggregation::create({Aggregate::max("V")}));
  EXPECT_EQ(taken(largest, 200, large, refusal), 200u) << "only the largest value is kept";
}

// -- Pages ------------------------------------------------------------------------------------------------------------

TEST_F(Aggregates, GoOnWhereACallEndedByItsTime) {
  for (int i = 0; i < 40; ++i) insert("r" + std::to_string(i), i);
  Scan scan;
  scan.page_time_max = std::chrono::milliseconds(0);
  Aggregation into = must(Aggregation::create({Aggregate::count(), Aggregate::sum("V"), Aggregate::distinct("V")}));
  std::uint64_t calls = 0;
  ASSERT_EQ(said(add(table_, scan, into, &calls)), kFine);
  EXPECT_GT(calls, 1u);
  EXPECT_EQ(texts_of(into.rows()), Rows{"| l40 l780 l40"});
  Scan first;
  first.take = 3;
  EXPECT_EQ(rows_of({Aggregate::count()}, {}, first), Rows{"| l3"});
}

TEST_F(Aggregates, ReadOneSnapshotInAllCalls) {
  for (int i = 0; i < 20; ++i) insert("r" + std::to_string(10 + i), 1);
  Scan scan;
  scan.page_time_max = std::chrono::milliseconds(0);
  const Result<Snapshot> snapshot = bench_.store->snapshot();
  ASSERT_EQ(said(snapshot), kFine);
  scan.read.snapshot = *snapshot;
  Aggregation into = must(Aggregation::create({Aggregate::count(), Aggregate::sum("V")}));
  const Result<Count> part = table_.aggregate(scan, into);
  ASSERT_EQ(said(part), kFine);
  ASSERT_TRUE(part->continuation.has_value());
  insert("r30", 100);
  insert("r29", 100);
  ASSERT_EQ(said(table_.remove("p", "r28", ETag::any())), kFine);
  scan.continuation = *part->continuation;
  ASSERT_EQ(said(add(table_, scan, into)), kFine);
  EXPECT_EQ(texts_of(into.rows()), Rows{"| l20 l20"});
}

TEST_F(Aggregates, SeeOnlyTheIntervalOfARestrictedHandle) {
  for (const char* row : {"a", "b", "c"}) insert(row, 1);
  Access access;
  access.interval = {KeyBound{"p", "b"}, std::nullopt};
  const Result<Table> fenced = table_.restricted_to(access);
  ASSERT_EQ(said(fenced), kFine);
  Aggregation into = must(Aggregation::create({Aggregate::count()}));
  ASSERT_EQ(said(add(*fenced, Scan(), into)), kFine);
  EXPECT_EQ(texts_of(into.rows()), Rows{"| l2"});
}

TEST_F(Aggregates, LeaveOutEndedEntities) {
  const Result<Table> sessions =
      bench_.store->create_table(kAccount, "Sessions", {.expiry = TableExpiry::after(std::chrono::seconds(10))});
  ASSERT_EQ(said(sessions), kFine);
  table_ = *sessions;
  insert("old", 100);
  bench_.machine.clock.advance(std::chrono::seconds(6));
  insert("new", 1);
  EXPECT_EQ(rows_of({Aggregate::count(), Aggregate::max("V")}), Rows{"| l2 i100"});
  bench_.machine.clock.advance(std::chrono::seconds(6));
  EXPECT_EQ(rows_of({Aggregate::count(), Aggregate::max("V")}), Rows{"| l1 i1"});
}

TEST_F(Aggregates, OfATableThatIsGoneAreRefused) {
  ASSERT_EQ(said(bench_.store->drop_table(kAccount, "Orders")), kFine);
  Aggregation into = must(Aggregation::create({Aggregate::count()}));
  EXPECT_EQ(said(table_.aggregate(Scan(), into)), kTableNotFound);
}

TEST_F(Aggregates, OfTasksAreThoseOfCalls) {
  for (int i = 0; i < 3000; i += 100) {  // more than a task examines where it begins
    EntityGroupTransaction group;
    for (int row = i; row < i + 100; ++row) group.insert(Entity("p", std::to_string(row)).set("V", row));
    ASSERT_EQ(said(table_.execute(group)), kFine);
  }
  const AsyncTable async(table_);
  Result<Aggregated> done = wait(async.aggregate(Scan(), must(Aggregation::create({Aggregate::sum("V")}))));
  ASSERT_EQ(said(done), kFine);
  EXPECT_EQ(done->part.entities, 3000u);
  EXPECT_FALSE(done->part.continuation.has_value());
  EXPECT_EQ(texts_of(done->figures.rows()), Rows{"| l4498500"});
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(wait(async.aggregate(Scan(), must(Aggregation::create({Aggregate::count()})), source.get_token())).code(),
            Code::kCancelled);
}

// -- The model --------------------------------------------------------------------------------------------------------

/// A slow fold over entities. A long double of x86 holds all Int64 and all Double exactly.
class Model {
 public:
  static std::optional<long double> number_of(const Value& value) {
    if (const auto* const narrow = value.get_if<std::int32_t>()) return *narrow;
    if (const auto* const wide = value.get_if<std::int64_t>()) return static_cast<long double>(*wide);
    if (const auto* const real = value.get_if<double>()) return *real;
    return std::nullopt;
  }
  static bool are_equal(const std::optional<Value>& a, const std::optional<Value>& b) {
    if (!a || !b) return !a && !b;
    const auto first = number_of(*a);
    const auto second = number_of(*b);
    if (!first || !second) return !first && !second && *a == *b;
    return *first == *second || (std::isnan(*first) && std::isnan(*second));
  }
  static std::optional<Value> value_of(const Entity& entity, const GroupBy& by) {
    if (by.property == "RowKey") return Value(entity.row_key().substr(0, by.characters));
    return found(entity, by.property);
  }
  static std::optional<Value> found(const Entity& entity, const std::string& property) {
    const Value* const value = entity.find(property);
    return value == nullptr ? std::nullopt : std::optional<Value>(*value);
  }

  Model(const std::vector<Entity>& entities, const std::vector<GroupBy>& group_by,
        const std::vector<Aggregate>& figures) {
    std::vector<std::pair<std::vector<std::optional<Value>>, std::vector<const Entity*>>> groups;
    if (group_by.empty()) groups.emplace_back();
    for (const Entity& entity : entities) {
      std::vector<std::optional<Value>> key;
      for (const GroupBy& by : group_by) key.push_back(value_of(entity, by));
      std::size_t at = 0;
      while (at < groups.size() && !std::equal(key.begin(), key.end(), groups[at].first.begin(), are_equal)) ++at;
      if (at == groups.size()) groups.emplace_back(key, std::vector<const Entity*>());
      groups[at].second.push_back(&entity);
    }
    for (const auto& [key, members] : groups) {
      AggregateRow row{key, {}};
      for (const Aggregate& figure : figures) row.figures.push_back(figure_of(members, figure));
      rows.insert(text_of(row));
    }
  }

  std::multiset<std::string> rows;

 private:
  static std::optional<Value> figure_of(const std::vector<const Entity*>& members, const Aggregate& figure) {
    std::vector<Value> values;
    for (const Entity* entity : members) {
      if (figure.property.empty()) {
        values.emplace_back(1);
      } else if (const std::optional<Value> value = found(*entity, figure.property)) {
        values.push_back(*value);
      }
    }
    switch (figure.kind) {
      case Kind::kCount: return Value(static_cast<std::int64_t>(values.size()));
      case Kind::kDistinct: return Value(different(values));
      case Kind::kSum: return values.empty() ? std::nullopt : std::optional<Value>(sum_of(values));
      case Kind::kAverage: {
        if (values.empty()) return std::nullopt;
        const double sum = static_cast<double>(*number_of(sum_of(values)));
        return Value(sum / static_cast<double>(values.size()));
      }
      default: break;
    }
    std::optional<Value> extreme;
    for (const Value& value : values) {
      const long double number = *number_of(value);
      if (std::isnan(number)) continue;
      const long double before = extreme ? *number_of(*extreme) : 0;
      if (!extreme || (figure.kind == Kind::kMin ? number < before : number > before)) extreme = value;
    }
    return extreme;
  }
  static std::int64_t different(const std::vector<Value>& values) {
    std::vector<Value> known;
    for (const Value& value : values) {
      if (std::none_of(known.begin(), known.end(), [&](const Value& other) { return are_equal(value, other); }))
        known.push_back(value);
    }
    return static_cast<std::int64_t>(known.size());
  }
  static Value sum_of(const std::vector<Value>& values) {
    std::int64_t integers = 0;
    double reals = 0;
    bool is_double = false;
    for (const Value& value : values) {
      if (const auto* const real = value.get_if<double>()) {
        reals += *real;
        is_double = true;
      } else {
        integers += static_cast<std::int64_t>(*number_of(value));
      }
    }
    if (!is_double) return integers;
    return static_cast<double>(integers) + reals;
  }
};

TEST_F(Aggregates, AreThoseOfAFoldOverScannedEntities) {
  const std::uint32_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::vector<Value> numbers = {1,
                                      std::int64_t{1},
                                      1.0,
                                      0,
                                      -0.0,
                                      -3,
                                      2.5,
                                      -2.5,
                                      std::int64_t{9'007'199'254'740'993},
                                      9'007'199'254'740'992.0,
                                      kNaN,
                                      kInfinity,
                                      1e300,
                                      1e-9};
  const std::vector<Value> any = {
      1, 1.0, "1", "", true, kNaN, Binary{""}, Binary{"1"}, false, DateTime{638'000'000'000'000'000}, 2.5, Guid{{1}}};
  const auto one_of = [&random](const std::vector<Value>& values) { return values[random() % values.size()]; };
  const auto write = [&] {
    Entity entity("p", std::to_string(random() % 150));
    if (random() % 5 != 0) entity.set("N", one_of(numbers));
    if (random() % 5 != 0) entity.set("I", static_cast<std::int32_t>(random() % 100) - 50);
    if (random() % 5 != 0) entity.set("A", one_of(any));
    if (random() % 4 == 0) {
      (void)table_.remove("p", entity.row_key(), ETag::any());
    } else {
      ASSERT_EQ(said(table_.insert_or_replace(entity)), kFine);
    }
  };
  const std::vector<Aggregate> figures = {Aggregate::count(),      Aggregate::count("A"),   Aggregate::sum("I"),
                                          Aggregate::sum("N"),     Aggregate::average("I"), Aggregate::average("N"),
                                          Aggregate::min("N"),     Aggregate::max("N"),     Aggregate::distinct("A"),
                                          Aggregate::distinct("N")};
  const std::vector<std::vector<GroupBy>> groupings = {
      {}, {{"A"}}, {{"RowKey", 1}}, {{"N"}, {"A"}}, {{"A"}, {"RowKey", 2}}};
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 60; ++i) write();
    if (round == 2) {
      ASSERT_EQ(said(bench_.store->compact()), kFine);
    }
    for (const std::vector<GroupBy>& group_by : groupings) {
      Scan scan;
      if (random() % 2 == 0) scan.filter = "I gt -20 and RowKey lt '5'";
      const Result<Page> page = table_.scan(scan);
      ASSERT_EQ(said(page), kFine);
      if (random() % 2 == 0) scan.page_time_max = std::chrono::milliseconds(0);
      const Rows rows = rows_of(figures, group_by, scan);
      EXPECT_EQ(std::multiset<std::string>(rows.begin(), rows.end()), Model(page->entities, group_by, figures).rows)
          << scan.filter;
    }
  }
}

// -- Memory -----------------------------------------------------------------------------------------------------------

TEST(AggregatesOutOfMemory, AreRefusedAndNeverRead) {
  const std::string large(100, 'x');
  std::vector<PropertyView> properties = {{"V", 1.5}, {"G", std::string_view(large)}};
  EntityView entity;
  entity.properties = properties;
  sweep(
      [&]() -> Status {
        try {  // The arguments are the test's own copies.
          Result<Aggregation> into =
              Aggregation::create({Aggregate::sum("V"), Aggregate::max("G"), Aggregate::distinct("G")}, {{"G"}});
          if (!into.ok()) return into.status();
          const Status added = into->add(entity);
          if (added.ok()) return into->rows().status();
          EXPECT_EQ(said(into->rows()), kInvalidInput);
          return added;
        } catch (const std::bad_alloc&) {
          return Status::out_of_memory();
        }
      },
      [](std::uint64_t) {});
}

}  // namespace
}  // namespace varve::test::aggregate_test
