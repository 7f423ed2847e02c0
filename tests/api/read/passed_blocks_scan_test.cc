// Goal: a scan whose filter names a property that ascends with the keys reads only the blocks that may match. A search for
// a smallest or largest value reads only those that may have a better one. Skipped blocks never bring back an overwritten or
// deleted value.
// Method: a store of many blocks is scanned forward, backward, in pages and counted. The results are compared with a
// slow evaluation of all entities of a scan without a filter. Smallest and largest values are compared with those of an
// aggregation that also counts, so that it reads all blocks. This is repeated after overwrites and deletes, in memory
// and in tables above, and at a snapshot.
#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"
#include "varve/aggregate.h"

namespace varve::passed_blocks_scan_test {
namespace {

using namespace test;

constexpr int kPartitions = 10;
constexpr int kRows = 120;
constexpr int kEntities = kPartitions * kRows;

/// Returns whether an entity is wanted, given its N or nothing.
using Judge = std::function<bool(std::optional<std::int32_t>)>;

class PassedBlockScans : public ::testing::Test {
 protected:
  void SetUp() override {
    open_with_small_buffer();
    table_.emplace(bench_.table());
    for (int partition = 0; partition < kPartitions; ++partition) {
      for (int row = 0; row < kRows; row += 40) {
        EntityGroupTransaction transaction;
        for (int i = row; i < row + 40; ++i) transaction.insert(entity(partition * kRows + i, partition * kRows + i));
        ASSERT_TRUE(table_->execute(transaction).ok());
      }
    }
    ASSERT_TRUE(bench_.store->compact().ok());
    all_blocks_ = blocks_of(cost_of("not (Padding ge '')"));
    ASSERT_GT(all_blocks_, 60U);
  }

  /// Opens the store with a small buffer. Data beyond it is written to tables.
  void open_with_small_buffer() {
    ResourceOptions resources;
    resources.write_buffer_bytes = 128 << 10;
    StoreOptions options = bench_.options();
    options.resources = *Resources::create(resources);
    bench_.open(options);
  }
  Entity entity(int place, std::optional<int> number) {
    const std::string row = std::to_string(1000 + place % kRows);
    Entity made(std::string(1, static_cast<char>('a' + place / kRows)), row);
    if (number) made.set("N", *number);
    std::string padding(400, ' ');  // incompressible
    for (char& c : padding) c = static_cast<char>('0' + random_() % 64);
    made.set("Padding", padding);
    return made;
  }
  void overwrite(int first, int last, std::optional<int> number) {
    for (int place = first; place < last; ++place) {
      ASSERT_TRUE(table_->insert_or_replace(entity(place, number)).ok());
    }
  }
  void remove(int first, int last) {
    for (int place = first; place < last; ++place) {
      const Entity gone = entity(place, std::nullopt);
      ASSERT_TRUE(table_->remove(gone.partition_key(), gone.row_key(), ETag::any()).ok());
    }
  }
  /// Writes enough entities to flush the buffer to a table. Their N never matches.
  void flush_by_writing(int first, int last) {
    ASSERT_NO_FATAL_FAILURE(overwrite(first, last, -1));
    ASSERT_NO_FATAL_FAILURE(overwrite(first, last, -1));
  }

  Scan scan_of(std::string_view filter, bool backward = false) const {
    Scan scan;
    scan.filter = filter;
    scan.backward = backward;
    scan.read.snapshot = snapshot_;
    return scan;
  }
  std::vector<Entity> entities(Scan scan, PageCost* cost = nullptr) {
    std::vector<Entity> found;
    for (;;) {
      Result<Page> page = table_->scan(scan);
      EXPECT_TRUE(page.ok()) << page.status().to_string();
      if (!page.ok()) return found;
      if (cost != nullptr) *cost += page->cost;
      for (Entity& entity : page->entities) found.push_back(std::move(entity));
      if (!page->continuation) return found;
      scan.continuation = *page->continuation;
    }
  }
  PageCost cost_of(std::string_view filter, bool backward = false) {
    PageCost cost;
    (void)entities(scan_of(filter, backward), &cost);
    return cost;
  }
  static std::uint64_t blocks_of(const PageCost& cost) { return cost.blocks_read + cost.blocks_from_cache; }
  static std::vector<std::string> names_of(const std::vector<Entity>& entities) {
    std::vector<std::string> names;
    for (const Entity& one : entities) {
      names.push_back(one.partition_key() + "/" + one.row_key() + " " + one.etag().to_string());
    }
    return names;
  }
  std::uint64_t counted(std::string_view filter) {
    const Result<Count> count = table_->count(scan_of(filter));
    EXPECT_TRUE(count.ok() && !count->continuation);
    return count.ok() ? count->entities : 0;
  }

