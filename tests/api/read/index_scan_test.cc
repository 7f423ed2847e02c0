// Goal: the result of a query never depends on which indexes exist (I6), and comes in the order of keys (I7).
// Method: two tables with the same entities, one with indexes. Random filters, ranges, pages and directions give the same
// entities from both. The values are few, of several types, so that filters often match.
#include "api/read/index_scan.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "api/filter/index_plan.h"
#include "api/read/scan_read.h"
#include "io/simulated/manual_clock.h"
#include "tests/api/uneven_text.h"
#include "tests/api/write/index_bench.h"
#include "tests/support/effort.h"

namespace varve::test::index_scan_test {
namespace {

using Kind = WriteOperation::Kind;
using format::IndexDefinition;
using format::IndexSource;

constexpr std::uint64_t kSeed = 20'261'129;
constexpr format::TableId kAnIndex = format::make_table_id(3, 4);

class IndexScan : public IndexBench {
 protected:
  void SetUp() override {
    IndexBench::SetUp();
    ASSERT_EQ(said(core_->catalog().create_table(plain_)), kFine);
  }

  std::string pick(const std::vector<std::string>& texts) { return texts[random_.next() % texts.size()]; }

  /// Gives the entity a value of some type, or none.
  void set_some(Entity& entity, const std::string& name) {
    const auto small = static_cast<std::int32_t>(random_.next() % 4);
    switch (random_.next() % 9) {
      case 0: entity.set(name, std::int32_t{small}); break;
      case 1: entity.set(name, std::int64_t{small}); break;
      case 2: entity.set(name, double{static_cast<double>(small)}); break;
      case 3: entity.set(name, small % 2 == 0 ? -0.0 : std::numeric_limits<double>::quiet_NaN()); break;
      case 4: entity.set(name, small % 2 == 0); break;
      case 5: entity.set(name, std::string_view(small % 2 == 0 ? "a" : "b")); break;
      case 6: entity.set(name, std::string(256, 'k') + std::string(static_cast<std::size_t>(small % 3), 'x')); break;
      case 7: entity.set(name, std::int32_t{small}); break;
      default: break;
    }
  }

  void write_both(const WriteOperation& operation) {
    for (const TableName& name : {orders_, plain_}) {
      std::vector<PreparedWrite> writes = prepared({operation});
      const auto entry = core_->catalog().names().find_or_add(name.account, name.lower);
      (void)commit_writes(*core_, name, *entry, writes, WriteOptions(), false);
    }
  }

  void fill(int writes) {
    for (int i = 0; i < writes; ++i) {
      Entity entity{pick({"p", "q", "r"}), pick({"1", "2", "3", "4", "5", "6", "7", "8"})};
      set_some(entity, "A");
      set_some(entity, "B");
      const bool removes = random_.next() % 5 == 0;
      write_both({removes ? Kind::kRemove : Kind::kInsertOrReplace, entity, removes ? ETag::any() : ETag()});
    }
  }

  std::string some_literal() {
    return pick({"0", "1", "2", "1L", "2L", "0.0", "1.0", "1.5", "NaN", "true", "'a'", "'b'",
                 "'" + std::string(256, 'k') + "'", "'" + std::string(257, 'k') + "'",
                 "'" + std::string(256, 'k') + "x'"});
  }
  std::string some_comparison() {
    if (random_.next() % 5 == 0) return "PartitionKey " + pick({"eq", "ge", "lt"}) + " " + pick({"'p'", "'q'"});
    if (random_.next() % 6 == 0) return "RowKey " + pick({"eq", "gt", "le"}) + " " + pick({"'2'", "'5'"});
    if (random_.next() % 6 == 0) {
      return pick({"startswith(A, 'a')", "endswith(B, 'b')", "contains(A, '')", "equals_ignoring_case(B, 'A')",
                   "A in (1, 'a', 2L)", "B in ('b', 2.0)", "exists(A)", "A eq B", "B gt A", "A ne RowKey"});
    }
    return pick({"A", "A", "B"}) + " " + pick({"eq", "eq", "ge", "gt", "le", "lt", "ne"}) + " " + some_literal();
  }
  std::string some_filter(int depth) {
    if (depth == 0 || random_.next() % 3 == 0) return some_comparison();
    if (random_.next() % 8 == 0) return "not (" + some_filter(depth - 1) + ")";
    const std::string with = random_.next() % 4 == 0 ? ") or (" : ") and (";
    return "(" + some_filter(depth - 1) + with + some_filter(depth - 1) + ")";
  }

