// Goal: a compaction that copies whole runs gives the result of one that merges every entry.
// Method: tables of several runs, changed in a few places between compactions, are compared with a map of every held
// version. Figures show whether runs were copied.
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::run_copy_compaction_test {
namespace {

using test::Change;
using test::Machine;

constexpr int kRowCount = 50'000;

std::string row(int number) {
  const std::string digits = std::to_string(number);
  return std::string(6 - digits.size(), '0') + digits;
}

/// Returns text that compresses to about half.
std::string hexadecimal(io::SeededRandom& random, std::size_t size) {
  std::string text;
  while (text.size() < size) text.push_back("0123456789abcdef"[io::random_below(random, 16)]);
  return text;
}

class RunCopyCompaction : public testing::TestWithParam<std::uint64_t> {
 protected:
  using Rows = std::map<std::string, std::string>;  // by sort key

  /// Writes or removes rows first, first + step, ... of a table in one commit.
  void change(format::TableId table, int first, int count, int step, bool removes = false) {
    Change change(table);
    for (int i = 0; i < count; ++i) {
      const std::string name = row((first + i * step) % kRowCount);
      if (removes) {
        change.remove("p", name);
        rows_.erase(test::key_of("p", name, table));
        continue;
      }
      const std::string value = hexadecimal(random_, 100);
      change.put("p", name, value);
      rows_[test::key_of("p", name, table)] = value;
    }
    const auto committed = change.buffered().commit(*engine_);
    ASSERT_TRUE(committed.ok()) << committed.status().to_string();
  }

  void fill(format::TableId table) {
    for (int first = 0; first < kRowCount; first += 1000) change(table, first, 1000, 1);
  }

  void drop(format::TableId table) {
    ASSERT_TRUE(Change(table).retire(table).commit(*engine_).ok());
    rows_.erase(rows_.lower_bound(format::encode_table(table)), rows_.lower_bound(format::encode_table(table + 1)));
  }

  /// Compacts to the last level: four files of level 0 are merged when there is no other work.
  void compact(format::TableId table, int row_number) {
    for (int i = 0; i < 4; ++i) {
      change(table, row_number, 1, 1);
      ASSERT_EQ(engine_->flush().to_string(), "Ok");
    }
    ASSERT_EQ(engine_->compact().to_string(), "Ok");
  }

  void check(const ReadView& view, const Rows& expected) {
    Cursor cursor = view.cursor("", "");
    auto at = expected.begin();
    for (cursor.seek_to_first(); cursor.valid(); cursor.next(), ++at) {
      ASSERT_NE(at, expected.end());
      ASSERT_EQ(cursor.key(), at->first);
      ASSERT_EQ(cursor.value(), at->second);
    }
    ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    ASSERT_EQ(at, expected.end());
  }

  void check_all() {
    check(engine_->view(), rows_);
    for (const auto& [snapshot, rows] : held_) check(engine_->view_at(snapshot), rows);
    engine_->check_tables([](std::uint64_t, const Status& found) { EXPECT_EQ(found.to_string(), "Ok"); });
  }

  std::uint64_t table_bytes() const {
    std::uint64_t bytes = 0;
    for (const LevelStatistics& level : engine_->statistics().levels) bytes += level.bytes;
    return bytes;
  }

  io::SeededRandom random_{GetParam()};
  Machine machine_{GetParam()};
  std::unique_ptr<Engine> engine_ = *machine_.open();
  Rows rows_;
  std::vector<std::pair<HeldVersion, Rows>> held_;
};

TEST_P(RunCopyCompaction, WhatNothingElseTouchesIsCopied) {
  fill(test::kTable);
  compact(test::kTable, 0);
  const Statistics before = engine_->statistics();
  compact(test::kTable, 1 + static_cast<int>(io::random_below(random_, 500)));
  const Statistics after = engine_->statistics();
  EXPECT_GT(after.compaction_copied_bytes - before.compaction_copied_bytes,
            (after.compaction_written_bytes - before.compaction_written_bytes) / 3);
  check_all();
}

TEST_P(RunCopyCompaction, ADroppedTableBesideALiveOneIsLeftOutUnread) {
  const std::array tables{format::make_table_id(7, 1), format::make_table_id(7, 2), format::make_table_id(7, 3)};
  for (const format::TableId table : tables) fill(table);
  compact(tables[0], 0);
  const std::uint64_t before = table_bytes();
  drop(tables[1]);
  compact(tables[0], 1);
  EXPECT_LT(table_bytes(), before * 3 / 4);
  check_all();
}

TEST_P(RunCopyCompaction, EveryHeldVersionShowsWhatItShowed) {
  const std::array tables{format::make_table_id(7, 1), format::make_table_id(7, 2)};
  for (const format::TableId table : tables) fill(table);
  for (int round = 0; round < 4 && !HasFatalFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto place = [this] { return static_cast<int>(io::random_below(random_, kRowCount)); };
    if (io::one_in(random_, 2)) held_.emplace_back(engine_->snapshot(), rows_);
    if (!held_.empty() && io::one_in(random_, 3)) held_.pop_back();
    const format::TableId table = tables[io::random_below(random_, 2)];
    change(table, place(), 40, 1 + static_cast<int>(io::random_below(random_, 5)));
    change(table, place(), 40, 1, true);
    compact(table, place());
    check_all();
  }
  EXPECT_GT(engine_->statistics().compaction_copied_bytes, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RunCopyCompaction,
                         testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(3)));

}  // namespace
}  // namespace varve::engine::run_copy_compaction_test
