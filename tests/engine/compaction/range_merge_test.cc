// Goal: a merge of level 0 that is cut into ranges shows every version right between two ranges, loses nothing if a range
// fails or the process ends there, and leaves level 0 only when all ranges are published.
// Method: a base of many small files, and a few files of level 0 over all of it, with updates, deletes and snapshots. The
// n-th new table file is held up, or fails. Meanwhile every held version is compared with its rows.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/sync_points.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"
#include "tests/support/small_trees.h"

namespace varve::engine::range_merge_test {
namespace {

using test::Change;
using test::Machine;

using Rows = std::map<std::string, std::string>;

constexpr std::uint64_t kRowCount = 600;
constexpr std::size_t kLevel0Files = 4;
constexpr int kTurnsMax = 1'000'000;

class RangeMerge : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    engine_ = *machine_.open();
    // Two files that overlap are merged, and so cut into files of the tree's size.
    for (std::uint64_t file = 0; file < 2; ++file) {
      write_base(file);
      ASSERT_EQ(engine_->flush().to_string(), "Ok");
    }
    ASSERT_EQ(engine_->compact().to_string(), "Ok");
    for (std::size_t file = 0; file < kLevel0Files; ++file) {
      write(25);
      held_.emplace_back(engine_->snapshot(), rows_);
      write(15);
      ASSERT_EQ(engine_->flush().to_string(), "Ok");
    }
    ASSERT_EQ(level(0).files, kLevel0Files);
    ASSERT_GT(level(kLastLevel).files, 3u);
    check(*engine_);
  }

