// Goal: after any flushes and compactions, each version shows its content.
// Method: random commits, drops, flushes, compactions, snapshots and reopens, compared with a map of every held
// version. Keys and cursors are compared.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/env.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"
#include "tests/support/small_trees.h"

namespace varve::engine::tables_model_test {
namespace {

using test::Change;
using test::Machine;

using Rows = std::map<std::string, std::string>;

class TablesModel : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override { open(); }

  void open() {
    EngineOptions options = Machine::writable();
    options.write_budget = std::make_shared<WriteBudget>(io::system_env().scheduler, 256 << 10);
    options.block_cache = std::make_shared<BlockCache>(machine_.scheduler(), 64 << 10);
    auto opened = machine_.open(options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }

  std::uint64_t below(std::uint64_t bound) { return io::random_below(random_, bound); }

  static std::string row(std::uint64_t number) {
    std::string digits = std::to_string(number);
    return std::string(4 - digits.size(), '0') + digits;
  }

  std::uint64_t value_bytes() {
    return writes_large_values_ && below(4) != 0 ? kExternalValueBytesMin + below(3000) : below(600);
  }

  void write() {
    Change change;
    Rows next = rows_;
    const std::uint64_t first = below(600);
    const std::uint64_t count = 1 + below(writes_large_values_ ? 3 : 30);
    const bool removes = io::one_in(random_, 4);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (removes) {
        change.remove("p", row(first + i));
        next.erase(row(first + i));
      } else {
        const std::string value(value_bytes(), static_cast<char>('a' + below(26)));
        change.put("p", row(first + i), value);
        next[row(first + i)] = value;
      }
    }
    if (io::one_in(random_, 2)) change.buffered();
    const auto committed = change.commit(*engine_);
    ASSERT_TRUE(committed.ok()) << committed.status().to_string();
    rows_ = std::move(next);
  }

  /// Writes a table file of only deletes over live rows, deleted rows, and rows that a snapshot holds.
  void remove_many() {
    ASSERT_EQ(engine_->flush().to_string(), "Ok");
    Change change;
    const std::uint64_t first = below(600);
    const std::uint64_t count = 1 + below(200);
    for (std::uint64_t number = first; number < first + count; ++number) {
      change.remove("p", row(number));
      rows_.erase(row(number));
    }
    ASSERT_TRUE(change.commit(*engine_).ok());
    ASSERT_EQ(engine_->flush().to_string(), "Ok");
  }

  /// Scans between two bounds, with random changes of direction.
  void check_turning(const ReadView& view, const Rows& expected) {
    const std::string first = row(below(650));
    const std::string end = row(below(650));
    if (first >= end) return;
    const Rows within(expected.lower_bound(first), expected.lower_bound(end));
    Cursor cursor = view.cursor(test::key_of("p", first), test::key_of("p", end));
    auto at = within.end();
    for (int step = 0; step < 60; ++step) {
      if (at == within.end()) {
        const bool last = below(2) == 0 && !within.empty();
        last ? cursor.seek_to_last() : cursor.seek_to_first();
        at = last ? std::prev(within.end()) : within.begin();
      } else if (below(2) == 0) {
        cursor.next();
        ++at;
      } else {
        cursor.previous();
        at = at == within.begin() ? within.end() : std::prev(at);
      }
      ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
      ASSERT_EQ(cursor.valid(), at != within.end());
      if (!cursor.valid()) continue;
      ASSERT_EQ(cursor.key(), test::key_of("p", at->first));
      ASSERT_EQ(cursor.value(), at->second);
    }
  }

  void check(const ReadView& view, const Rows& expected) {
    Cursor cursor = view.cursor("", "");
    auto at = expected.begin();
    for (cursor.seek_to_first(); cursor.valid(); cursor.next(), ++at) {
      ASSERT_NE(at, expected.end());
      ASSERT_EQ(cursor.key(), test::key_of("p", at->first));
      ASSERT_EQ(cursor.value(), at->second);
    }
    ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    ASSERT_EQ(at, expected.end());
    auto back = expected.rbegin();
    for (cursor.seek_to_last(); cursor.valid(); cursor.previous(), ++back) {
      ASSERT_NE(back, expected.rend());
      ASSERT_EQ(cursor.key(), test::key_of("p", back->first));
      ASSERT_EQ(cursor.value(), back->second);
    }
    ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    ASSERT_EQ(back, expected.rend());
    check_turning(view, expected);
    for (int i = 0; i < 20; ++i) {
      const std::string name = row(below(650));
      const auto found = view.get(test::key_of("p", name));
      ASSERT_TRUE(found.ok()) << found.status().to_string();
      expect_found(*found, name, expected);
    }
    check_many(view, expected);
  }

