// Goal: the only entry of a range is found in memory, and is what a cursor shows. Where another entry may exist, there is no
// answer.
// Method: one store, read range by range in each state that a range can be in; and random writes, merges and ranges, each
// answer compared with a cursor.
#include "engine/read/held_range.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/engine_bench.h"

namespace varve::engine::held_range_test {
namespace {

using test::Change;
using test::key_of;

constexpr std::uint64_t kSeed = 20'261'129;

class HeldRangeTest : public testing::Test {
 protected:
  HeldRangeTest() {
    auto opened = machine_.open();
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
    EXPECT_TRUE(engine_->allow_ends().ok());
  }

  void put(std::string_view row, std::string_view value = "v") {
    EXPECT_TRUE(Change().put("p", row, value).commit(*engine_).ok());
  }
  void remove(std::string_view row) { EXPECT_TRUE(Change().remove("p", row).commit(*engine_).ok()); }
  /// Merges all tables into one, and reads it.
  void settle() {
    ASSERT_TRUE(engine_->compact().ok());
    (void)shown(engine_->view(), "", "");
  }
  static std::string bound(std::string_view row) { return key_of("p", row); }

  /// Returns what a cursor shows of a range, with a space after each row's value.
  static std::string shown(const ReadView& view, std::string_view lower, std::string_view upper) {
    std::string values;
    Cursor cursor = view.cursor(lower, upper);
    for (cursor.seek_to_first(); cursor.valid(); cursor.next())
      values.append(cursor.key()).append(cursor.value()) += ' ';
    EXPECT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    return values;
  }
  /// Returns the answer in the same form, or "?".
  static std::string held(const ReadView& view, std::string_view lower, std::string_view upper,
                          ReadCost* cost = nullptr) {
    const Result<HeldRange> range = view.held_range(lower, upper, cost);
    EXPECT_TRUE(range.ok()) << range.status().to_string();
    if (!range.ok() || range->has == HeldRange::Has::kUnknown) return "?";
    return range->has == HeldRange::Has::kNothing ? "" : range->sort_key + range->value + " ";
  }
  std::string held(std::string_view from, std::string_view to) const {
    return held(engine_->view(), bound(from), bound(to));
  }

  test::Machine machine_{kSeed};
  std::unique_ptr<Engine> engine_;
};

TEST_F(HeldRangeTest, TheOnlyEntryOfACachedTableIsFoundAndCountsTwoBlocks) {
  for (const std::string_view row : {"1", "3", "5"}) put(row, row);
  settle();
  ReadCost cost;
  EXPECT_EQ(held(engine_->view(), bound("2"), bound("4"), &cost), bound("3") + "3 ");
  EXPECT_EQ(cost.blocks_from_cache, 2U);
  EXPECT_EQ(cost.blocks_read, 0U);
  EXPECT_EQ(held("1", "3"), bound("1") + "1 ");
  EXPECT_EQ(held("3", "4"), bound("3") + "3 ");
}

TEST_F(HeldRangeTest, ARangeBetweenTwoEntriesHasNothing) {
  for (const std::string_view row : {"1", "3", "5"}) put(row);
  settle();
  EXPECT_EQ(held("2", "3"), "");
  EXPECT_EQ(held("6", "7"), "");
  EXPECT_EQ(held("0", "1"), "");
}

TEST_F(HeldRangeTest, SeveralEntriesAreNoAnswer) {
  for (const std::string_view row : {"1", "3", "5"}) put(row);
  settle();
  EXPECT_EQ(held("1", "4"), "?");
}

TEST_F(HeldRangeTest, AnEntryInAMemtableIsNoAnswerButAnotherRangeOfTheTableHasOne) {
  for (const std::string_view row : {"1", "3", "5", "7"}) put(row);
  settle();
  put("3", "new");
  EXPECT_EQ(held("3", "4"), "?");
  EXPECT_EQ(held("5", "6"), bound("5") + "v ");
  remove("5");
  EXPECT_EQ(held("5", "6"), "?");
}

TEST_F(HeldRangeTest, TwoTablesWithTheRangeAreNoAnswer) {
  put("1", "old");
  put("8");
  put("9");
  settle();
  put("1", "new");
  put("2");
  ASSERT_TRUE(engine_->flush().ok());
  (void)shown(engine_->view(), "", "");
  EXPECT_EQ(held("1", "2"), "?");
  EXPECT_EQ(held("8", "9"), bound("8") + "v ");
}

TEST_F(HeldRangeTest, AnEntityThatHasEndedIsNothing) {
  const std::uint64_t end = engine_->time() + 10 * io::kTicksPerSecond;
  ASSERT_TRUE(Change().put_until("p", "1", end, "brief").commit(*engine_).ok());
  put("2");
  settle();
  EXPECT_EQ(held("1", "2"), bound("1") + "brief ");
  machine_.clock.advance(std::chrono::seconds(11));
  EXPECT_EQ(held("1", "2"), "");
}

TEST_F(HeldRangeTest, AViewBeforeTheEntryDoesNotShowIt) {
  put("0");
  const HeldVersion before = engine_->snapshot();
  put("1", "later");
  put("2");
  settle();
  EXPECT_EQ(held("1", "2"), bound("1") + "later ");
  const std::string at_before = held(engine_->view_at(before), bound("1"), bound("2"));
  EXPECT_EQ(at_before, "?");
}

TEST_F(HeldRangeTest, AnUncachedTableIsNotRead) {
  put("1");
  ASSERT_TRUE(engine_->compact().ok());
  engine_.reset();
  engine_ = *machine_.open();
  ReadCost cost;
  EXPECT_EQ(held(engine_->view(), bound("1"), bound("2"), &cost), "?");
  EXPECT_EQ(cost.blocks_from_cache + cost.blocks_read, 0U);
}

TEST_F(HeldRangeTest, EachAnswerIsWhatACursorShows) {
  std::mt19937_64 random(kSeed);
  const auto row = [&] { return std::to_string(1000 + random() % 400); };
  std::vector<HeldVersion> snapshots;
  std::uint64_t answers = 0;
  for (int round = 0; round < 60; ++round) {
    for (int i = 0; i < 40; ++i) {
      if (random() % 4 == 0) {
        remove(row());
      } else {
        put(row(), std::string(1 + random() % 200, static_cast<char>('a' + round % 26)));
      }
    }
    if (random() % 8 == 0) snapshots.push_back(engine_->snapshot());
    if (random() % 2 == 0) {
      ASSERT_TRUE(engine_->flush().ok());
    }
    if (random() % 3 == 0) settle();
    const bool is_old = !snapshots.empty() && random() % 2 == 0;
    const ReadView view = is_old ? engine_->view_at(snapshots[random() % snapshots.size()]) : engine_->view();
    for (int i = 0; i < 200; ++i) {
      const std::string lower = bound(row());
      const std::string upper = i % 2 == 0 ? format::end_of_prefix(lower) : bound(row());
      const std::string answer = held(view, lower, upper);
      if (answer == "?") continue;
      ++answers;
      ASSERT_EQ(answer, shown(view, lower, upper)) << "round " << round;
    }
  }
  EXPECT_GT(answers, 1'000U);
}

}  // namespace
}  // namespace varve::engine::held_range_test