  /// Returns "partition/row" of each entity, in the order of the pages.
  std::vector<std::string> all_pages(const TableName& name, Scan scan) {
    std::vector<std::string> keys;
    const auto entry = core_->catalog().names().find_or_add(name.account, name.lower);
    const Grant grant;
    for (int pages = 0; pages < 100; ++pages) {
      Result<Page> page = read_page(*core_, name, *entry, grant, scan);
      EXPECT_TRUE(page.ok()) << page.status().to_string();
      if (!page.ok()) return keys;
      for (std::string& key : keys_of(*page)) keys.push_back(std::move(key));
      if (!page->continuation) return keys;
      scan.continuation = *page->continuation;
    }
    ADD_FAILURE() << "the pages do not end";
    return keys;
  }
  ScanPlan plan_of(const Scan& scan) {
    const auto entry = core_->catalog().names().find_or_add(orders_.account, orders_.lower);
    const Grant grant;
    const Result<ScanPlan> plan = explain_scan(*core_, orders_, *entry, grant, scan);
    EXPECT_TRUE(plan.ok()) << plan.status().to_string();
    return plan.ok() ? *plan : ScanPlan();
  }

  const TableName plain_{std::string(kAccount), "Plain", "plain"};
  io::SeededRandom random_{kSeed};
};

Scan filtered(std::string_view filter) {
  Scan scan;
  scan.filter = filter;
  return scan;
}

TEST_F(IndexScan, RandomFiltersGiveTheSameEntitiesWithAndWithoutIndexes) {
  add_index("ByA", {{{IndexSource::kProperty, "A"}}});
  add_index("ByBDownA", {{{IndexSource::kProperty, "B", true}, {IndexSource::kProperty, "A"}}});
  add_index("ByKeyA", {{{IndexSource::kPartitionKey, ""}, {IndexSource::kProperty, "A", true}}});
  add_index("ByRow", {{{IndexSource::kRowKey, "", true}}});
  fill(120);
  int taken = 0;
  for (int round = 0; round < effort(300); ++round) {
    const std::string filter = some_filter(2);
    Scan scan = filtered(filter);
    scan.backward = random_.next() % 2 == 0;
    scan.page_entities_max = random_.next() % 2 == 0 ? 1000 : 2;
    if (random_.next() % 4 == 0) scan.range = ScanRange::partition("q");
    if (random_.next() % 4 == 0) scan.take = 3;
    ASSERT_EQ(all_pages(orders_, scan), all_pages(plain_, scan))
        << "seed " << kSeed << " round " << round << ": " << filter;
    for (const IndexCandidate& candidate : plan_of(scan).indexes) taken += candidate.is_taken ? 1 : 0;
    if (round % 20 == 0) fill(5);
  }
  EXPECT_GT(taken, 0) << "the filters are about indexes";
}

TEST_F(IndexScan, TheIndexWithMostEqualComponentsIsTaken) {
  add_index("ByA", {{{IndexSource::kProperty, "A"}}});
  add_index("ByAB", {{{IndexSource::kProperty, "A"}, {IndexSource::kProperty, "B"}}});
  fill(30);
  const ScanPlan plan = plan_of(filtered("A eq 1 and B eq 2"));
  ASSERT_EQ(plan.indexes.size(), 2U);
  EXPECT_EQ(plan.indexes[0].name, "ByAB");
  EXPECT_EQ(plan.indexes[0].equal_components, 2U);
  EXPECT_TRUE(plan.indexes[0].is_taken);
  EXPECT_EQ(plan.indexes[1].name, "ByA");
  EXPECT_FALSE(plan.indexes[1].is_taken);
  const ScanPlan ranged = plan_of(filtered("A eq 1 and B gt 2"));
  ASSERT_EQ(ranged.indexes.size(), 2U);
  EXPECT_TRUE(ranged.indexes[0].has_range);
  EXPECT_EQ(ranged.indexes[0].name, "ByAB");
}

TEST_F(IndexScan, AnIndexThatMayLackAnEntityIsNotTaken) {
  add_index("ByAB", {{{IndexSource::kProperty, "A"}, {IndexSource::kProperty, "B"}}});
  EXPECT_TRUE(plan_of(filtered("A eq 1")).indexes.empty()) << "entities without B have no entry";
  EXPECT_EQ(plan_of(filtered("A eq 1 and B ne 7")).indexes.size(), 1U);
  EXPECT_TRUE(plan_of(filtered("A eq 1 or B eq 7")).indexes.empty());
  EXPECT_TRUE(plan_of(filtered("A eq 1 and not (B eq 7)")).indexes.empty()) << "it is true without B";
  EXPECT_TRUE(plan_of(filtered("PartitionKey eq 'p' and RowKey eq 'r' and A eq 1 and B eq 1")).indexes.empty());
}

TEST_F(IndexScan, ListsAlternativesBeginningsAndUpperBoundsAreRangesOfAnIndex) {
  add_index("ByA", {{{IndexSource::kProperty, "A"}}});
  add_index("ByBDown", {{{IndexSource::kProperty, "B", true}}});
  for (int i = 0; i < 40; ++i) {
    Entity entity{"p", std::to_string(i)};
    entity.set("A", std::int32_t{i});
    if (i % 10 == 0) entity.set("A", std::string("text"));
    entity.set("B", std::string(1, static_cast<char>('a' + i % 20)) + "x");
    write_both({Kind::kInsert, entity, ETag()});
  }
  struct Case {
    std::string_view filter;
    std::uint64_t entries;
  };
  // Alternatives about two properties bound neither.
  for (const std::string_view filter :
       {"A eq 1 or B eq 'bx'", "B eq 'bx' or A eq 1", "A eq 1 or (B eq 'bx' or A eq 2)"}) {
    EXPECT_TRUE(plan_of(filtered(filter)).indexes.empty()) << filter;
  }
  const Case cases[] = {{"A in (1, 2L, 2, 3.0, 99, 'none')", 2},
                        {"A eq 1 or A eq 2 or A in (3, 4)", 4},
                        {"startswith(B, 'c')", 2},
                        {"startswith(B, '')", 40},
                        {"startswith(B, 'cx') and A ge 5", 2},
                        {"A lt 3", 3 + 4},  // the bound is read too, and the texts are less
                        {"A le 3 and A gt 1", 3},
                        {"B lt 'bx'", 2 + 2},
                        {"(A eq 1 or A eq 2) and exists(B)", 2}};
  for (const Case& each : cases) {
    const ScanPlan plan = plan_of(filtered(each.filter));
    ASSERT_FALSE(plan.indexes.empty()) << each.filter;
    const auto taken = std::find_if(plan.indexes.begin(), plan.indexes.end(),
                                    [](const IndexCandidate& candidate) { return candidate.is_taken; });
    ASSERT_NE(taken, plan.indexes.end()) << each.filter;
    EXPECT_EQ(taken->entities, each.entries) << each.filter;
    EXPECT_EQ(all_pages(orders_, filtered(each.filter)), all_pages(plain_, filtered(each.filter))) << each.filter;
  }
  std::string list = "A in (0";
  for (int i = 1; i < 400; ++i) list += ", " + std::to_string(i);
  EXPECT_TRUE(plan_of(filtered(list + ")")).indexes.empty()) << "more ranges than an index is read in";
}

TEST_F(IndexScan, AnIndexThatIsBeingBuiltIsNotTaken) {
  Entity entity{"p", "1"};
  entity.set("A", std::int32_t{1});
  write_both({Kind::kInsert, entity, ETag()});
  const TableIndex index = add_index("ByA", {{{IndexSource::kProperty, "A"}}}, false);
  EXPECT_TRUE(plan_of(filtered("A eq 1")).indexes.empty());
  EXPECT_EQ(all_pages(orders_, filtered("A eq 1")), (std::vector<std::string>{"p/1"}));
  const engine::HeldVersion before = core_->backend().snapshot();
  ASSERT_EQ(said(core_->catalog().end_index_build(orders_, index.id, Status())), kFine);
  EXPECT_EQ(plan_of(filtered("A eq 1")).indexes.size(), 1U);
  EXPECT_TRUE(all_pages(orders_, filtered("A eq 1")).empty()) << "the test called an empty index ready";
  // The name's entry has the newest rules by now.
  ASSERT_TRUE(core_->catalog().target_in_cache(entry()));
  const auto indexes_in = [&](engine::ReadView view) {
    return core_->catalog().indexes_at({std::move(view), entry().live_id()}, orders_, entry());
  };
  const auto then = indexes_in(core_->backend().view_at(before));
  ASSERT_TRUE(then.ok() && *then != nullptr);
  EXPECT_EQ((*then)->all.front().state, IndexState::kBuilding);
  const auto now = indexes_in(core_->backend().view());
  ASSERT_TRUE(now.ok() && *now != nullptr);
  EXPECT_EQ((*now)->all.front().state, IndexState::kReady);
  EXPECT_EQ(*now, *indexes_in(core_->backend().view())) << "the row was read and decoded again";
}

TEST_F(IndexScan, BeyondItsBudgetTheScanReadsItsRanges) {
  add_index("ByA", {{{IndexSource::kProperty, "A"}}});
  std::vector<WriteOperation> operations;
  for (std::size_t i = 0; i <= kIndexEntriesMax; ++i) {
    Entity entity{"p", std::to_string(i)};
    entity.set("A", std::int32_t{1});
    operations.push_back({Kind::kInsert, entity, ETag()});
    if (operations.size() < 100 && i < kIndexEntriesMax) continue;
    ASSERT_TRUE(write(operations).ok());
    operations.clear();
  }
  const ScanPlan plan = plan_of(filtered("A ge 1"));  // The entries are not in the order of keys.
  ASSERT_EQ(plan.indexes.size(), 1U);
  EXPECT_FALSE(plan.indexes.front().entities.has_value());
  EXPECT_FALSE(plan.indexes.front().is_taken);
  EXPECT_EQ(all_pages(orders_, filtered("A ge 1")).size(), kIndexEntriesMax + 1);
  EXPECT_TRUE(all_pages(orders_, filtered("A eq 2")).empty());
}

TEST_F(IndexScan, I7_AChoiceOfTwoIndexesReadsAFewTimesWhatThePageNeeds) {
  add_index("ByA", {{{IndexSource::kProperty, "A"}}});
  add_index("ByB", {{{IndexSource::kProperty, "B"}}});
  constexpr int kEntities = 5000;
  std::vector<WriteOperation> operations;
  for (int i = 0; i < kEntities; ++i) {
    // Long keys: a block of an index has few entries, so that the number of blocks shows how many entries were read.
    std::string row = std::to_string(10'000 + i) + uneven_text(100, static_cast<std::uint32_t>(i));
    std::replace_if(
        row.begin(), row.end(), [](char letter) { return letter == '?' || letter == '\\'; }, '0');
    Entity entity{"p", row};
    entity.set("A", std::int32_t{1}).set("B", std::int32_t{i < kEntities - 40 ? i % 2 : 7});
    operations.push_back({Kind::kInsert, entity, ETag()});
    if (operations.size() < 100) continue;
    ASSERT_TRUE(write(operations).ok());
    operations.clear();
  }
  ASSERT_EQ(said(core_->engine().compact()), kFine);
  const auto page_of = [&](std::string_view filter) {
    Scan scan = filtered(filter);
    scan.page_entities_max = 5;
    const Result<Page> page = read_page(*core_, orders_, entry(), Grant(), scan);
    EXPECT_TRUE(page.ok()) << page.status().to_string();
    return page.ok() ? *page : Page();
  };
  const auto blocks_of = [](const Page& page) { return page.cost.blocks_read + page.cost.blocks_from_cache; };
  const Page both = page_of("A eq 1 and B in (0, 1)");
  EXPECT_TRUE(keys_of(both).front().starts_with("p/10000"));
  EXPECT_LE(both.cost.entities_examined, 6U);
  const Page alone = page_of("A eq 1");
  EXPECT_LE(blocks_of(both), 4 * blocks_of(alone)) << "the second index has six ranges, each in blocks of its own";
  // The first parts of the other index show few matches. So the one with few entries takes over.
  const Page late = page_of("A eq 1 and B eq 7");
  EXPECT_TRUE(keys_of(late).front().starts_with("p/14960"));
  EXPECT_LE(late.cost.entities_examined, 6U + 24U + 6U);
  EXPECT_LE(blocks_of(late), 12 * blocks_of(alone));
  // Entries of ranges are in no order of keys. So the choice ends with the first index that has ended.
  const Page ranges = page_of("A ge 1 and B gt 6");
  EXPECT_TRUE(keys_of(ranges).front().starts_with("p/14960"));
  EXPECT_LE(ranges.cost.entities_examined, 6U);
  EXPECT_LE(blocks_of(ranges), 4 * blocks_of(alone));
  // Each of the two is asked for the filter that only it can serve.
  EXPECT_EQ(page_of("A eq 2").cost.entities_examined, 0U);
  EXPECT_LE(page_of("B eq 7").cost.entities_examined, 6U);
}

TEST_F(IndexScan, I7_AChoiceForAPartReadsTheEntriesOfThePartAlone) {
  const TableIndex first = add_index("ByA", {{{IndexSource::kProperty, "A"}}});
  add_index("ByB", {{{IndexSource::kProperty, "B"}}});
  std::vector<WriteOperation> operations;
  for (int i = 10; i < 50; ++i) {
    Entity entity{"p", std::to_string(i)};
    entity.set("A", std::int32_t{1}).set("B", std::int32_t{2});
    operations.push_back({Kind::kInsert, entity, ETag()});
  }
  ASSERT_TRUE(write(operations).ok());
  const format::TableId id = *Catalog::resolve_at(core_->backend().view(), orders_);
  const ResolvedTable table{core_->backend().view(), id};
  const Filter filter = *Filter::parse("A eq 1 and B eq 2");
  const std::string prefix = format::encode_table(id);
  const KeyRange within{prefix, format::end_of_prefix(prefix)};
  const TableIndexes indexes = *Catalog::find_indexes(table.view, orders_);
  const IndexedScan scan{table, indexes, filter, {&within, 1}, within};
  const std::stop_token never;
  IndexReading reading{bench_.env.clock, std::chrono::nanoseconds::max(), never};
  IndexesAsked asked;
  asked.part = PartOfScan{false, 6};
  const Result<IndexOffer> offer = offer_of_indexes(scan, reading, asked);
  ASSERT_TRUE(offer.ok() && offer->points);
  EXPECT_EQ(offer->points->size(), 6U);
  ASSERT_TRUE(offer->rest.has_value());
  EXPECT_EQ(offer->rest->next, *format::encode_sort_key(id, "p", "16"));
  EXPECT_EQ(offer->rest->index, first.id);
}

TEST_F(IndexScan, APageReadsNoEntryOfAnEarlierPage) {
  add_index("ByA", {{{IndexSource::kProperty, "A"}}});
  std::vector<WriteOperation> operations;
  for (std::size_t i = 0; i < 3 * kIndexEntriesMax / 2; ++i) {
    Entity entity{"p", std::to_string(10'000 + i)};
    entity.set("A", std::int32_t{1});
    operations.push_back({Kind::kInsert, entity, ETag()});
    if (operations.size() < 96) continue;
    ASSERT_TRUE(write(operations).ok());
    operations.clear();
  }
  Scan scan = filtered("A eq 1");
  EXPECT_FALSE(plan_of(scan).indexes.front().entities.has_value());
  scan.range = ScanRange::rows("p", "11500");
  EXPECT_EQ(plan_of(scan).indexes.front().entities, 3 * kIndexEntriesMax / 2 - 1500)
      << "the entries before do not count";
  scan.range = ScanRange::rows("p", "10000", "10100");
  EXPECT_EQ(plan_of(scan).indexes.front().entities, all_pages(orders_, scan).size());
}

TEST_F(IndexScan, ACountReadsNoEntityIfTheEntriesHaveAllThatItUses) {
  add_index("ByA", {{{IndexSource::kProperty, "A"}}, false, {"B"}});
  for (int i = 0; i < 10; ++i) {
    Entity entity{"p", std::to_string(i)};
    entity.set("A", std::int32_t{i % 2});
    if (i != 1) entity.set("B", std::int32_t{i});
    entity.set("C", std::int32_t{i});
    write_both({Kind::kInsert, entity, ETag()});
  }
  Entity cut{"p", "cut"};
  cut.set("A", std::string(300, 'k'));
  write_both({Kind::kInsert, cut, ETag()});
  const auto counted = [&](std::string_view filter) {
    const Grant grant;
    const Scan scan = filtered(filter);
    const Result<Count> count = count_entities({*core_, orders_, entry(), grant}, scan);
    EXPECT_TRUE(count.ok()) << count.status().to_string();
    return std::pair(count->entities, count->cost.entities_examined);
  };
  using Counted = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(counted("A eq 1"), Counted(5, 0));
  EXPECT_EQ(counted("A eq 1 and B gt 3"), Counted(3, 0));
  EXPECT_EQ(counted("A eq 1 and not (B ge 0)"), Counted(1, 0)) << "an entity without B has an entry without B";
  EXPECT_EQ(counted("A eq 1 and RowKey gt '4' and B gt 3"), Counted(3, 0));
  EXPECT_EQ(counted("A eq 1 and C gt 3"), Counted(3, 5)) << "C is not carried";
  EXPECT_EQ(counted("A eq 1 and Timestamp gt datetime'2001-01-01T00:00:00Z'").second, 5U);
  EXPECT_EQ(counted("A ge '" + std::string(256, 'k') + "'"), Counted(1, 1)) << "the value is cut in the entry";
  EXPECT_TRUE(plan_of(filtered("A eq 1")).indexes.front().answers_counts);
  EXPECT_FALSE(plan_of(filtered("A eq 1 and C gt 3")).indexes.front().answers_counts);
  EXPECT_EQ(plan_of(filtered("A eq 1")).indexes.front().entities, 5U);
}

TEST_F(IndexScan, TimeAndStopTokenBoundTheReadingOfEntriesAndItsBlocksAreCounted) {
  add_index("ByA", {{{IndexSource::kProperty, "A"}}});
  std::vector<WriteOperation> operations;
  for (int i = 0; i < 40; ++i) {
    Entity entity{"p", std::to_string(i)};
    entity.set("A", std::int32_t{1});
    operations.push_back({Kind::kInsert, entity, ETag()});
  }
  ASSERT_TRUE(write(operations).ok());
  ASSERT_EQ(said(core_->engine().compact()), kFine);
  const format::TableId id = *Catalog::resolve_at(core_->backend().view(), orders_);
  const ResolvedTable table{core_->backend().view(), id};
  const Filter filter = *Filter::parse("A eq 1");
  const std::string prefix = format::encode_table(id);
  const KeyRange within{prefix, format::end_of_prefix(prefix)};
  const TableIndexes indexes = *Catalog::find_indexes(table.view, orders_);
  const IndexedScan scan{table, indexes, filter, {&within, 1}, within};
  std::stop_source stop;
  const std::stop_token token = stop.get_token();
  const auto offered = [&](std::chrono::nanoseconds deadline, engine::ReadCost& cost) {
    IndexReading reading{bench_.env.clock, deadline, token};
    Result<IndexOffer> offer = offer_of_indexes(scan, reading);
    cost = reading.cost;
    return offer;
  };
  engine::ReadCost cost;
  const Result<IndexOffer> whole = offered(std::chrono::nanoseconds::max(), cost);
  ASSERT_TRUE(whole.ok() && whole->points);
  EXPECT_EQ(whole->points->size(), 40U);
  EXPECT_GT(cost.blocks_read + cost.blocks_from_cache, 0U);
  const Result<IndexOffer> late = offered(std::chrono::nanoseconds::min(), cost);
  ASSERT_TRUE(late.ok());
  EXPECT_FALSE(late->points) << "the page reads its range of keys";
  // The blocks of the index are a part of the page's cost, though none of its entities is in the range.
  Scan elsewhere = filtered("A eq 1");
  elsewhere.range = ScanRange::partition("q");
  const auto entry = core_->catalog().names().find_or_add(orders_.account, orders_.lower);
  const Result<Page> page = read_page(*core_, orders_, *entry, Grant(), elsewhere);
  ASSERT_TRUE(page.ok()) << page.status().to_string();
  EXPECT_GT(page->cost.blocks_read + page->cost.blocks_from_cache, 0U);
  stop.request_stop();
  EXPECT_EQ(offered(std::chrono::nanoseconds::max(), cost).code(), Code::kCancelled);
}

/// Describes the ranges and the rank of a plan.
std::string described_plan(const std::string& text, const format::IndexDefinition& definition,
                           bool may_have_large_values) {
  const Result<Filter> filter = Filter::parse(text);
  EXPECT_TRUE(filter.ok()) << text << ": " << filter.status().to_string();
  if (!filter.ok()) return {};
  const std::optional<IndexPlan> plan = plan_index(*filter, kAnIndex, definition, may_have_large_values);
  if (!plan) return "none";
  std::string described = std::to_string(plan->equal_components) + (plan->has_range ? " and a range" : "") +
                          (plan->has_two_bounds ? " of two bounds" : "");
  for (const KeyRange& range : plan->ranges) {
    described += "; " + range.lower + " to " + range.upper + (range.is_point ? ", a point" : "");
  }
  return described;
}

TEST(IndexPlan, I6_OneConditionHasTheRangesOfTheSameOneTwice) {
  const std::vector<std::string> literals = {"'x'",
                                             "''",
                                             "'" + std::string(300, 'k') + "'",
                                             "true",
                                             "1",
                                             "2L",
                                             "1.5",
                                             "NaN",
                                             "X'0aFF'",
                                             "X''",
                                             "guid'0f1e2d3c-0000-4000-8000-00000000abcd'",
                                             "datetime'2026-11-29T00:00:00Z'"};
  std::vector<std::vector<format::IndexComponent>> indexes;
  for (const bool descending : {false, true}) {
    indexes.push_back({{format::IndexSource::kProperty, "A", descending}});
    indexes.push_back({{format::IndexSource::kPartitionKey, "", descending}});
    indexes.push_back({{format::IndexSource::kRowKey, "", descending}});
    indexes.push_back({{format::IndexSource::kTimestamp, "", descending}});
    indexes.push_back({{format::IndexSource::kProperty, "A", descending}, {format::IndexSource::kRowKey, "", false}});
    indexes.push_back(
        {{format::IndexSource::kProperty, "B", descending}, {format::IndexSource::kProperty, "A", false}});
  }
  std::size_t served = 0;
  for (const std::vector<format::IndexComponent>& components : indexes) {
    for (const std::string property : {"A", "PartitionKey", "RowKey", "Timestamp"}) {
      for (const std::string compare : {" eq ", " ge ", " lt ", " ne "}) {
        for (const std::string& literal : literals) {
          for (const bool may_have_large_values : {false, true}) {
            const std::string condition = property + compare + literal;
            const std::string one = described_plan(condition, {components}, may_have_large_values);
            EXPECT_EQ(one, described_plan(condition + " and " + condition, {components}, may_have_large_values))
                << condition;
            if (one != "none") ++served;
          }
        }
      }
    }
  }
  EXPECT_GT(served, 100U);
}

}  // namespace
}  // namespace varve::test::index_scan_test