  static std::string name_of(std::uint64_t row) { return std::to_string(10'000 + row); }
  static std::string key_of(std::uint64_t row) { return test::key_of("p", name_of(row)); }

  void put(Change& change, std::uint64_t row, std::size_t bytes) {
    std::string value(bytes, ' ');
    for (char& byte : value) byte = static_cast<char>(random_.next());  // incompressible
    change.put("p", name_of(row), value);
    rows_[key_of(row)] = value;
  }

  /// Writes every second row.
  void write_base(std::uint64_t first) {
    Change change;
    for (std::uint64_t row = first; row < kRowCount; row += 2) put(change, row, 500);
    ASSERT_TRUE(change.commit(*engine_).ok());
  }

  /// Updates or removes random rows. They are so few and small that a flush is one file.
  void write(std::uint64_t count) {
    Change change;
    std::set<std::uint64_t> written;
    while (written.size() < count) {
      const std::uint64_t row = io::random_below(random_, kRowCount);
      if (!written.insert(row).second) continue;
      if (!io::one_in(random_, 3)) {
        put(change, row, 10);
        continue;
      }
      change.remove("p", name_of(row));
      rows_.erase(key_of(row));
    }
    ASSERT_TRUE(change.commit(*engine_).ok());
  }

  LevelStatistics level(std::uint32_t number) const { return engine_->statistics().levels[number]; }

  static void compare(const ReadView& view, const Rows& rows) {
    Cursor cursor = view.cursor("", "");
    auto at = rows.begin();
    for (cursor.seek_to_first(); cursor.valid(); cursor.next(), ++at) {
      ASSERT_NE(at, rows.end());
      ASSERT_EQ(cursor.key(), at->first);
      ASSERT_EQ(cursor.value(), at->second);
    }
    ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    ASSERT_EQ(at, rows.end());
    auto back = rows.rbegin();
    for (cursor.seek_to_last(); cursor.valid(); cursor.previous(), ++back) ASSERT_EQ(cursor.key(), back->first);
    ASSERT_EQ(back, rows.rend());
    for (std::uint64_t row = 0; row < kRowCount; row += 50) {
      const std::string end = key_of(row + 20);
      Cursor part = view.cursor(key_of(row), end);
      auto expected = rows.lower_bound(key_of(row));
      for (part.seek_to_first(); part.valid(); part.next(), ++expected) {
        ASSERT_NE(expected, rows.end());
        ASSERT_EQ(part.key(), expected->first);
        ASSERT_EQ(part.value(), expected->second);
      }
      ASSERT_TRUE(expected == rows.end() || expected->first >= end);
    }
    for (std::uint64_t row = 0; row < kRowCount; row += 7) {
      const auto found = view.get(key_of(row));
      ASSERT_TRUE(found.ok());
      const auto expected = rows.find(key_of(row));
      ASSERT_EQ(found->has_value(), expected != rows.end());
      if (*found) {
        ASSERT_EQ((**found).value, expected->second);
      }
    }
  }

  /// Compares the newest state, and those of all snapshots.
  void check(const Engine& engine) const {
    compare(engine.view(), rows_);
    if (&engine != engine_.get()) return;
    for (const auto& [snapshot, rows] : held_) compare(engine.view_at(snapshot), rows);
  }

  /// Returns the number of blocks in which a get of each row looks.
  std::uint64_t blocks_of_gets() const {
    ReadCost cost;
    for (std::uint64_t row = 0; row < kRowCount; ++row) EXPECT_TRUE(engine_->view().get(key_of(row), &cost).ok());
    return cost.blocks_read + cost.blocks_from_cache;
  }

  /// The rule applies to the sync of the n-th new table file.
  io::FaultRule at_new_file(std::uint64_t number, io::FaultEffect effect) const {
    io::FaultRule rule;
    rule.sync_point = sync_points::kTable.name;
    rule.skip_count = number;
    rule.fail_count = 1;
    rule.effect = effect;
    return rule;
  }

  const test::SmallTrees trees_{16 << 10};
  io::SeededRandom random_{GetParam()};
  Machine machine_{GetParam(), test::OneThreadAtATime{}};
  std::unique_ptr<Engine> engine_;
  Rows rows_;
  std::vector<std::pair<HeldVersion, Rows>> held_;
};

TEST_P(RangeMerge, ShowsEveryVersionBetweenTwoRanges) {
  io::MemoryFileSystem& files = *machine_.files;
  const std::uint64_t entries_before = level(kLastLevel).entries;
  const std::uint64_t blocks_before = blocks_of_gets();
  files.faults().add(at_new_file(3 + GetParam() % 3, io::FaultEffect::kNever));
  Status compacted;
  io::Thread caller = *machine_.scheduler().start("caller", [&] { compacted = engine_->compact(); });
  files.await_stuck(1);
  // The other ranges go on.
  for (int i = 0; i < kTurnsMax && level(kLastLevel).entries == entries_before; ++i) machine_.scheduler().yield();
  EXPECT_EQ(level(0).files, kLevel0Files) << "level 0 left before the last range";
  EXPECT_NE(level(kLastLevel).entries, entries_before) << "no range was published by itself";
  EXPECT_LT(blocks_of_gets() + 20, blocks_before) << "gets still look in level 0";
  check(*engine_);

  Machine other(1, files.snapshot());  // The process ends here.
  const auto reopened = *other.open();
  check(*reopened);
  EXPECT_EQ(reopened->compact().to_string(), "Ok");
  check(*reopened);

  files.let_go();
  caller.join();
  EXPECT_EQ(compacted.to_string(), "Ok");
  EXPECT_EQ(level(0).files, 0u);
  check(*engine_);
}

TEST_P(RangeMerge, ThatFailsInOneRangeKeepsLevel0AndSucceedsLater) {
  io::FaultRule rule = at_new_file(GetParam() % 5, io::FaultEffect::kError);
  rule.code = Code::kNoSpace;
  machine_.files->faults().add(rule);
  EXPECT_EQ(engine_->compact().code(), Code::kNoSpace);
  EXPECT_EQ(level(0).files, kLevel0Files);
  check(*engine_);
  machine_.files->faults().clear();
  EXPECT_EQ(engine_->compact().to_string(), "Ok");
  EXPECT_EQ(level(0).files, 0u);
  check(*engine_);
}

TEST_P(RangeMerge, BesideADropOfItsTableLeavesNothing) {
  io::MemoryFileSystem& files = *machine_.files;
  files.faults().add(at_new_file(3 + GetParam() % 3, io::FaultEffect::kNever));
  io::Thread caller = *machine_.scheduler().start("caller", [&] { (void)engine_->compact(); });
  files.await_stuck(1);
  ASSERT_TRUE(Change().retire(test::kTable).commit(*engine_).ok());
  files.let_go();
  caller.join();
  held_.clear();
  rows_.clear();
  EXPECT_EQ(engine_->compact().to_string(), "Ok");
  check(*engine_);
  for (std::uint32_t number = 0; number < kLevelCount; ++number) EXPECT_EQ(level(number).files, 0u);
}

TEST_P(RangeMerge, BesideWritersKeepsTheNewestVersions) {
  io::MemoryFileSystem& files = *machine_.files;
  files.faults().add(at_new_file(3 + GetParam() % 3, io::FaultEffect::kNever));
  io::Thread caller = *machine_.scheduler().start("caller", [&] { (void)engine_->compact(); });
  files.await_stuck(1);
  write(80);
  held_.emplace_back(engine_->snapshot(), rows_);
  EXPECT_EQ(engine_->flush().to_string(), "Ok");
  write(80);
  check(*engine_);
  files.let_go();
  caller.join();
  check(*engine_);
  EXPECT_EQ(engine_->compact().to_string(), "Ok");
  check(*engine_);
  EXPECT_EQ(level(0).files, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RangeMerge, testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(12)));

}  // namespace
}  // namespace varve::engine::range_merge_test
