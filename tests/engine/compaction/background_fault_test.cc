// Goal: a failure (a write, a sync, the space) during flushes and compactions loses no acknowledged data. Reads stay
// correct, the store continues by itself after the fault, and no unnamed file is left.
// Method: the same work repeatedly, with the n-th step on a table file failing in each way; and a disk that gets full
// at a different moment each time.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/env.h"
#include "tests/support/effort.h"
#include "tests/support/engine_bench.h"
#include "tests/support/small_trees.h"

namespace varve::engine::background_fault_test {
namespace {

using test::Change;
using test::Machine;

constexpr std::uint64_t kSmallFileBytes = 8 << 10;
constexpr format::TableId kDropped = format::make_table_id(7, 2);

class Work {
 public:
  explicit Work(std::uint64_t seed, std::uint64_t file_bytes = TreeShape().file_bytes)
      : trees_(file_bytes), machine_(seed, test::OneThreadAtATime{}), random_(seed) {
    open();
  }

  void open() {
    EngineOptions options = Machine::writable();
    options.write_budget = std::make_shared<WriteBudget>(io::system_env().scheduler, 256 << 10);
    auto opened = machine_.open(options);
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }

  void write(int commits, format::TableId table = test::kTable) {
    for (int i = 0; i < commits; ++i) {
      Change change(table);
      std::map<std::string, std::string> rows;
      for (int r = 0; r < 3; ++r) {
        const std::string row = std::to_string(io::random_below(random_, row_count_));
        std::string value(500 + io::random_below(random_, 5000), '.');
        for (char& byte : value) byte = static_cast<char>(io::random_below(random_, 256));  // incompressible
        if (!rows.emplace(test::key_of("p", row, table), value).second) continue;
        change.put("p", row, value);
      }
      if (io::one_in(random_, 2)) change.buffered();
      last_ = change.commit(*engine_).status();
      if (last_.code() == Code::kPoisoned) return;
      if (last_.code() == Code::kUnknown) {
        rows_if_committed_ = rows_;
        for (auto& [key, value] : rows) rows_if_committed_[key] = value;
        return;
      }
      if (!last_.ok()) continue;  // Nothing has changed.
      for (auto& [key, value] : rows) rows_[key] = value;
    }
  }

  void drop() {
    const auto dropped = Change(kDropped).retire(kDropped).commit(*engine_);
    if (dropped.code() == Code::kPoisoned || dropped.code() == Code::kUnknown) return;
    ASSERT_TRUE(dropped.ok()) << dropped.status().to_string();
    rows_.erase(rows_.lower_bound(format::encode_table(kDropped)),
                rows_.lower_bound(format::encode_table(kDropped + 1)));
  }

  void check_content() const {
    Cursor cursor = engine_->view().cursor(format::encode_table(test::kTable), format::encode_table(test::kTable + 1));
    auto at = rows_.lower_bound(format::encode_table(test::kTable));
    const auto end = rows_.lower_bound(format::encode_table(test::kTable + 1));
    for (cursor.seek_to_first(); cursor.valid(); cursor.next(), ++at) {
      ASSERT_NE(at, end);
      ASSERT_EQ(cursor.key(), at->first);
      ASSERT_EQ(cursor.value(), at->second);
    }
    ASSERT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    ASSERT_EQ(at, end);
  }

  /// Checks that the table files on the disk are exactly those in the levels.
  void check_strays() const {
    std::uint64_t named = 0;
    for (const LevelStatistics& level : engine_->statistics().levels) named += level.files;
    std::uint64_t there = 0;
    for (const std::string& name : machine_.files->snapshot().file_names(test::kStorePath)) {
      if (name.ends_with(".sst")) ++there;
    }
    ASSERT_EQ(there, named);
    engine_->check_tables([](std::uint64_t, const Status& found) { EXPECT_EQ(found.to_string(), "Ok"); });
  }

  void reopen_and_check() {
    (void)engine_->close();
    engine_.reset();
    open();
    if (::testing::Test::HasFatalFailure()) return;
    learn_outcome();
    check_content();
    ASSERT_EQ(engine_->compact().to_string(), "Ok");
    check_content();
    check_strays();
  }

  /// Finds out the effect of the commit that ended as Unknown, if there was one: it is complete, or absent.
  void learn_outcome() {
    if (rows_if_committed_.empty()) return;
    for (const auto& [key, value] : rows_if_committed_) {
      const auto known = rows_.find(key);
      if (known != rows_.end() && known->second == value) continue;
      const auto found = engine_->view().get(key);
      ASSERT_TRUE(found.ok());
      if (*found && (*found)->value == value) rows_ = rows_if_committed_;
      return;
    }
  }