  /// Compares every kind of scan with the slow evaluation. Returns the number of matches.
  std::size_t expect_as_slowly(const std::string& filter, const Judge& judge) {
    SCOPED_TRACE(filter);
    std::vector<Entity> expected;
    for (Entity& one : entities(scan_of(""))) {
      const Value* const number = one.find("N");
      const bool has = number != nullptr && number->get_if<std::int32_t>() != nullptr;
      if (judge(has ? std::optional(*number->get_if<std::int32_t>()) : std::nullopt))
        expected.push_back(std::move(one));
    }
    std::vector<std::string> names = names_of(expected);
    for (const bool backward : {false, true}) {
      if (backward) std::reverse(names.begin(), names.end());
      Scan scan = scan_of(filter, backward);
      EXPECT_EQ(names_of(entities(scan)), names) << backward;
      scan.page_entities_max = 3;
      EXPECT_EQ(names_of(entities(scan)), names) << "in pages, " << backward;
    }
    EXPECT_EQ(counted(filter), names.size());
    return names.size();
  }
  std::size_t expect_between(int low, int high) {
    const std::string filter = "N ge " + std::to_string(low) + " and N lt " + std::to_string(high);
    return expect_as_slowly(filter, [&](auto number) { return number && *number >= low && *number < high; });
  }
  /// Tests narrow ranges all over the table, and its ends.
  void expect_everywhere() {
    for (int low = -1; low <= kEntities; low += 97) (void)expect_between(low, low + 10);
    (void)expect_as_slowly("not (N ge 0)", [](auto number) { return !number || *number < 0; });
    (void)expect_as_slowly("N eq 3 or N eq 1111", [](auto number) { return number == 3 || number == 1111; });
  }

  using Figures = std::vector<std::optional<Value>>;
  /// Returns the figures, or nothing and the code of the error.
  std::pair<Figures, Code> figures_of(Scan scan, std::vector<Aggregate> wanted, PageCost* cost = nullptr) {
    Aggregation aggregation = *Aggregation::create(std::move(wanted));
    const Result<Count> count = table_->aggregate(scan, aggregation);
    if (!count.ok()) return {{}, count.code()};
    EXPECT_FALSE(count->continuation);
    if (cost != nullptr) *cost = count->cost;
    return {(*aggregation.rows()).front().figures, Code::kOk};
  }
  /// Compares smallest and largest values with those of an aggregation that passes no block for them. Returns the smallest.
  std::optional<Value> expect_extremes(const std::string& property, std::string_view filter = "") {
    std::optional<Value> smallest;
    for (const bool backward : {false, true}) {
      const Scan scan = scan_of(filter, backward);
      const Aggregate min = Aggregate::min(property);
      const Aggregate max = Aggregate::max(property);
      std::pair<Figures, Code> expected = figures_of(scan, {min, max, Aggregate::count()});
      if (expected.second == Code::kOk) expected.first.pop_back();
      EXPECT_EQ(figures_of(scan, {min, max}), expected) << property << " of " << filter << " " << backward;
      if (expected.second != Code::kOk) {
        EXPECT_EQ(figures_of(scan, {min}).second, expected.second) << property << " of " << filter << " " << backward;
        EXPECT_EQ(figures_of(scan, {max}).second, expected.second) << property << " of " << filter << " " << backward;
        continue;
      }
      EXPECT_EQ(figures_of(scan, {min}).first.front(), expected.first[0]) << property << " " << backward;
      EXPECT_EQ(figures_of(scan, {max}).first.front(), expected.first[1]) << property << " " << backward;
      smallest = expected.first[0];
    }
    return smallest;
  }
  /// Gives an entity of this place another value of N.
  void set_number(int place, const Value& value) {
    Entity made = entity(place, std::nullopt);
    made.set("N", value);
    ASSERT_TRUE(table_->insert_or_replace(made).ok());
  }

