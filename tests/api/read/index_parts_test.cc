// Goal: an index whose components the filter all compares with `eq` gives a page its entities part by part, so a page never
// examines the entities between them, however many entries there are (I7). The result is that of the ranges (I6).
// Method: entities with few values, in a known order, so the test knows each answer and how many entities it may examine.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/read/index_scan.h"
#include "api/read/scan_read.h"
#include "tests/api/write/index_bench.h"
#include "tests/support/effort.h"
#include "varve/aggregate.h"

namespace varve::test::index_parts_test {
namespace {

using Kind = WriteOperation::Kind;
using format::IndexDefinition;
using format::IndexSource;
using Keys = std::vector<std::string>;

constexpr std::uint64_t kSeed = 20'261'128;
const IndexDefinition kByA{{{IndexSource::kProperty, "A"}}};

struct Row {
  std::string partition;
  std::string row;
  int a = 0;
  int b = 0;
};

/// What all pages of a scan gave, and what they cost.
struct Answer {
  Keys keys{};
  std::uint64_t examined = 0;
  std::uint64_t pages = 0;
  std::uint64_t empty_pages = 0;
};

/// Moves on by a nanosecond with each question.
class TickingClock final : public io::Clock {
 public:
  io::Ticks wall() noexcept override { return io::kUnixEpochTicks; }
  std::chrono::nanoseconds monotonic() noexcept override { return ++now_; }