  const test::SmallTrees trees_;
  Machine machine_;
  io::SeededRandom random_;
  std::unique_ptr<Engine> engine_;
  std::map<std::string, std::string> rows_;  // by sort key
  std::map<std::string, std::string> rows_if_committed_;
  Status last_;
  std::uint64_t row_count_ = 200;
};

struct Way {
  io::FaultEffect effect;
  Code code;
};

constexpr Way kWays[] = {
    {io::FaultEffect::kError, Code::kIoError},
    {io::FaultEffect::kError, Code::kNoSpace},
    {io::FaultEffect::kShortThenError, Code::kNoSpace},
    {io::FaultEffect::kErrorAfterwards, Code::kIoError},
    {io::FaultEffect::kSyncFailsCacheKept, Code::kIoError},
    {io::FaultEffect::kSyncFailsCacheReverted, Code::kIoError},
};

bool is_sync_effect(io::FaultEffect effect) {
  return effect == io::FaultEffect::kSyncFailsCacheKept || effect == io::FaultEffect::kSyncFailsCacheReverted;
}

bool is_of_table(const io::Operation& operation) {
  return operation.name.ends_with(".sst") || operation.sync_point.starts_with("table");
}

class BackgroundFault : public testing::TestWithParam<std::size_t> {};

TEST_P(BackgroundFault, AtAnyStepOnATableLosesNothingAndPasses) {
  const Way way = kWays[GetParam()];
  bool hit = true;
  std::uint64_t steps = 0;
  for (std::uint64_t skipped = 0; hit && !HasFailure(); skipped += test::kStride / 2 + 1 + skipped / 8, ++steps) {
    SCOPED_TRACE("step " + std::to_string(skipped));
    Work work(skipped + 1, steps % 2 == 0 ? kSmallFileBytes : TreeShape().file_bytes);
    work.write(10);
    work.write(5, kDropped);
    std::uint64_t seen = 0;
    bool names_were_hit = false;
    io::FaultRule rule;
    rule.mutating_only = true;
    rule.predicate = [&seen, &way, &names_were_hit](const io::Operation& operation) {
      const bool matches = is_of_table(operation) && (!is_sync_effect(way.effect) || !operation.sync_point.empty());
      if (matches) ++seen;
      if (matches && operation.name.empty()) names_were_hit = true;
      return matches;
    };
    rule.skip_count = skipped;
    rule.fail_count = 1 + skipped % 2;
    rule.effect = way.effect;
    rule.code = way.code;
    work.machine_.files->faults().add(rule);
    work.write(30);
    (void)work.engine_->compact();
    if (work.engine_->statistics().health != Health::kPoisoned) work.drop();
    work.write(10);
    (void)work.engine_->compact();
    work.check_content();
    work.machine_.files->faults().clear();
    hit = seen > skipped;
    const Status settled = work.engine_->compact();  // An earlier fault may be reported only now.
    if (work.engine_->statistics().health == Health::kPoisoned) {
      // A directory that could not be synced is not trusted until the store is reopened.
      ASSERT_TRUE(names_were_hit);
    } else {
      ASSERT_EQ(settled.to_string(), "Ok") << "what passed is not made good";
    }
    work.check_content();
    work.reopen_and_check();
  }
  EXPECT_GT(steps, 2u);
}

INSTANTIATE_TEST_SUITE_P(Ways, BackgroundFault, testing::Range<std::size_t>(0, std::size(kWays)));

class FullDiskInTheBackground : public testing::TestWithParam<std::uint64_t> {};

TEST_P(FullDiskInTheBackground, RefusesKeepsAndGoesOnWhenThereIsSpaceAgain) {
  Work work(GetParam(), GetParam() % 2 == 0 ? kSmallFileBytes : TreeShape().file_bytes);
  work.row_count_ = 100'000;  // Nearly all rows are new, so the written data stays.
  work.write(20);
  work.write(20, kDropped);
  ASSERT_TRUE(work.engine_->flush().ok());
  work.machine_.files->set_capacity_bytes(work.machine_.files->used_bytes() + GetParam() * 40'000);
  for (int i = 0; i < 2000 && work.last_.code() != Code::kNoSpace; ++i) work.write(1);
  ASSERT_EQ(work.last_.code(), Code::kNoSpace) << work.last_.to_string();
  work.check_content();
  work.drop();  // Works on a full disk too.
  work.check_content();
  work.machine_.files->set_capacity_bytes(io::MemoryFileSystem::kUnlimited);
  ASSERT_EQ(work.engine_->compact().to_string(), "Ok");
  work.write(20);
  ASSERT_TRUE(work.last_.ok()) << work.last_.to_string();
  work.check_content();
  ASSERT_EQ(work.engine_->compact().to_string(), "Ok");  // No file is being written afterwards.
  work.check_strays();
  work.reopen_and_check();
}

INSTANTIATE_TEST_SUITE_P(Rooms, FullDiskInTheBackground, testing::Range<std::uint64_t>(0, 24, test::kStride));

}  // namespace
}  // namespace varve::engine::background_fault_test
