// Goal: a plan of keys contains every key that the filter matches, and leaves the rest of the condition to be
// evaluated. It takes at most n log n steps for n comparisons.
// Method: random trees of key comparisons with a small set of keys, growing families of filters, and counting of steps
// without a clock.
#include "api/filter/key_plan.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/filter/plan_cache.h"
#include "tests/api/filter/slow_filter.h"
#include "tests/api/store_bench.h"
#include "tests/support/effort.h"
#include "varve/limits.h"

namespace varve::key_plan_test {
namespace {

constexpr format::TableId kTable = format::make_table_id(3, 4);

KeyRange whole() {
  const std::string prefix = format::encode_table(kTable);
  return {prefix, format::end_of_prefix(prefix), false};
}

KeyPlan plan_of(const Filter& filter) {
  return plan_keys(filter, kTable, whole());
}

bool holds_key(const KeyPlan& plan, const std::string& key) {
  return std::any_of(plan.ranges.begin(), plan.ranges.end(),
                     [&](const KeyRange& range) { return range.lower <= key && key < range.upper; });
}

/// Returns a filter of about n comparisons.
using Family = std::function<std::string(int n)>;

std::string name_of(int number) {
  return "'" + std::to_string(100'000 + number) + "'";
}
std::string of_partition(const std::string& compare, int number) {
  return "PartitionKey " + compare + " " + name_of(number);
}
std::string of_row(const std::string& compare, int number) {
  return "RowKey " + compare + " " + name_of(number);
}

/// Returns a list of names from `first` on.
std::string list_of(const std::string& key, int values, int first = 0) {
  std::string text = key + " in (" + name_of(first);
  for (int i = 1; i < values; ++i) text += "," + name_of(first + i);
  return text + ")";
}

/// Returns terms one after another.
std::string row_of(int terms, const std::string& joint, const std::function<std::string(int)>& term) {
  std::string text;
  for (int i = 0; i < terms; ++i) text += (i == 0 ? "" : " " + joint + " ") + term(i);
  return text;
}

/// Returns `inner` nested to the maximum depth.
std::string nested(const std::string& inner, const std::function<std::string(const std::string&, int)>& level) {
  std::string text = inner;
  for (int i = 0; i < 120; ++i) text = level(text, i);
  return text;
}

struct NamedFamily {
  const char* name;
  Family text;
};

const std::vector<NamedFamily>& families() {
  static const std::vector<NamedFamily> all = {
      {"unequal to both",
       [](int n) {
         return row_of(n / 2, "and",
                       [](int i) { return "(" + of_partition("ne", i) + " or " + of_row("ne", i) + ")"; });
       }},
      {"equal to either",
       [](int n) {
         return row_of(n / 2, "and",
                       [](int i) { return "(" + of_partition("eq", i) + " or " + of_row("eq", i) + ")"; });
       }},
      {"stairs",
       [](int n) {
         return row_of(n / 2, "and",
                       [](int i) { return "(" + of_partition("gt", i) + " or " + of_row("lt", i) + ")"; });
       }},
      {"points",
       [](int n) {
         return row_of(n / 2, "or",
                       [](int i) { return of_partition("eq", i * 7919 % 1009) + " and " + of_row("eq", i); });
       }},
      {"overlapping ranges",
       [](int n) {
         return row_of(n / 2, "or", [](int i) { return of_partition("ge", i) + " and " + of_partition("lt", i + 50); });
       }},
      {"partitions by rows",
       [](int n) {
         return "(" + row_of(n / 2, "or", [](int i) { return of_partition("eq", i); }) + ") and (" +
                row_of(n / 2, "or", [](int i) { return of_row("eq", i); }) + ")";
       }},
      {"ranges cut by ranges",
       [](int n) {
         return row_of(n / 8 + 1, "and", [](int i) {
           return "(" +
                  row_of(4, "or",
                         [i](int j) {
                           return of_partition("ge", i + 10 * j) + " and " + of_partition("lt", i + 10 * j + 8);
                         }) +
                  ")";
         });
       }},
      {"and of many with one",
       [](int n) {
         return "(" + row_of(n / 2, "or", [](int i) { return of_row("eq", i); }) + ") and " +
                row_of(n / 2, "and", [](int i) { return of_row("ge", i - 50'000); });
       }},
      {"negations",
       [](int n) { return row_of(n, "and", [](int i) { return "not (" + of_partition("eq", i) + ")"; }); }},
      {"one level after the other",
       [](int n) {
         const int levels = std::min(n / 2, 120);
         std::string text = of_row("eq", 0);
         for (int i = 0; i < levels; ++i) {
           text = "(" + text + " or " + of_row("eq", i) + ") and (" + of_partition("eq", i % 3) + " or " +
                  of_row("lt", i) + ")";
         }
         return text;
       }},
      {"many points deep inside",
       [](int n) {
         const std::string points = row_of(n, "or", [](int i) { return of_partition("eq", i); });
         return nested("(" + points + ")", [](const std::string& text, int i) {
           return i % 2 == 0 ? "(" + text + " and " + of_partition("ge", i - 50'000) + ")"
                             : "(" + text + " or " + of_partition("eq", i) + ")";
         });
       }},
      {"alternatives one inside the other",
       [](int n) {
         std::string text = of_row("eq", 0);
         for (int i = 0; i < std::min(n / 2, 120); ++i)
           text = (i % 2 == 0 ? of_partition("eq", i) + " or (" : of_row("ge", i) + " and (") + text + ")";
         return text;
       }},
      {"points of lists", [](int n) { return list_of("PartitionKey", n / 2) + " and " + list_of("RowKey", n / 2); }},
      {"many lists cut by one another",
       [](int n) {
         return row_of(n / 32 + 1, "and", [](int i) {
           return "(" + list_of("PartitionKey", 16, i) + " or " + list_of("RowKey", 16, i) + ")";
         });
       }},
      {"lists and prefixes one inside the other",
       [](int n) {
         const std::string points = list_of("PartitionKey", n);
         return nested("(" + points + ")", [](const std::string& text, int i) {
           return i % 2 == 0 ? "(" + text + " and startswith(PartitionKey,'1'))"
                             : "(" + text + " or " + list_of("RowKey", 2, i) + ")";
         });
       }},
      {"pairs by pairs",
       [](int n) {
         return row_of(n / 4, "or", [](int i) {
           return "(" + of_partition("eq", i) + " or " + of_partition("eq", i + 1) + ") and (" + of_row("eq", i) +
                  " or " + of_row("eq", i + 1) + ")";
         });
       }},
  };
  return all;
}

TEST(KeyPlan, AFilterThatIsItsOwnResidualIsTaken) {
  for (const char* text : {"A eq 1", "(A eq 1)", " A eq 1", "Timestamp lt datetime'2020-01-01T00:00:00Z'", "A", "true",
                           "PartitionKey eq 'a'", "A gt RowKey", "not (A eq 1)", "A eq 1 and B eq 2", "exists(A)"}) {
    SCOPED_TRACE(text);
    const Filter filter = *Filter::parse(text);
    Filter given = filter;
    const KeyPlan plan = plan_of(filter);
    const KeyPlan taking = plan_keys_taking(given, kTable, whole());
    EXPECT_EQ(taking.ranges, plan.ranges);
    EXPECT_EQ(taking.residual.text(), plan.residual.text());
    EXPECT_EQ(taking.residual.comparison_count(), plan.residual.comparison_count());
    EXPECT_EQ(given.text(), taking.has_whole_residual ? "" : filter.text());
  }
  Filter one = *Filter::parse("A eq 1");
  EXPECT_TRUE(plan_keys_taking(one, kTable, whole()).has_whole_residual);
}

TEST(KeyPlanSteps, GrowNoFasterThanNLogNInEveryFamily) {
  constexpr double kStepsMax = 150;
  for (const NamedFamily& family : families()) {
    for (int n = 4; n <= 2048; n *= 2) {
      const std::string text = family.text(n);
      if (text.size() > limits::kFilterBytesMax) break;
      SCOPED_TRACE(std::string(family.name) + ", " + std::to_string(n));
      const Result<Filter> filter = Filter::parse(text);
      ASSERT_TRUE(filter.ok()) << filter.status().to_string();
      const KeyPlan plan = plan_of(*filter);
      const auto comparisons = static_cast<double>(filter->comparison_count());
      EXPECT_GT(plan.steps, 0U);
      EXPECT_LE(static_cast<double>(plan.steps), kStepsMax * (comparisons + 1) * std::log2(comparisons + 2));
    }
  }
}

TEST(KeyPlanSteps, KeepWhatIsNarrow) {
  const auto ranges_of = [](const std::string& text) { return plan_of(*Filter::parse(text)).ranges.size(); };
  const auto points = [](int i) { return of_partition("eq", i) + " and " + of_row("eq", i); };
  EXPECT_EQ(ranges_of(row_of(600, "or", points)), 600U);
  EXPECT_EQ(ranges_of("(" + row_of(50, "or", [](int i) { return of_partition("eq", i); }) + ") and (" +
                      row_of(50, "or", [](int i) { return of_row("eq", i); }) + ")"),
            2500U);
  const std::string explosive =
      row_of(200, "and", [](int i) { return "(" + of_partition("gt", i) + " or " + of_row("lt", i) + ")"; });
  const KeyPlan narrowed = plan_of(*Filter::parse(explosive + " and PartitionKey eq '100300'"));
  ASSERT_EQ(narrowed.ranges.size(), 1U);
  EXPECT_EQ(narrowed.ranges[0].lower, *format::encode_partition(kTable, "100300"));
}

/// Returns a tree of at most `depth` levels with wide rows, so that it has more boxes than a plan may contain.
std::string random_tree(test::RandomEngine& random, int depth) {
  const auto below = [&random](std::uint64_t limit) { return random() % limit; };
  if (depth == 0 || below(6) == 0) {
    static const std::vector<std::string> kOperators = {"eq", "ne", "gt", "ge", "lt", "le"};
    const std::string operand =
        below(40) == 0 ? "5"
                       : "'" + std::string(below(3), 'a') + std::string(1, static_cast<char>('a' + below(4))) + "'";
    const std::string key = below(2) == 0 ? "PartitionKey" : "RowKey";
    switch (below(8)) {
      case 0: return key + " in (" + operand + ",'a','" + std::string(below(3), 'b') + "')";
      case 1: return "startswith(" + key + ",'" + std::string(below(3), 'a') + "')";
      case 2: return "equals_ignoring_case(" + key + ",'" + std::string(below(3), 'A') + "')";
      case 3: return below(2) == 0 ? "PartitionKey lt RowKey" : "not contains(" + key + ",'b')";
      default: return key + " " + kOperators[below(kOperators.size())] + " " + operand;
    }
  }
  if (below(10) == 0) return "not (" + random_tree(random, depth - 1) + ")";
  const std::string joint = below(2) == 0 ? "and" : "or";
  const auto terms = static_cast<int>(2 + below(depth > 2 ? 12 : 4));
  return row_of(terms, joint, [&](int) { return "(" + random_tree(random, depth - 1) + ")"; });
}

TEST(KeyPlanModel, HoldsEveryMatchAndItsResidualSaysTheRest) {
  constexpr std::uint64_t kSeed = 2028;
  SCOPED_TRACE(kSeed);
  test::RandomEngine random(kSeed);
  std::vector<std::string> keys = {""};
  for (const std::string prefix : {"", "a", "aa"}) {
    for (const char last : {'a', 'b', 'c', 'd', 'e'}) keys.push_back(prefix + last);
  }
  std::uint64_t matched = 0;
  std::uint64_t left_out = 0;
  for (int round = 0; round < test::effort(1500); ++round) {
    const std::string text = random_tree(random, 1 + static_cast<int>(random() % 4));
    if (text.size() > limits::kFilterBytesMax) continue;
    const Result<Filter> filter = Filter::parse(text);
    ASSERT_TRUE(filter.ok()) << text << ": " << filter.status().to_string();
    const KeyPlan plan = plan_of(*filter);
    for (std::size_t i = 1; i < plan.ranges.size(); ++i) ASSERT_LE(plan.ranges[i - 1].upper, plan.ranges[i].lower);
    for (const std::string& partition_key : keys) {
      for (const std::string& row_key : keys) {
        const FilterSubject subject{partition_key, row_key, 0, {}};
        const bool matches = filter->matches(subject);
        const bool held = holds_key(plan, *format::encode_sort_key(kTable, partition_key, row_key));
        ASSERT_EQ(held && plan.residual.matches(subject), matches)
            << text << "\nof '" << partition_key << "', '" << row_key << "', residual " << plan.residual.text();
        matched += matches ? 1 : 0;
        left_out += held ? 0 : 1;
      }
    }
    const std::string& partition_key = keys[random() % keys.size()];
    const KeyPlan of_one = plan_keys(*filter, kTable, keys_in(kTable, ScanRange::partition(partition_key)));
    for (const std::string& row_key : keys) {
      const FilterSubject subject{partition_key, row_key, 0, {}};
      const bool held = holds_key(of_one, *format::encode_sort_key(kTable, partition_key, row_key));
      ASSERT_EQ(held && of_one.residual.matches(subject), filter->matches(subject))
          << text << "\nof '" << row_key << "' in partition '" << partition_key << "', residual "
          << of_one.residual.text();
    }
  }
  EXPECT_GT(matched, 1000U);
  EXPECT_GT(left_out, 1000U);
}

TEST(KeyPlan, ConditionsOnRowKeysNarrowARangeOfOnePartition) {
  const KeyRange partition = keys_in(kTable, ScanRange::partition("p"));
  const auto planned = [&](const std::string& text) { return plan_keys(*Filter::parse(text), kTable, partition); };
  const auto key = [](const std::string& row_key) { return *format::encode_sort_key(kTable, "p", row_key); };
  const KeyPlan between = planned("RowKey ge 'b' and RowKey lt 'd'");
  ASSERT_EQ(between.ranges.size(), 1U);
  EXPECT_EQ(between.ranges.front(), (KeyRange{key("b"), key("d"), false}));
  EXPECT_TRUE(between.residual.matches_everything());
  const KeyPlan points = planned("RowKey in ('a','c') and A eq 1");
  ASSERT_EQ(points.ranges.size(), 2U);
  EXPECT_TRUE(points.ranges.front().is_point && points.ranges.back().is_point);
  EXPECT_EQ(points.ranges.back().lower, key("c"));
  EXPECT_EQ(points.residual.text(), "A eq 1");
  EXPECT_TRUE(planned("PartitionKey eq 'q' and RowKey eq 'a'").ranges.empty());
  const KeyPlan either = planned("PartitionKey eq 'q' and RowKey eq 'a' or RowKey eq 'b'");
  ASSERT_EQ(either.ranges.size(), 1U);
  EXPECT_EQ(either.ranges.front().lower, key("b"));
  EXPECT_EQ(planned("A eq 1 and B eq 2").ranges, (std::vector<KeyRange>{partition}));
}

TEST(KeptPlans, OfALongFilterAreThoseOfThePartition) {
  test::StoreBench bench;
  Table table = bench.table();
  for (const std::string partition_key : {"p", "q"}) {
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(table.insert(Entity(partition_key, std::to_string(100 + i))).ok());
  }
  Scan scan;
  scan.filter = row_of(60, "or", [](int i) { return "RowKey eq '" + std::to_string(120 + i) + "'"; });
  scan.page_entities_max = 7;
  for (const ScanRange& range : {ScanRange::partition("p"), ScanRange::whole_table(), ScanRange::partition("q"),
                                 ScanRange::rows("p", "130", "135"), ScanRange::partition("p")}) {
    scan.range = range;
    scan.continuation.clear();
    std::size_t found = 0;
    std::uint64_t examined = 0;
    for (bool more = true; more;) {
      const Result<Page> page = table.scan(scan);
      ASSERT_TRUE(page.ok()) << page.status().to_string();
      for (const Entity& entity : page->entities) {
        EXPECT_TRUE(range.partition_key().empty() || entity.partition_key() == range.partition_key());
      }
      found += page->entities.size();
      examined += page->cost.entities_examined;
      more = page->continuation.has_value();
      if (more) scan.continuation = *page->continuation;
    }
    const bool is_table = range.kind() == ScanRange::Kind::kTable;
    const std::size_t expected = range.kind() == ScanRange::Kind::kRows ? 5 : is_table ? 40 : 20;
    EXPECT_EQ(found, expected);
    if (is_table) continue;
    EXPECT_EQ(examined, expected) << "it reads no other entity of the partition";
  }
}

TEST(KeptPlans, ServeEveryPageOfAScan) {
  test::StoreBench bench;
  Table table = bench.table();
  for (int i = 0; i < 40; ++i)
    ASSERT_TRUE(table.insert(Entity("p" + std::to_string(i % 4), std::to_string(100 + i)).set("N", i)).ok());
  const std::string text = "N ge 4 and (" +
                           row_of(60, "or",
                                  [](int i) {
                                    return "PartitionKey eq 'p" + std::to_string(i % 3) + "' and RowKey eq '" +
                                           std::to_string(100 + i) + "'";
                                  }) +
                           ")";
  std::vector<std::string> expected;
  for (int i = 4; i < 40; ++i) {
    if (i % 3 == i % 4) expected.push_back("p" + std::to_string(i % 3) + "/" + std::to_string(100 + i));
  }
  std::sort(expected.begin(), expected.end());
  for (const bool backward : {false, true}) {
    std::vector<std::string> found;
    Scan scan;
    scan.filter = text;
    scan.page_entities_max = 2;
    scan.backward = backward;
    for (bool more = true; more;) {
      const Result<Page> page = table.scan(scan);
      ASSERT_TRUE(page.ok()) << page.status().to_string();
      for (const std::string& key : test::keys_of(*page)) found.push_back(key);
      more = page->continuation.has_value();
      if (more) scan.continuation = *page->continuation;
    }
    if (backward) std::reverse(found.begin(), found.end());
    EXPECT_EQ(found, expected);
  }
}

TEST(KeptPlans, AreFoundByTextAndTableAndAreBounded) {
  PlanCache cache;
  const auto planned = [](const std::string& text, format::TableId table) {
    auto made = std::make_shared<PlannedFilter>();
    made->text = text;
    made->table = table;
    return made;
  };
  const auto text_of = [](std::size_t i) { return std::string(PlanCache::kTextBytesMin, 'x') + std::to_string(i); };
  cache.keep(planned(text_of(0), 1));
  cache.keep(planned(text_of(0), 2));
  EXPECT_EQ(cache.find(text_of(0), 1)->table, 1U);
  EXPECT_EQ(cache.find(text_of(0), 2)->table, 2U);
  EXPECT_EQ(cache.find(text_of(0), 3), nullptr);
  auto of_partition = planned(text_of(0), 1);
  of_partition->partition = "p";
  cache.keep(of_partition);
  EXPECT_EQ(cache.find(text_of(0), 1, "p"), of_partition);
  EXPECT_NE(cache.find(text_of(0), 1), of_partition);
  EXPECT_EQ(cache.find(text_of(0), 1, "q"), nullptr);
  EXPECT_NE(cache.find(text_of(0)), nullptr);
  EXPECT_EQ(cache.find(text_of(1)), nullptr);
  for (std::size_t i = 1; i <= PlanCache::kPlansMax; ++i) cache.keep(planned(text_of(i), 1));
  EXPECT_EQ(cache.find(text_of(0)), nullptr) << "the oldest made room";
  EXPECT_NE(cache.find(text_of(PlanCache::kPlansMax)), nullptr);
  auto large = planned(text_of(99), 1);
  large->plan.ranges.push_back({std::string(PlanCache::kPlanBytesMax, 'l'), "u", false});
  cache.keep(large);
  EXPECT_EQ(cache.find(text_of(99)), nullptr);
}

}  // namespace
}  // namespace varve::key_plan_test