  static void expect_found(const std::optional<FoundEntry>& found, const std::string& name, const Rows& expected) {
    const auto known = expected.find(name);
    ASSERT_EQ(found.has_value(), known != expected.end()) << name;
    if (found) {
      ASSERT_EQ(found->value, known->second) << name;
    }
  }

  /// Reads many keys: some twice, some absent.
  void check_many(const ReadView& view, const Rows& expected) {
    std::vector<std::string> names;
    std::vector<std::string> keys;
    for (std::uint64_t i = below(60); i > 0; --i) {
      names.push_back(row(below(650)));
      keys.push_back(test::key_of("p", names.back()));
    }
    const auto found = view.get_many(std::vector<std::string_view>(keys.begin(), keys.end()));
    ASSERT_TRUE(found.ok()) << found.status().to_string();
    ASSERT_EQ(found->size(), names.size());
    for (std::size_t i = 0; i < names.size(); ++i) expect_found((*found)[i], names[i], expected);
  }

  void check_all() {
    check(engine_->view(), rows_);
    for (const auto& [snapshot, rows] : held_) check(engine_->view_at(snapshot), rows);
  }

  void one_step() {
    switch (below(14)) {
      case 0: ASSERT_EQ(engine_->flush().to_string(), "Ok"); break;
      case 1:
        if (!io::one_in(random_, 3)) break;
        ASSERT_EQ(engine_->compact().to_string(), "Ok");
        break;
      case 2: held_.emplace_back(engine_->snapshot(), rows_); break;
      case 3:
        if (!held_.empty()) held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(below(held_.size())));
        break;
      case 4:
        if (!io::one_in(random_, 6)) break;
        held_.clear();
        ASSERT_EQ(engine_->close().to_string(), "Ok");
        open();
        break;
      case 5: check_all(); break;
      case 6:
        if (io::one_in(random_, 3)) remove_many();
        break;
      default: write();
    }
  }

  const bool writes_large_values_ = GetParam() % 2 == 0;
  const test::SmallTrees trees_{GetParam() % 4 < 2 ? 1024 : TreeShape().file_bytes};
  io::SeededRandom random_{GetParam()};
  Machine machine_{GetParam()};
  std::unique_ptr<Engine> engine_;
  Rows rows_;
  std::vector<std::pair<HeldVersion, Rows>> held_;
};

// A step looks at all that the steps before it have written.
constexpr int kSteps = test::kStride > 1 ? 200 : 600;