 private:
  std::chrono::nanoseconds now_{0};
};

class IndexParts : public IndexBench {
 protected:
  /// Writes so many entities with each value of A, mixed, in ten partitions.
  void fill(const std::vector<std::pair<int, std::size_t>>& counts) {
    std::vector<int> values;
    for (const auto& [value, count] : counts) values.insert(values.end(), count, value);
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random_.next() % i]);
    fill_in_order(values);
  }
  /// Writes an entity with each value of A, in the order of their keys.
  void fill_in_order(const std::vector<int>& values) {
    std::vector<WriteOperation> group;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t partition = 10 * i / values.size();
      const Row row{"p" + std::to_string(partition), std::to_string(100'000 + i), values[i], static_cast<int>(i % 7)};
      Entity entity{row.partition, row.row};
      // Numbers of three types are equal, and are three ranges of the index.
      const std::size_t type = has_doubles_alone_ ? 2 : i % 3;
      if (type == 0) entity.set("A", std::int32_t{row.a});
      if (type == 1) entity.set("A", std::int64_t{row.a});
      if (type == 2) entity.set("A", static_cast<double>(row.a));
      entity.set("B", std::int32_t{row.b});
      if (!group.empty() && (group.size() == 100 || group.front().entity.partition_key() != row.partition))
        flush(group);
      group.push_back({Kind::kInsert, entity, ETag()});
      rows_.push_back(row);
    }
    flush(group);
  }

  template <typename Is>
  Keys expected(Is is, bool backward = false) const {
    Keys keys;
    for (const Row& row : rows_) {
      if (is(row)) keys.push_back(row.partition + "/" + row.row);
    }
    if (backward) std::reverse(keys.begin(), keys.end());
    return keys;
  }

  Page page_of(const Scan& scan) {
    const Result<Page> page = read_page(*core_, orders_, entry(), Grant(), scan);
    EXPECT_TRUE(page.ok()) << page.status().to_string();
    return page.ok() ? *page : Page();
  }
  Answer answer(Scan scan) {
    Answer all;
    for (; all.pages < 10'000; scan.continuation = *std::exchange(last_.continuation, {})) {
      last_ = page_of(scan);
      ++all.pages;
      if (last_.entities.empty()) ++all.empty_pages;
      all.examined += last_.cost.entities_examined;
      for (std::string& key : keys_of(last_)) all.keys.push_back(std::move(key));
      if (!last_.continuation) return all;
    }
    ADD_FAILURE() << "the pages do not end";
    return all;
  }
  Count counted(const Scan& scan, EntityFold* fold = nullptr) {
    const Grant grant;
    const Result<Count> count = count_entities({*core_, orders_, entry(), grant}, scan, fold);
    EXPECT_TRUE(count.ok()) << count.status().to_string();
    return count.ok() ? *count : Count();
  }
  ScanPlan plan_of(const Scan& scan) {
    const Result<ScanPlan> plan = explain_scan(*core_, orders_, entry(), Grant(), scan);
    EXPECT_TRUE(plan.ok()) << plan.status().to_string();
    return plan.ok() ? *plan : ScanPlan();
  }

  /// Returns how many entities a count examines that looks up as many with this value as it may, and then walks.
  std::size_t examined_with_walk(int value) const {
    std::size_t of_index = 0;
    std::size_t examined = 0;
    for (const Row& row : rows_) {
      if (of_index < kIndexLookupsMax && row.a == value) ++of_index;
      if (of_index == kIndexLookupsMax || row.a == value) ++examined;
    }
    return examined;
  }

  bool has_doubles_alone_ = false;
  std::vector<Row> rows_;  // in the order of keys
  io::SeededRandom random_{kSeed};

 private:
  void flush(std::vector<WriteOperation>& group) {
    EXPECT_TRUE(group.empty() || write(group).ok());
    group.clear();
  }

  Page last_;
};

Scan filtered(std::string_view filter) {
  Scan scan;
  scan.filter = filter;
  return scan;
}

TEST_F(IndexParts, I7_EqualValuesAreReadAloneHoweverManyEntriesTheyHave) {
  add_index("ByA", kByA);
  constexpr std::size_t kMany = kEffortDivisor == 1 ? 10'000 : 3'000;
  fill({{1, kIndexEntriesMax - 1}, {2, kIndexEntriesMax}, {3, kIndexEntriesMax + 1}, {4, kMany}});
  for (const int value : {1, 2, 3, 4}) {
    const auto is = [value](const Row& row) { return row.a == value; };
    Scan scan = filtered("A eq " + std::to_string(value));
    for (const bool backward : {false, true}) {
      scan.backward = backward;
      const Keys wanted = expected(is, backward);
      const Answer all = answer(scan);
      EXPECT_EQ(all.keys, wanted) << value;
      EXPECT_EQ(all.pages, (wanted.size() + 999) / 1000) << value;
      EXPECT_EQ(all.examined, wanted.size()) << value << ": a page reads entities between those of the index";
      EXPECT_EQ(counted(scan).entities, wanted.size()) << value;
      EXPECT_EQ(counted(scan).cost.entities_examined, 0U) << value << ": the entries have A";
      EXPECT_FALSE(counted(scan).continuation);
    }
    const ScanPlan plan = plan_of(scan);
    ASSERT_EQ(plan.indexes.size(), 1U);
    EXPECT_TRUE(plan.indexes.front().is_taken) << value;
    const bool is_counted = value <= 2;
    EXPECT_EQ(plan.indexes.front().entities.has_value(), is_counted) << value;
  }
  // A filter that rejects nearly all of them, or all.
  const Answer few = answer(filtered("A eq 4 and B eq 3 and RowKey gt '1001'"));
  EXPECT_EQ(few.keys, expected([](const Row& row) { return row.a == 4 && row.b == 3 && row.row > "1001"; }));
  EXPECT_LE(few.examined, kMany);
  const Answer none = answer(filtered("A eq 4 and B eq 99"));
  EXPECT_TRUE(none.keys.empty());
  EXPECT_EQ(none.pages, 1U);
  EXPECT_EQ(none.examined, kMany);
  const Scan scan = filtered("A eq 4 and B ge 3");
  const std::size_t wanted = expected([](const Row& row) { return row.a == 4 && row.b >= 3; }).size();
  EXPECT_EQ(counted(scan).entities, wanted);
  EXPECT_EQ(counted(scan).cost.entities_examined, kMany);
}

TEST_F(IndexParts, ACountWithManyLookupsReadsTheRestOfItsRange) {
  add_index("ByA", kByA);
  fill({{0, 6'000}, {1, kIndexLookupsMax + 2'000}});
  const Scan scan = filtered("A eq 1 and B ge 3");
  const Count count = counted(scan);
  EXPECT_EQ(count.entities, expected([](const Row& row) { return row.a == 1 && row.b >= 3; }).size());
  EXPECT_FALSE(count.continuation);
  // After the last part, the count examines the entities of the range, whatever they have in A.
  const std::size_t examined = examined_with_walk(1);
  EXPECT_GE(count.cost.entities_examined + 10, examined);
  EXPECT_LE(count.cost.entities_examined, examined + 10);
  EXPECT_GT(examined, kIndexLookupsMax + 2'000);
  EXPECT_EQ(counted(filtered("A eq 1")).cost.entities_examined, 0U) << "entries that have all need no look-up";
}

TEST_F(IndexParts, AnOrderOfManyEqualValuesReadsTheirEntitiesAlone) {
  add_index("ByA", kByA);
  fill({{0, 1'000}, {1, kIndexEntriesMax + 1}});
  Scan scan = filtered("A eq 1");
  scan.order_by = "B desc";
  scan.take = 5;
  const Page first = page_of(scan);
  Keys wanted = expected([](const Row& row) { return row.a == 1 && row.b == 6; });
  wanted.resize(5);
  EXPECT_EQ(keys_of(first), wanted);
  EXPECT_EQ(first.cost.entities_examined, kIndexEntriesMax + 1);
  EXPECT_TRUE(plan_of(scan).indexes.front().is_taken);
  // An order of keys ends in the first part.
  scan.order_by = "PartitionKey desc, RowKey desc";
  wanted = expected([](const Row& row) { return row.a == 1; }, true);
  wanted.resize(5);
  const Page last = page_of(scan);
  EXPECT_EQ(keys_of(last), wanted);
  EXPECT_LE(last.cost.entities_examined, 6U);
  EXPECT_EQ(last.cost.first_part_entities, 6U) << "the index gives no more than the page needs";
  EXPECT_EQ(first.cost.first_part_entities, kIndexEntriesMax) << "another order needs them all";
  scan.take.reset();
  scan.page_entities_max = 900;
  EXPECT_EQ(answer(scan).keys, expected([](const Row& row) { return row.a == 1; }, true));
}

TEST_F(IndexParts, I7_EntriesWithoutTheExactValueAreLookUpsOfACount) {
  add_index("ByA", kByA);
  has_doubles_alone_ = true;
  fill({{0, kIndexLookupsMax + 2'000}, {1, 6'000}});
  // Both zeros of a Double have one entry. So the count must look up each entity, although the entries have A.
  const Count count = counted(filtered("A eq 0.0"));
  EXPECT_EQ(count.entities, kIndexLookupsMax + 2'000);
  EXPECT_FALSE(count.continuation);
  const std::size_t examined = examined_with_walk(0);
  EXPECT_GT(examined, kIndexLookupsMax + 2'100);
  EXPECT_GE(count.cost.entities_examined + 10, examined);
  EXPECT_LE(count.cost.entities_examined, examined + 10);
  EXPECT_EQ(counted(filtered("A eq 1.0")).cost.entities_examined, 0U) << "these entries have the value";
}

TEST_F(IndexParts, ShortPagesReadShortParts) {
  add_index("ByA", kByA);
  fill({{0, 1200}, {1, 300}});
  ASSERT_EQ(said(core_->engine().compact()), kFine);
  const auto is_one = [](const Row& row) { return row.a == 1; };
  Scan whole = filtered("A eq 1");
  const Page all = page_of(whole);
  EXPECT_EQ(keys_of(all), expected(is_one));
  for (const bool backward : {false, true}) {
    for (const std::uint32_t entities_max : {1U, 2U, 7U, 299U, 300U, 301U}) {
      Scan scan = whole;
      scan.backward = backward;
      scan.page_entities_max = entities_max;
      const Answer found = answer(scan);
      EXPECT_EQ(found.keys, expected(is_one, backward)) << entities_max;
      EXPECT_EQ(found.examined, 300U) << entities_max;
      EXPECT_EQ(found.pages, (300 + entities_max - 1) / entities_max) << entities_max;
      EXPECT_EQ(found.empty_pages, 0U);
      scan.filter = "A eq 1 and B ge 5";
      const auto is_large = [](const Row& row) { return row.a == 1 && row.b >= 5; };
      const Answer judged = answer(scan);
      EXPECT_EQ(judged.keys, expected(is_large, backward)) << entities_max;
      EXPECT_LE(judged.examined, 300U + judged.pages) << entities_max;
      for (const std::uint64_t take : {1U, 3U, 100U, 1000U}) {
        scan.take = take;
        Keys first = expected(is_large, backward);
        first.resize(std::min<std::size_t>(first.size(), take));
        EXPECT_EQ(answer(scan).keys, first) << entities_max << " of " << take;
      }
      scan.take = 300;
      scan.filter = "A eq 1";
      EXPECT_EQ(answer(scan).keys, expected(is_one, backward)) << entities_max;
    }
  }
  Scan first = whole;
  first.take = 3;
  const PageCost& cost = page_of(first).cost;
  EXPECT_EQ(cost.key_ranges, 4U) << "the page found more keys than it may need";
  EXPECT_EQ(cost.entities_examined, 3U);
  EXPECT_EQ(cost.index_parts, 1U);
  const PageCost& parts = page_of(filtered("A eq 1 and B eq 9")).cost;
  EXPECT_EQ(parts.index_parts, 1U) << "a page of 1,000 entities takes all 300 at once";
  first = filtered("A eq 1 and B eq 9");
  first.page_entities_max = 9;
  const PageCost& several = page_of(first).cost;
  EXPECT_EQ(several.index_parts, 4U) << "10, 40, 160 and the rest";
  EXPECT_EQ(several.first_part_entities, 10U);
  EXPECT_EQ(several.last_part_entities, 90U);
}

TEST_F(IndexParts, I7_APageWalksWhereNearlyAllEntitiesHaveTheValue) {
  add_index("ByA", kByA);
  fill({{1, 1900}, {2, 100}});
  ASSERT_EQ(said(core_->engine().compact()), kFine);
  for (const bool backward : {false, true}) {
    for (const int value : {1, 2}) {
      Scan scan = filtered("A eq " + std::to_string(value));
      scan.backward = backward;
      const Page page = page_of(scan);
      Keys wanted = expected([value](const Row& row) { return row.a == value; }, backward);
      wanted.resize(std::min<std::size_t>(wanted.size(), 1000));
      EXPECT_EQ(keys_of(page), wanted) << value;
      EXPECT_EQ(page.cost.entities_examined, wanted.size()) << "entities between them are not examined";
      const std::uint64_t blocks = page.cost.blocks_read + page.cost.blocks_from_cache;
      EXPECT_LT(blocks, value == 1 ? wanted.size() / 2 : UINT64_MAX) << "a look-up needs a block at least";
    }
  }
}

TEST_F(IndexParts, I6_APageWalksAndLooksUpInTurnWhereTheValueIsDenseAndRare) {
  add_index("ByA", kByA);
  std::vector<int> values(200, 1);
  for (int i = 0; i < 1800; ++i) values.push_back(i < 800 ? i % 8 == 0 : i % 50 == 0);
  for (const int value : {1, 3, 1}) values.insert(values.end(), 150, value);
  fill_in_order(values);
  for (const Row& row : rows_) {
    if (row.a != 3) continue;
    ASSERT_TRUE(write({{Kind::kRemove, Entity(row.partition, row.row), ETag::any()}}).ok());
  }
  const auto is_one = [](const Row& row) { return row.a == 1; };
  for (const bool is_compact : {false, true}) {
    ASSERT_EQ(is_compact ? said(core_->engine().compact()) : kFine, kFine);
    for (const bool backward : {false, true}) {
      for (const std::uint32_t entities_max : {50U, 90U, 1000U}) {
        Scan scan = filtered("A eq 1");
        scan.backward = backward;
        scan.page_entities_max = entities_max;
        EXPECT_EQ(answer(scan).keys, expected(is_one, backward)) << entities_max;
        scan.filter = "A eq 1 and B eq 2";
        EXPECT_EQ(answer(scan).keys, expected([](const Row& row) { return row.a == 1 && row.b == 2; }, backward));
      }
    }
  }
}

TEST_F(IndexParts, EntriesBetweenTheRangesOfAScanArePassed) {
  add_index("ByA", kByA);
  fill({{0, 700}, {1, 700}});
  struct Case {
    std::string_view filter;
    bool (*is)(const Row&);
  };
  const Case cases[] = {
      {"A eq 1 and PartitionKey in ('p0', 'p3', 'p9')",
       [](const Row& row) {
         return row.a == 1 && (row.partition == "p0" || row.partition == "p3" || row.partition == "p9");
       }},
      {"A eq 1 and (PartitionKey lt 'p2' or PartitionKey gt 'p7')",
       [](const Row& row) { return row.a == 1 && (row.partition < "p2" || row.partition > "p7"); }},
      {"A eq 1 and (PartitionKey eq 'p1' and RowKey ge '100200' or PartitionKey eq 'p5' and RowKey lt '100800')",
       [](const Row& row) {
         return row.a == 1 &&
                ((row.partition == "p1" && row.row >= "100200") || (row.partition == "p5" && row.row < "100800"));
       }},
      {"A eq 1 and PartitionKey eq 'none'", [](const Row&) { return false; }},
      {"A in (1, 0) and PartitionKey ge 'p8' and B eq 2",
       [](const Row& row) { return row.partition >= "p8" && row.b == 2; }},
      {"(A eq 0 or A eq 1 or A eq 5) and not (PartitionKey eq 'p4') and B ne 2",
       [](const Row& row) { return row.partition != "p4" && row.b != 2; }},
  };
  for (const Case& each : cases) {
    for (const bool backward : {false, true}) {
      for (const std::uint32_t entities_max : {3U, 20U, 1000U}) {
        Scan scan = filtered(each.filter);
        scan.backward = backward;
        scan.page_entities_max = entities_max;
        EXPECT_EQ(answer(scan).keys, expected(each.is, backward)) << each.filter << " " << entities_max;
        scan.range = ScanRange::partition("p5");
        const auto in_range = [&each](const Row& row) { return row.partition == "p5" && each.is(row); };
        EXPECT_EQ(answer(scan).keys, expected(in_range, backward)) << each.filter << " " << entities_max;
      }
    }
  }
}

TEST_F(IndexParts, TheIndexThatHasFewEnoughEntriesComesFirst) {
  add_index("ByA", kByA);
  add_index("ByB", {{{IndexSource::kProperty, "B"}}});
  fill({{1, kIndexEntriesMax + 500}, {2, 10}});
  const auto taken = [&](std::string_view filter) {
    std::string names;
    for (const IndexCandidate& index : plan_of(filtered(filter)).indexes) names += index.is_taken ? index.name : "";
    return names;
  };
  EXPECT_EQ(taken("A eq 1 and B eq 3"), "ByB");
  EXPECT_EQ(taken("A eq 2 and B eq 3"), "ByA");
  EXPECT_EQ(taken("A eq 1 and B in (0, 1, 2, 3, 4, 5, 6)"), "ByA") << "both have too many";
  const Answer found = answer(filtered("A eq 1 and B eq 3"));
  EXPECT_EQ(found.keys, expected([](const Row& row) { return row.a == 1 && row.b == 3; }));
  EXPECT_LE(found.examined, (kIndexEntriesMax + 510) / 7 + 2);
  const Answer both = answer(filtered("A eq 1 and B in (0, 1, 2, 3, 4, 5, 6)"));
  EXPECT_EQ(both.keys, expected([](const Row& row) { return row.a == 1; }));
  EXPECT_EQ(both.examined, kIndexEntriesMax + 500);
}

/// Joins the parts that an index offers, each after the one before.
TEST_F(IndexParts, I6_PartsOfAnySizeGiveEachEntityOnce) {
  add_index("ByA", kByA);
  fill({{0, 60}, {1, 60}, {2, 60}});
  const format::TableId id = *Catalog::resolve_at(core_->backend().view(), orders_);
  const ResolvedTable table{core_->backend().view(), id};
  const TableIndexes indexes = *Catalog::find_indexes(table.view, orders_);
  const std::stop_token never;
  const auto key_of = [&](std::string_view partition, std::string_view row) {
    return *format::encode_sort_key(id, partition, row);
  };
  for (int round = 0; round < 100; ++round) {
    const std::string text = random_.next() % 2 == 0 ? "A eq 1" : "A in (0, 2)";
    const Filter filter = *Filter::parse(text);
    const bool backward = random_.next() % 2 == 0;
    const std::size_t entries = 1 + random_.next() % 40;
    // One or two ranges, at random places.
    std::vector<std::size_t> borders;
    for (int i = 0; i < 4; ++i) borders.push_back(random_.next() % rows_.size());
    std::sort(borders.begin(), borders.end());
    const auto key_at = [&](std::size_t i) { return key_of(rows_[i].partition, rows_[i].row); };
    std::vector<KeyRange> ranges;
    if (borders[0] < borders[1]) ranges.push_back({key_at(borders[0]), key_at(borders[1]), false});
    if (borders[2] < borders[3] && borders[1] < borders[2]) {
      ranges.push_back({key_at(borders[2]), key_at(borders[3]), false});
    }
    const std::string prefix = format::encode_table(id);
    KeyRange within{prefix, format::end_of_prefix(prefix)};
    Keys wanted;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const bool matches = text == "A eq 1" ? rows_[i].a == 1 : rows_[i].a != 1;
      const std::string key = key_at(i);
      const auto holds = [&key](const KeyRange& range) { return range.lower <= key && key < range.upper; };
      if (matches && std::any_of(ranges.begin(), ranges.end(), holds)) wanted.push_back(key);
    }
    if (backward) std::reverse(wanted.begin(), wanted.end());
    Keys found;
    IndexesAsked asked{0, false, PartOfScan{backward, entries}};
    for (std::size_t parts = 0;; ++parts) {
      ASSERT_LE(parts, rows_.size()) << "seed " << kSeed << " round " << round;
      IndexReading reading{bench_.env.clock, std::chrono::nanoseconds::max(), never};
      const Result<IndexOffer> offer = offer_of_indexes({table, indexes, filter, ranges, within}, reading, asked);
      ASSERT_TRUE(offer.ok() && offer->points) << offer.status().to_string();
      EXPECT_LE(offer->points->size(), entries);
      Keys part;
      for (const KeyRange& point : *offer->points) part.push_back(point.lower);
      EXPECT_TRUE(std::is_sorted(part.begin(), part.end()));
      if (backward) std::reverse(part.begin(), part.end());
      found.insert(found.end(), part.begin(), part.end());
      if (!offer->rest) break;
      asked.only = offer->rest->index;
      const std::string before = std::exchange(backward ? within.upper : within.lower,
                                               backward ? format::end_of_prefix(offer->rest->next) : offer->rest->next);
      ASSERT_TRUE(backward ? within.upper < before : before < within.lower) << "the parts do not get on";
    }
    ASSERT_EQ(found, wanted) << "seed " << kSeed << " round " << round << ": " << text;
  }
}

TEST_F(IndexParts, APartThatTheDeadlineEndsHasTheFirstEntities) {
  add_index("ByA", kByA);
  fill({{1, 200}});
  const format::TableId id = *Catalog::resolve_at(core_->backend().view(), orders_);
  const ResolvedTable table{core_->backend().view(), id};
  const TableIndexes indexes = *Catalog::find_indexes(table.view, orders_);
  const std::stop_token never;
  const Filter filter = *Filter::parse("A eq 1");
  const std::string prefix = format::encode_table(id);
  const KeyRange within{prefix, format::end_of_prefix(prefix)};
  const std::vector<KeyRange> ranges{within};
  const auto offered = [&](int questions, bool backward) {
    TickingClock clock;
    IndexReading reading{clock, std::chrono::nanoseconds(questions), never};
    Result<IndexOffer> offer =
        offer_of_indexes({table, indexes, filter, ranges, within}, reading, {0, false, PartOfScan{backward}});
    EXPECT_TRUE(offer.ok()) << offer.status().to_string();
    return offer.ok() ? *std::move(offer) : IndexOffer();
  };
  const auto key_at = [&](std::size_t i) { return *format::encode_sort_key(id, rows_[i].partition, rows_[i].row); };
  for (const bool backward : {false, true}) {
    EXPECT_FALSE(offered(1, backward).points) << "no entry was read";
    const IndexOffer offer = offered(6, backward);
    ASSERT_TRUE(offer.points && offer.rest);
    const std::size_t count = offer.points->size();
    ASSERT_GT(count, 0U);
    ASSERT_LT(count, rows_.size());
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ((*offer.points)[i].lower, key_at(backward ? rows_.size() - count + i : i));
    }
    EXPECT_EQ(offer.rest->next, key_at(backward ? rows_.size() - count - 1 : count));
  }
}

TEST_F(IndexParts, ADeadlineOrAStopBehindTheFirstPartEndsThePage) {
  add_index("ByA", kByA);
  fill({{1, 300}});
  const Keys wanted = expected([](const Row& row) { return row.b >= 3; });
  Scan scan = filtered("A eq 1 and B ge 3");
  scan.page_entities_max = 12;  // So the first part has 13 entries, and 7 of the entities match.
  std::size_t seen = 0;
  const EntityReader let_time_pass = [&](const EntityView&) {
    if (++seen == 7) bench_.machine.clock.advance(scan.page_time_max);
  };
  const Result<Page> late = read_page(*core_, orders_, entry(), Grant(), scan, {}, &let_time_pass);
  ASSERT_EQ(said(late), kFine);
  ASSERT_TRUE(late->continuation);
  EXPECT_EQ(late->cost.entities_examined, 17U) << "the page looks at its time once in 16 entities";
  EXPECT_EQ(seen, 8U);
  Scan rest = scan;
  rest.continuation = *late->continuation;
  EXPECT_EQ(answer(rest).keys, Keys(wanted.begin() + 8, wanted.end()));

  std::stop_source stop;
  seen = 0;
  const EntityReader stop_it = [&](const EntityView&) {
    if (++seen == 7) stop.request_stop();
  };
  const Result<Page> stopped = read_page(*core_, orders_, entry(), Grant(), scan, stop.get_token(), &stop_it);
  EXPECT_EQ(stopped.code(), Code::kCancelled);
  EXPECT_EQ(seen, 7U);
}

}  // namespace
}  // namespace varve::test::index_parts_test
