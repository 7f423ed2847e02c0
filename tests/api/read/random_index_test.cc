// Goal: the result of a query never depends on which indexes exist (I6), in any order, and an index is never another than
// its table's (I1), also after writes between.
// Method: random filters and orders over entities without a schema: several types in a property, none, NaN, empty and long
// texts, extremes. Each query, the borders of its pages, its count and its figures are asked with every subset of random
// indexes, which carry random properties, and of a slow evaluation. A few thousand
// comparisons run every time, and a million in the long test (tools/soak --queries).
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/filter/slow_filter.h"
#include "tests/api/store_bench.h"
#include "tests/support/effort.h"
#include "varve/aggregate.h"
#include "varve/table_index.h"
#include "varve/verify.h"

namespace varve::random_index_test {
namespace {

using namespace test;

using Texts = std::vector<std::string>;

constexpr std::size_t kIndexes = 3;
constexpr std::size_t kQueriesAtOnce = 20;
constexpr std::array<const char*, 7> kNames = {"A", "B", "C", "D", "PartitionKey", "RowKey", "Timestamp"};

/// Returns values of each type, among them the least and the greatest.
std::vector<Value> make_values() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::string long_text(256, 'k');  // as many bytes as an entry has of a value
  std::vector<Value> values = {true, false};
  for (const std::int32_t number : {INT32_MIN, -1, 0, 3, INT32_MAX}) values.emplace_back(number);
  for (const std::int64_t number : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, std::int64_t{3},
                                    std::int64_t{9'007'199'254'740'993}, INT64_MAX}) {
    values.emplace_back(number);
  }
  for (const double number : {-kInfinity, std::numeric_limits<double>::lowest(), -1.0, -0.0, 0.0,
                              std::numeric_limits<double>::denorm_min(), 3.0, 3.5, 9'007'199'254'740'992.0,
                              9'223'372'036'854'775'808.0, kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
    values.emplace_back(number);
  }
  for (const std::uint64_t ticks :
       {limits::kDateTimeTicksMin, std::uint64_t{638'000'000'000'000'000}, limits::kDateTimeTicksMax}) {
    values.emplace_back(DateTime{ticks});
  }
  for (const char* guid : {"00000000-0000-0000-0000-000000000000", "00000000-0000-0000-8000-000000000000",
                           "ffffffff-ffff-ffff-ffff-ffffffffffff"}) {
    values.emplace_back(*Guid::parse(guid));
  }
  for (const std::string& text : {std::string(), std::string("a"), std::string("ab"), std::string("B"),
                                  std::string("\x01"), std::string("\xEF\xBF\xBD"), std::string("\xF0\x9F\x98\x80"),
                                  long_text, long_text + "x", long_text + "y", long_text.substr(1) + "\xC3\xA9"}) {
    values.emplace_back(text);
  }
  for (const std::string& bytes : {std::string(), std::string(1, '\0'), std::string("\0\1", 2), std::string("\xFF"),
                                   std::string(256, '\xFF'), std::string(300, '\xFF')}) {
    values.emplace_back(Binary{bytes});
  }
  return values;
}

/// Returns few values, so that many entities have equal ones: numbers that are equal in an order, and texts with one beginning.
std::vector<Value> make_equal_values() {
  const std::string long_text(256, 'k');
  return {std::int32_t{3}, std::int64_t{3}, 3.0, 0.0, -0.0, "a", long_text, long_text + "x", long_text + "y"};
}

struct Query {
  SlowFilter filter;
  Scan scan;
  /// The property of the figures, and that of the groups, if there are groups.
  std::string figured;
  std::string grouped;
};

/// Returns the entity with its properties in their order, the keys and the ETag.
std::string text_of(const Entity& entity) {
  std::string text = entity.partition_key() + "/" + entity.row_key() + " " + entity.etag().to_string();
  for (const Property& property : entity.properties()) text += " " + property.name + "=" + literal_text(property.value);
  return text;
}
/// Returns the entity with the selected properties, in the order of the names; with all of them if none is selected.
Entity selected(const Entity& entity, const Texts& select) {
  if (select.empty()) return entity;
  Entity made(entity.partition_key(), entity.row_key());
  made.set_etag(entity.etag());
  for (const std::string& name : select) {
    if (const Value* const value = entity.find(name)) made.set(name, *value);
  }
  return made;
}

class RandomIndexes {
 public:
  explicit RandomIndexes(std::uint64_t seed) : random_(seed) {
    (void)bench_.table();
    for (std::size_t i = 0; i < kIndexes; ++i) definitions_[i] = random_definition(i);
  }

  /// Makes at least so many comparisons.
  void compare(std::uint64_t comparisons) {
    ASSERT_NO_FATAL_FAILURE(write(150));
    while (compared_ < comparisons) {
      ASSERT_NO_FATAL_FAILURE(write(10));
      if (one_in(4)) {
        ASSERT_EQ(said(bench_.store->compact()), kFine);
      }
      if (one_in(6)) bench_.open();
      ASSERT_NO_FATAL_FAILURE(ask_with_every_subset());
      ASSERT_NO_FATAL_FAILURE(redefine(below(kIndexes)));
    }
    bench_.store.reset();
    const Result<VerifyReport> report = Store::verify(kStorePath, bench_.options());
    ASSERT_EQ(said(report), kFine);
    EXPECT_TRUE(report->sound()) << report->findings.front();
  }
  std::uint64_t taken() const { return taken_; }
  /// How often an index had the order of a query.
  std::uint64_t ordered() const { return ordered_; }
  std::uint64_t returned() const { return returned_; }
  /// How many entities an index counted alone, and how many it showed.
  std::uint64_t known() const { return known_; }
  std::uint64_t covered() const { return covered_; }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  bool one_in(std::size_t times) { return below(times) == 0; }
  Table table() { return *bench_.store->open_table(kAccount, "Orders"); }
  const Value& some_value() {
    static const std::vector<Value> values = make_values();
    static const std::vector<Value> equal_values = make_equal_values();
    return one_in(2) ? equal_values[below(equal_values.size())] : values[below(values.size())];
  }
  std::string some_text() {
    constexpr std::array<const char*, 6> kTexts = {"", "a", "B", "ab", "\xEF\xBF\xBD", "\xF0\x9F\x98\x80"};
    return kTexts[below(kTexts.size())];
  }

  IndexDefinition random_definition(std::size_t number) {
    IndexDefinition definition{"Index" + std::to_string(number), {}, {}};
    for (std::size_t left = 1 + below(3); left > 0; --left) {
      const std::string name = one_in(4) ? "Timestamp" : kNames[below(kNames.size())];
      const auto has_name = [&name](const IndexComponent& component) { return component.property == name; };
      if (std::any_of(definition.components.begin(), definition.components.end(), has_name)) continue;
      definition.components.push_back({name, one_in(2)});
    }
    if (one_in(3)) return definition;
    definition.carried = {"Missing"};
    for (std::size_t name = 0; name < 4; ++name) {
      if (!one_in(3)) definition.carried.emplace_back(kNames[name]);
    }
    return definition;
  }
  void toggle(std::size_t index) {
    const Status changed = exists_[index] ? bench_.store->drop_index(kAccount, "Orders", definitions_[index].name)
                                          : bench_.store->create_index(kAccount, "Orders", definitions_[index]);
    ASSERT_EQ(said(changed), kFine) << changed.to_string();
    exists_[index] = !exists_[index];
  }
  void redefine(std::size_t index) {
    if (exists_[index]) {
      ASSERT_NO_FATAL_FAILURE(toggle(index));
    }
    definitions_[index] = random_definition(index);
    ASSERT_NO_FATAL_FAILURE(toggle(index));
  }

  void write(int writes) {
    Table table = this->table();
    for (int i = 0; i < writes; ++i) {
      Entity entity{some_text() + some_text(), some_text() + some_text()};
      for (std::size_t name = 0; name < 4; ++name) {
        if (!one_in(4)) entity.set(kNames[name], some_value());
      }
      Status done;
      switch (below(6)) {
        case 0: done = table.remove(entity.partition_key(), entity.row_key(), ETag::any()); break;
        case 1: done = table.insert_or_merge(entity).status(); break;
        case 2:
          done =
              table.insert_or_patch(Patch(entity.partition_key(), entity.row_key()).remove("A").set("B", some_value()))
                  .status();
          break;
        default: done = table.insert_or_replace(entity).status(); break;
      }
      ASSERT_TRUE(done.ok() || done.code() == Code::kNotFound) << done.to_string();
    }
  }

  SlowFilter comparison(const std::string& name) {
    constexpr std::array<const char*, 8> kOperators = {"eq", "eq", "eq", "ge", "gt", "le", "lt", "ne"};
    SlowFilter filter;
    filter.kind = SlowFilter::Kind::kComparison;
    filter.property = name;
    filter.operator_name = kOperators[below(kOperators.size())];
    filter.literal = name.ends_with("Key") ? Value(some_text() + some_text()) : some_value();
    if (name == "Timestamp" && !times_.empty() && !one_in(6)) filter.literal = times_[below(times_.size())];
    const double* const number = filter.literal.get_if<double>();
    const bool is_word = number != nullptr && (std::isnan(*number) || std::isinf(*number));
    filter.mirrored = !is_word && one_in(4);  // On the left side, NaN and INF would be names.
    return filter;
  }
  /// Returns a condition on the property that an index can serve by several ranges.
  SlowFilter choice(const std::string& name) {
    if (one_in(3)) {
      SlowFilter either = joined(SlowFilter::Kind::kOr, comparison(name), comparison(name));
      if (one_in(3)) either = joined(SlowFilter::Kind::kOr, std::move(either), choice(name));
      return either;
    }
    SlowFilter filter;
    filter.property = name;
    if (one_in(2)) {
      filter.kind = SlowFilter::Kind::kList;
      for (std::size_t left = 1 + below(5); left > 0; --left) filter.values.push_back(comparison(name).literal);
      return filter;
    }
    constexpr std::array<const char*, 6> kFunctions = {"startswith", "startswith",           "startswith",
                                                       "contains",   "equals_ignoring_case", "exists"};
    filter.kind = SlowFilter::Kind::kFunction;
    filter.function_name = kFunctions[below(kFunctions.size())];
    filter.literal = some_text();
    return filter;
  }
  SlowFilter condition(const std::string& name) { return one_in(3) ? choice(name) : comparison(name); }
  static SlowFilter joined(SlowFilter::Kind kind, SlowFilter left, SlowFilter right) {
    SlowFilter filter;
    filter.kind = kind;
    filter.children = {std::move(left), std::move(right)};
    return filter;
  }
  /// Gives comparisons some of the values above.
  void use_values(SlowFilter& filter) {
    for (SlowFilter& child : filter.children) use_values(child);
    if (filter.kind == SlowFilter::Kind::kComparison && one_in(2)) filter = comparison(kNames[below(kNames.size())]);
    if (filter.kind == SlowFilter::Kind::kList && one_in(2)) filter.values.push_back(some_value());
  }
  /// Most filters compare each component of some index.
  SlowFilter random_query_filter() {
    SlowFilter filter = random_filter(random_, one_in(2) ? 1 : 3);
    use_values(filter);
    if (one_in(6)) return filter;
    if (one_in(2)) filter = comparison(kNames[below(kNames.size())]);
    for (const IndexComponent& component : definitions_[below(kIndexes)].components) {
      filter = joined(SlowFilter::Kind::kAnd, condition(component.property), std::move(filter));
      if (one_in(3)) filter = joined(SlowFilter::Kind::kAnd, condition(component.property), std::move(filter));
    }
    return filter;
  }
  /// Half of the orders are those of an index from one of its components on, forward or backward. Others may follow.
  std::string random_order() {
    constexpr std::array<const char*, 6> kOrdered = {"A", "B", "C", "RowKey", "PartitionKey", "Timestamp"};
    std::vector<IndexComponent> order;
    if (one_in(2)) {
      order = definitions_[below(kIndexes)].components;
      order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(below(order.size())));
      const bool is_backward = one_in(2);
      for (IndexComponent& component : order) component.is_descending = component.is_descending != is_backward;
    }
    while (order.empty() || (order.size() < 3 && one_in(2))) {
      const std::string name = kOrdered[below(kOrdered.size())];
      const auto has_name = [&name](const IndexComponent& component) { return component.property == name; };
      if (std::none_of(order.begin(), order.end(), has_name)) order.push_back({name, one_in(2)});
    }
    std::string text;
    for (const IndexComponent& component : order) {
      text += (text.empty() ? "" : ",") + component.property + (component.is_descending ? " desc" : "");
    }
    return text;
  }
  /// Most selections have only names that some index has.
  Texts random_selection() {
    Texts names(kNames.begin(), kNames.end());
    if (!one_in(4)) {
      const IndexDefinition& definition = definitions_[below(kIndexes)];
      names = definition.carried;
      for (const IndexComponent& component : definition.components) names.push_back(component.property);
    }
    Texts select;
    for (std::size_t left = 1 + below(3); left > 0; --left) select.push_back(names[below(names.size())]);
    return select;
  }
  Query random_query() {
    Query query;
    query.filter = random_query_filter();
    query.scan.filter = query.filter.text();
    if (one_in(3)) query.scan.order_by = random_order();
    query.scan.backward = query.scan.order_by.empty() && one_in(2);
    const bool has_order = !query.scan.order_by.empty();
    if (one_in(has_order ? 2 : 4)) query.scan.page_entities_max = static_cast<std::uint32_t>(1 + below(7));
    if (one_in(4)) query.scan.take = below(12);
    if (one_in(4)) query.scan.range = ScanRange::partition(some_text() + some_text());
    if (one_in(4)) query.scan.page_bytes_max = 20 + below(400);
    if (one_in(2)) query.scan.read.select = random_selection();
    query.figured = kNames[below(kNames.size())];
    if (one_in(2)) query.grouped = kNames[below(kNames.size())];
    return query;
  }

  /// `borders` receives how many entities come before each page but the first. A token may name an entity that does not match,
  /// if no index leads past it. So a page without entities may follow the last ones, and counts for nothing.
  Texts answer(const Query& query, Texts* borders = nullptr) {
    Texts found;
    Scan scan = query.scan;
    const Table table = this->table();
    for (;;) {
      const Result<Page> page = table.scan(scan);
      EXPECT_EQ(said(page), kFine) << query.scan.filter << ": " << page.status().to_string();
      if (!page.ok()) return found;
      for (const Entity& entity : page->entities) found.push_back(text_of(entity));
      covered_ += page->entities.size() - std::min(page->entities.size(), page->cost.entities_examined);
      if (!page->continuation) {
        if (borders != nullptr && !borders->empty() && borders->back() == std::to_string(found.size()))
          borders->pop_back();
        return found;
      }
      scan.continuation = *page->continuation;
      // An index may end a page with an order earlier.
      if (borders != nullptr && scan.order_by.empty()) borders->push_back(std::to_string(found.size()));
    }
  }
  /// Returns the figures over the entities of the query, or the code of their error.
  Texts figures(const Query& query) {
    Scan scan = query.scan;
    scan.order_by.clear();
    const std::string& of = query.figured;
    std::vector<Aggregate> wanted{Aggregate::count(), Aggregate::count(of), Aggregate::distinct(of),
                                  Aggregate::max(of)};
    if (query.scan.backward) wanted.pop_back();  // Values that do not compare have no largest one.
    std::vector<GroupBy> groups;
    if (!query.grouped.empty()) groups.push_back({query.grouped});
    Aggregation aggregation = *Aggregation::create(std::move(wanted), std::move(groups));
    const Result<Count> counted = table().aggregate(scan, aggregation);
    if (!counted.ok()) return {std::to_string(static_cast<int>(counted.code()))};
    EXPECT_FALSE(counted->continuation);
    known_ += counted->entities - std::min(counted->entities, counted->cost.entities_examined);
    const Result<std::vector<AggregateRow>> rows = aggregation.rows();
    EXPECT_EQ(said(rows), kFine);
    Texts found;
    for (const AggregateRow& row : *rows) {
      std::string text;
      for (const auto* const values : {&row.group, &row.figures}) {
        for (const std::optional<Value>& value : *values) text += (value ? literal_text(*value) : "none") + " ";
      }
      found.push_back(std::move(text));
    }
    return found;
  }
  void expect_count(const Query& query, std::uint64_t expected) {
    Scan scan = query.scan;
    scan.order_by.clear();
    const Result<Count> counted = table().count(scan);
    ASSERT_EQ(said(counted), kFine) << told_of(query);
    ASSERT_FALSE(counted->continuation);
    ASSERT_EQ(counted->entities, expected) << told_of(query);
  }
  /// Returns the entities that a slow evaluation finds, in the order of keys.
  static Texts slow_answer(const Query& query, const std::vector<Entity>& all) {
    Texts found;
    for (const Entity& entity : all) {
      const bool is_inside = query.scan.range.kind() == ScanRange::Kind::kTable ||
                             query.scan.range.partition_key() == entity.partition_key();
      if (is_inside && query.filter.matches(entity)) found.push_back(text_of(selected(entity, query.scan.read.select)));
    }
    return found;
  }
  /// Compares an answer with that of a slow evaluation: all of it, or as many as the query takes.
  void expect_slow_answer(const Query& query, Texts found, const std::vector<Entity>& all) {
    Texts expected = slow_answer(query, all);
    const std::string told = told_of(query);
    if (query.scan.take && *query.scan.take < expected.size()) {
      ASSERT_EQ(found.size(), *query.scan.take) << told;
      return;
    }
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(found, expected) << told;
  }
  void note_plan(const Query& query) {
    const Result<ScanPlan> plan = table().explain(query.scan);
    ASSERT_EQ(said(plan), kFine) << query.scan.filter;
    for (const IndexCandidate& candidate : plan->indexes) taken_ += candidate.is_taken ? 1U : 0U;
    ordered_ += plan->order_index.empty() ? 0U : 1U;
  }
  std::string existing() const {
    std::string names;
    for (std::size_t i = 0; i < kIndexes; ++i) {
      if (!exists_[i]) continue;
      names += " " + definitions_[i].name + ":";
      for (const IndexComponent& component : definitions_[i].components) {
        names += " " + component.property + (component.is_descending ? " desc" : "");
      }
      for (const std::string& carried : definitions_[i].carried) names += " +" + carried;
    }
    return names;
  }

  std::string told_of(const Query& query) const {
    std::string told = query.scan.filter + "\norder '" + query.scan.order_by + "'";
    if (query.scan.backward) told += " backward";
    told += " figures of " + query.figured + " by '" + query.grouped + "'";
    if (query.scan.take) told += " take " + std::to_string(*query.scan.take);
    told += " pages of " + std::to_string(query.scan.page_entities_max) + " and " +
            std::to_string(query.scan.page_bytes_max) + " bytes, select";
    for (const std::string& name : query.scan.read.select) told += " " + name;
    if (query.scan.range.kind() == ScanRange::Kind::kPartition)
      told += " in '" + query.scan.range.partition_key() + "'";
    return told + "\nwith" + existing();
  }

  void ask_with_every_subset() {
    const Result<Page> all = table().scan(Scan());
    ASSERT_EQ(said(all), kFine);
    ASSERT_FALSE(all->continuation) << "the slow evaluation reads one page";
    times_.clear();
    for (const Entity& entity : all->entities) times_.emplace_back(entity.timestamp());
    std::vector<Query> queries;
    std::vector<Texts> expected;
    std::vector<Texts> expected_borders(kQueriesAtOnce);
    std::vector<Texts> expected_figures;
    for (std::size_t i = 0; i < kQueriesAtOnce; ++i) {
      queries.push_back(random_query());
      expected.push_back(answer(queries.back(), &expected_borders[i]));
      expected_figures.push_back(figures(queries.back()));
      ASSERT_NO_FATAL_FAILURE(expect_count(queries.back(), expected.back().size()));
      returned_ += expected.back().size();
      ASSERT_NO_FATAL_FAILURE(expect_slow_answer(queries.back(), expected.back(), all->entities));
    }
    // Each step of this code changes one index, and the last one leads back to the first subset.
    constexpr std::size_t kSubsets = std::size_t{1} << kIndexes;
    for (std::size_t step = 1; step <= kSubsets; ++step) {
      ASSERT_NO_FATAL_FAILURE(toggle(std::min(kIndexes - 1, static_cast<std::size_t>(std::countr_zero(step)))));
      for (std::size_t i = 0; i < kQueriesAtOnce; ++i) {
        Texts borders;
        ASSERT_EQ(answer(queries[i], &borders), expected[i]) << told_of(queries[i]);
        ASSERT_EQ(borders, expected_borders[i]) << told_of(queries[i]);
        ++compared_;
        if (one_in(2)) {
          ASSERT_EQ(figures(queries[i]), expected_figures[i]) << told_of(queries[i]);
        } else {
          ASSERT_NO_FATAL_FAILURE(expect_count(queries[i], expected[i].size()));
        }
        if (one_in(8) || !queries[i].scan.order_by.empty()) {
          ASSERT_NO_FATAL_FAILURE(note_plan(queries[i]));
        }
      }
    }
  }

  RandomEngine random_;
  StoreBench bench_;
  std::array<IndexDefinition, kIndexes> definitions_;
  std::array<bool, kIndexes> exists_{};
  std::vector<Value> times_;  // the Timestamps of the entities
  std::uint64_t compared_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t ordered_ = 0;
  std::uint64_t returned_ = 0;
  std::uint64_t known_ = 0;
  std::uint64_t covered_ = 0;
};

void expect_the_same(std::uint64_t seed, std::uint64_t comparisons) {
  SCOPED_TRACE(seed);
  RandomIndexes indexes(seed);
  ASSERT_NO_FATAL_FAILURE(indexes.compare(comparisons));
  EXPECT_GT(indexes.taken(), 0U);
  EXPECT_GT(indexes.ordered(), 0U);
  EXPECT_GT(indexes.returned(), 0U);
  EXPECT_GT(indexes.known(), 0U);
  EXPECT_GT(indexes.covered(), 0U);
}

TEST(RandomIndex, I6_EverySubsetOfIndexesGivesTheSameResults) {
  expect_the_same(20'261'130, effort<std::uint64_t>(2000));
}

/// A million comparisons in twenty parts, so that each part stays within the time limit of a test.
class RandomIndexSoak : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomIndexSoak, I6_EverySubsetOfIndexesGivesTheSameResults) {
  expect_the_same(1000 + GetParam(), 1'000'000 / 20);
}

INSTANTIATE_TEST_SUITE_P(Parts, RandomIndexSoak, ::testing::Range<std::uint64_t>(1, 1 + effort<std::uint64_t>(20)));

}  // namespace
}  // namespace varve::random_index_test