TEST_P(TablesModel, EveryHeldVersionShowsWhatItShowed) {
  for (int step = 0; step < kSteps && !HasFatalFailure(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    one_step();
  }
  if (HasFatalFailure()) return;
  held_.clear();
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  check_all();
  const Statistics figures = engine_->statistics();
  EXPECT_GT(figures.flushes + figures.compactions, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, TablesModel, testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(8)));

/// Measures a backward scan over 40,000 deletes, which finds three entities around them. The store's threads run one at
/// a time, so that compaction comes at the same moment in each run of a seed.
void walk_over_deletes(std::uint64_t seed, ReadCost& cost, bool* deletes_are_left) {
  // Only the blocks at both ends of the deletes, of about 2,000 entries each, have other entries too, and are read.
  constexpr std::uint64_t kExaminedMax = 5000;
  Machine machine(seed, test::OneThreadAtATime{});
  auto engine = *machine.open();
  const auto name = [](int number) { return std::to_string(1'000'000 + number); };
  ASSERT_TRUE(Change().put("p", name(0), "first").put("p", name(90'000), "last").commit(*engine).ok());
  ASSERT_TRUE(engine->flush().ok());
  for (int first = 1; first < 40'000; first += 1000) {
    Change change;
    for (int i = first; i < first + 1000; ++i) change.remove("p", name(i));
    ASSERT_TRUE(change.buffered().commit(*engine).ok());
  }
  ASSERT_TRUE(Change().put("p", name(80'000), "behind").commit(*engine).ok());
  ASSERT_TRUE(engine->flush().ok());
  // The memory of deleted stretches ends with the process. Afterwards only their blocks show the deletes.
  engine.reset();
  engine = *machine.open();

  const ReadView view = engine->view();
  Cursor cursor = view.cursor(test::key_of("p", name(1)), "", &cost);  // It may remember the deletes for the other one.
  cursor.seek_to_first();
  ASSERT_TRUE(cursor.valid());
  EXPECT_EQ(cursor.value(), "behind");
  EXPECT_LT(cursor.entries_examined(), kExaminedMax);
  cursor.next();
  ASSERT_TRUE(cursor.valid());
  EXPECT_EQ(cursor.value(), "last");

  Cursor back = view.cursor("", "", &cost);
  back.seek_to_last();
  for (const std::string_view value : {"last", "behind", "first"}) {
    ASSERT_TRUE(back.valid());
    EXPECT_EQ(back.value(), value);
    back.previous();
  }
  EXPECT_FALSE(back.valid());
  EXPECT_LT(back.entries_examined(), kExaminedMax);
  std::uint64_t left = 0;
  for (const LevelStatistics& level : engine->statistics().levels) left += level.deletions;
  *deletes_are_left = left > 1000;
}

TEST(DeletedRuns, AreSteppedOverWithoutBeingRead) {
  std::uint64_t walks_over_deletes = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ReadCost cost;
    bool deletes_are_left = true;
    walk_over_deletes(seed, cost, &deletes_are_left);
    if (HasFailure()) return;
    if (!deletes_are_left) continue;  // Compaction had removed them before the scan.
    ++walks_over_deletes;
    EXPECT_GT(cost.blocks_skipped, 5U);
  }
  EXPECT_GE(walks_over_deletes, 1U) << "compaction was always first";
}

class Drops : public testing::Test {
 protected:
  std::uint64_t table_bytes() const {
    std::uint64_t bytes = 0;
    for (const LevelStatistics& level : engine_->statistics().levels) bytes += level.bytes;
    return bytes;
  }
  Machine machine_;
  std::unique_ptr<Engine> engine_ = *machine_.open();
};

TEST_F(Drops, TheSpaceOfADroppedTableComesBackWithoutReadingIt) {
  constexpr format::TableId kOther = format::make_table_id(7, 2);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(Change(kOther).put("p", std::to_string(i), std::string(20'000, 'x')).commit(*engine_).ok());
  }
  ASSERT_TRUE(engine_->compact().ok());
  const std::uint64_t before = table_bytes();
  const std::uint64_t written = engine_->statistics().compaction_written_bytes;
  ASSERT_TRUE(Change(kOther).retire(kOther).commit(*engine_).ok());
  ASSERT_TRUE(engine_->compact().ok());
  EXPECT_LT(table_bytes(), before / 10);
  EXPECT_EQ(engine_->statistics().compaction_written_bytes, written);
  EXPECT_GT(engine_->statistics().unlinked_files, 0u);
}

TEST_F(Drops, ASnapshotKeepsWhatWasDroppedUntilItIsLetGo) {
  constexpr format::TableId kOther = format::make_table_id(7, 2);
  ASSERT_TRUE(Change(kOther).put("p", "r", "value").commit(*engine_).ok());
  ASSERT_TRUE(engine_->compact().ok());
  HeldVersion held = engine_->snapshot();
  ASSERT_TRUE(Change(kOther).retire(kOther).commit(*engine_).ok());
  ASSERT_TRUE(engine_->compact().ok());
  const auto found = engine_->view_at(held).get(test::key_of("p", "r", kOther));
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->value, "value");
  held.release();
  ASSERT_TRUE(engine_->compact().ok());
  EXPECT_EQ(table_bytes(), 0u);
}

}  // namespace
}  // namespace varve::engine::tables_model_test