  std::mt19937_64 random_{7};
  StoreBench bench_;
  std::optional<Table> table_;
  std::optional<Snapshot> snapshot_;
  std::uint64_t all_blocks_ = 0;
};

TEST_F(PassedBlockScans, ReadTheBlocksThatMayMatchAndNoMore) {
  for (const bool backward : {false, true}) {
    SCOPED_TRACE(backward);
    const PageCost cost = cost_of("N ge 700 and N lt 710", backward);
    EXPECT_LE(blocks_of(cost), 12U) << "of " << all_blocks_;
    EXPECT_GT(cost.blocks_skipped, all_blocks_ * 3 / 4);
    EXPECT_LT(cost.entities_examined, 100U);
    EXPECT_LE(blocks_of(cost_of("N gt 100000", backward)), 8U);
    EXPECT_LE(blocks_of(cost_of("Timestamp lt datetime'2000-01-01T00:00:00Z'", backward)), 8U);
  }
  EXPECT_EQ(expect_between(700, 710), 10U);
  const Result<Count> count = table_->count(scan_of("N ge 700 and N lt 710"));
  ASSERT_TRUE(count.ok());
  EXPECT_GT(count->cost.blocks_skipped, all_blocks_ * 3 / 4);
  expect_everywhere();
}

TEST_F(PassedBlockScans, WithoutUseOfARangeReadAll) {
  for (const char* const filter : {"not (N lt 5000)", "Missing eq 3 or not (N lt 5000)", "RowKey eq 'x'"}) {
    EXPECT_EQ(blocks_of(cost_of(filter)), all_blocks_) << filter;
    EXPECT_EQ(cost_of(filter).blocks_skipped, 0U) << filter;
  }
}

TEST_F(PassedBlockScans, WhatWasOverwrittenInMemoryStaysHidden) {
  ASSERT_NO_FATAL_FAILURE(overwrite(695, 720, 5));
  EXPECT_EQ(expect_between(700, 710), 0U);
  EXPECT_EQ(expect_between(690, 730), 15U);
  EXPECT_EQ(expect_between(5, 6), 26U);
  ASSERT_NO_FATAL_FAILURE(overwrite(300, 305, std::nullopt));
  EXPECT_EQ(expect_between(300, 310), 5U);
  ASSERT_NO_FATAL_FAILURE(remove(0, 10));
  ASSERT_NO_FATAL_FAILURE(remove(kEntities - 3, kEntities));
  expect_everywhere();
}

/// Blocks of the upper table contain no wanted entity, but hide outdated ones of the lower table.
TEST_F(PassedBlockScans, WhatWasOverwrittenInATableAboveStaysHidden) {
  ASSERT_NO_FATAL_FAILURE(flush_by_writing(400, 800));
  EXPECT_EQ(expect_between(700, 710), 0U);
  EXPECT_EQ(expect_between(390, 410), 10U);
  EXPECT_EQ(expect_between(795, 805), 5U);
  expect_everywhere();
  EXPECT_LT(blocks_of(cost_of("N ge 900 and N lt 910")), all_blocks_);
}

TEST_F(PassedBlockScans, WhatWasDeletedStaysDeleted) {
  ASSERT_NO_FATAL_FAILURE(remove(600, 760));
  ASSERT_NO_FATAL_FAILURE(flush_by_writing(0, 300));
  EXPECT_EQ(expect_between(700, 710), 0U);
  EXPECT_EQ(expect_between(595, 765), 10U);
  expect_everywhere();
  ASSERT_NO_FATAL_FAILURE(overwrite(705, 706, 702));
  EXPECT_EQ(expect_between(700, 710), 1U);
  ASSERT_TRUE(bench_.store->compact().ok());
  EXPECT_EQ(expect_between(700, 710), 1U);
  expect_everywhere();
}

TEST_F(PassedBlockScans, ASnapshotKeepsWhatItSaw) {
  const Snapshot before = *bench_.store->snapshot();
  ASSERT_NO_FATAL_FAILURE(flush_by_writing(650, 900));
  ASSERT_NO_FATAL_FAILURE(remove(100, 200));
  const auto check = [&] {
    snapshot_ = before;
    EXPECT_EQ(expect_between(700, 710), 10U);
    EXPECT_EQ(expect_between(150, 160), 10U);
    EXPECT_EQ(expect_between(-1, 0), 0U);
    expect_everywhere();
    snapshot_.reset();
    EXPECT_EQ(expect_between(700, 710), 0U);
    EXPECT_EQ(expect_between(150, 160), 0U);
    EXPECT_EQ(expect_between(-1, 0), 250U);
    expect_everywhere();
  };
  check();
  ASSERT_TRUE(bench_.store->compact().ok());
  check();
}

TEST_F(PassedBlockScans, ExtremesPassBlocksThatCannotChangeThem) {
  const auto cost_of_figures = [&](const Scan& scan, const std::vector<Aggregate>& wanted) {
    PageCost cost;
    EXPECT_EQ(figures_of(scan, wanted, &cost).second, Code::kOk);
    return cost;
  };
  const Aggregate min = Aggregate::min("N");
  const Aggregate max = Aggregate::max("N");
  for (const bool backward : {false, true}) {
    // N ascends with the keys, so the first block has the best value.
    const PageCost cost = cost_of_figures(scan_of("", backward), {backward ? max : min});
    EXPECT_LE(blocks_of(cost), 12U) << "of " << all_blocks_;
    EXPECT_GT(cost.blocks_skipped, all_blocks_ * 3 / 4);
    const PageCost of_time =
        cost_of_figures(scan_of("", backward), {backward ? Aggregate::max("Timestamp") : Aggregate::min("Timestamp")});
    EXPECT_LE(blocks_of(of_time), 12U) << "of " << all_blocks_;
    const PageCost filtered = cost_of_figures(scan_of("N ge 300 and N lt 900", backward), {backward ? max : min});
    EXPECT_LE(blocks_of(filtered), 16U) << "of " << all_blocks_;
    for (const std::vector<Aggregate>& wanted :
         std::vector<std::vector<Aggregate>>{{backward ? min : max},
                                             {min, max},
                                             {backward ? max : min, Aggregate::count()},
                                             {Aggregate::min("RowKey")}}) {
      EXPECT_GT(blocks_of(cost_of_figures(scan_of("", backward), wanted)), all_blocks_ * 9 / 10);
    }
  }
  Scan first = scan_of("");
  first.take = 200;
  EXPECT_EQ(figures_of(first, {min, max}).first, (Figures{Value(std::int32_t{0}), Value(std::int32_t{199})}));
  first.backward = true;
  EXPECT_EQ(figures_of(first, {max}).first, (Figures{Value(std::int32_t{kEntities - 1})}));
  Aggregation grouped = *Aggregation::create({min}, {{"PartitionKey"}});
  ASSERT_TRUE(table_->aggregate(scan_of(""), grouped).ok());
  EXPECT_EQ((*grouped.rows()).size(), std::size_t{kPartitions});
  EXPECT_EQ(expect_extremes("N", "N gt 500"), Value(std::int32_t{501}));
  EXPECT_EQ(expect_extremes("N", "not (N lt 700) and PartitionKey ne 'f'"), Value(std::int32_t{720}));
  (void)expect_extremes("Padding");
  (void)expect_extremes("Missing");
  // Blocks that cannot change the extreme of the first entities are among these.
  ASSERT_NO_FATAL_FAILURE(set_number(700, Value(-5)));
  ASSERT_TRUE(bench_.store->compact().ok());
  first.backward = false;
  EXPECT_EQ(figures_of(first, {min}).first, (Figures{Value(std::int32_t{0})}));
}

TEST_F(PassedBlockScans, ExtremesOfWhatWasDeletedOrOverwrittenDoNotCount) {
  const auto smallest = [&](int value) {
    EXPECT_EQ(expect_extremes("N"), Value(std::int32_t{value}));
    (void)expect_extremes("Timestamp");
    (void)expect_extremes("N", "N ge 350 and N lt 900");
  };
  const Snapshot before = *bench_.store->snapshot();
  ASSERT_NO_FATAL_FAILURE(remove(0, 10));
  ASSERT_NO_FATAL_FAILURE(remove(kEntities - 10, kEntities));
  smallest(10);
  ASSERT_NO_FATAL_FAILURE(overwrite(10, 300, std::nullopt));
  smallest(300);
  ASSERT_NO_FATAL_FAILURE(flush_by_writing(300, 350));
  smallest(-1);
  ASSERT_NO_FATAL_FAILURE(remove(300, 350));
  smallest(350);
  snapshot_ = before;
  smallest(0);
  snapshot_.reset();
  ASSERT_TRUE(bench_.store->compact().ok());
  smallest(350);
  snapshot_ = before;
  smallest(0);
}

TEST_F(PassedBlockScans, ExtremesOfSeveralTypesAreThoseOfAllBlocks) {
  ASSERT_NO_FATAL_FAILURE(set_number(40, Value(std::numeric_limits<double>::quiet_NaN())));
  ASSERT_NO_FATAL_FAILURE(set_number(700, Value(-7.5)));
  ASSERT_NO_FATAL_FAILURE(set_number(701, Value(std::int64_t{-7})));
  ASSERT_TRUE(bench_.store->compact().ok());
  EXPECT_EQ(expect_extremes("N"), Value(-7.5));
  ASSERT_NO_FATAL_FAILURE(set_number(900, Value(std::string("text"))));
  EXPECT_EQ(expect_extremes("N"), std::nullopt) << "a text and a number do not compare";
  ASSERT_TRUE(bench_.store->compact().ok());
  EXPECT_EQ(expect_extremes("N"), std::nullopt);
  // A partition of texts alone.
  for (int place = 840; place < 960; ++place) ASSERT_NO_FATAL_FAILURE(set_number(place, Value(std::string("text"))));
  ASSERT_TRUE(bench_.store->compact().ok());
  EXPECT_EQ(expect_extremes("N"), std::nullopt);
  EXPECT_EQ(expect_extremes("N", "N ge 0"), Value(std::int32_t{0}));
  EXPECT_EQ(expect_extremes("N", "N ge ''"), Value(std::string("text")));
  ASSERT_NO_FATAL_FAILURE(remove(840, 960));
  EXPECT_EQ(expect_extremes("N"), Value(-7.5));
}

/// A file of texts lies beside the one of numbers, so the blocks of both have ranges.
TEST_F(PassedBlockScans, ExtremesOfFilesOfOtherTypesAreThoseOfAllBlocks) {
  // One commit is in one memtable, and so in one file. A scan reads the first block of a file, which has no N.
  EntityGroupTransaction transaction;
  for (int place = kEntities; place < kEntities + 60; ++place) {
    Entity made = entity(place, std::nullopt);
    if (place >= kEntities + 40) made.set("N", std::string("text"));
    transaction.insert(made);
  }
  ASSERT_TRUE(table_->execute(transaction).ok());
  ASSERT_TRUE(bench_.store->compact().ok());
  EXPECT_GT(cost_of("N eq 5").blocks_skipped, all_blocks_ * 3 / 4) << "texts and numbers lie in one run";
  EXPECT_EQ(expect_extremes("N"), std::nullopt) << "a text and a number do not compare";
}

/// Statistics have the beginning of a text.
TEST_F(PassedBlockScans, ExtremesOfTextsThatBeginAlikeAreThoseOfAllBlocks) {
  const std::vector<std::string> beginnings = {"", "a", "0123456789abcde", "0123456789abcdef", "0123456789abcde\u00e9"};
  for (int round = 0; round < 3; ++round) {
    for (int place = 0; place < kEntities; place += 1 + static_cast<int>(random_() % 9)) {
      std::string text = beginnings[random_() % beginnings.size()];
      if (text.size() > 10 && random_() % 2 == 0)
        text += std::string(1, static_cast<char>('a' + random_() % 20)) + "tail";
      ASSERT_NO_FATAL_FAILURE(set_number(place, Value(text)));
    }
    ASSERT_TRUE(bench_.store->compact().ok());
    (void)expect_extremes("N", "N ge ''");
    (void)expect_extremes("N", "N lt '0123456789abcdefg'");
    (void)expect_extremes("N", "N gt 500");
  }
}

/// The blocks of each partition's second half have one beginning, and so one range, whichever has the largest text.
TEST_F(PassedBlockScans, TheLargestOfTextsThatWereCutIsThatOfAllBlocks) {
  for (int place = 0; place < kEntities; ++place) {
    const int row = place % kRows;
    const auto letter = static_cast<char>('a' + random_() % 26);
    const std::string text =
        row < kRows / 2 ? "a" + std::to_string(100 + row) : std::string("z123456789abcdef") + letter;
    ASSERT_NO_FATAL_FAILURE(set_number(place, Value(text)));
  }
  ASSERT_TRUE(bench_.store->compact().ok());
  EXPECT_EQ(expect_extremes("N"), Value(std::string("a100")));
  (void)expect_extremes("N", "PartitionKey ge 'c'");
  (void)expect_extremes("N", "N lt 'z123456789abcdefx'");
}

}  // namespace
}  // namespace varve::passed_blocks_scan_test
