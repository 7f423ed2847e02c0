// Goal: dropping a large table rewrites no adjacent table, and the space of a small dropped table is freed too. Those who
// write meanwhile seldom wait for it.
// Method: a small table, and the store's own, precede a large one, all compacted together. The test checks the bytes
// that compaction writes after the drop, and the size of the tables.
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/engine_bench.h"

namespace varve::engine::drop_beside_test {
namespace {

using test::Change;

constexpr format::TableId kCatalog = format::make_table_id(0, 2);
constexpr format::TableId kSmall = format::make_table_id(7, 1);
constexpr format::TableId kLarge = format::make_table_id(7, 2);

class DropBeside : public testing::Test {
 protected:
  void fill(format::TableId table, int rows) {
    constexpr int kRowsOfCommit = 500;
    for (int first = 0; first < rows; first += kRowsOfCommit) {
      Change change(table);
      for (int row = first; row < first + kRowsOfCommit; ++row) {
        std::string value(1000, ' ');
        for (char& c : value) c = static_cast<char>(random_.next());
        change.put("p", std::to_string(100'000 + row), value);
      }
      ASSERT_TRUE(change.buffered().commit(*engine_).ok());
    }
    ASSERT_TRUE(Change(kCatalog).put("tables", std::to_string(table), "made").commit(*engine_).ok());
    ASSERT_EQ(engine_->compact().to_string(), "Ok");
  }
  std::uint64_t table_bytes() const {
    std::uint64_t bytes = 0;
    const Statistics figures = engine_->statistics();
    for (const LevelStatistics& level : figures.levels) bytes += level.bytes;
    return bytes;
  }

  io::SeededRandom random_{5};
  test::Machine machine_;
  std::unique_ptr<Engine> engine_ = *machine_.open();
};

TEST_F(DropBeside, RewritesNothingOfASmallTableInFrontOfIt) {
  fill(kSmall, 4'000);
  const std::uint64_t small_bytes = table_bytes();
  fill(kLarge, 20'000);
  ASSERT_GT(table_bytes(), 5 * small_bytes);
  const std::uint64_t written_before = engine_->statistics().compaction_written_bytes;
  ASSERT_TRUE(Change(kLarge).retire(kLarge).commit(*engine_).ok());
  ASSERT_TRUE(Change(kCatalog).put("tables", std::to_string(kLarge), "dropped").commit(*engine_).ok());
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  EXPECT_LT(table_bytes(), small_bytes + small_bytes / 4);
  EXPECT_LT(engine_->statistics().compaction_written_bytes - written_before, 100'000U);
}

TEST_F(DropBeside, GivesSpaceBackByItselfThoughItIsTheSmallerPartOfAFile) {
  fill(kSmall, 500);
  const std::uint64_t small_bytes = table_bytes();
  fill(kLarge, 1'500);
  ASSERT_TRUE(Change(kSmall).retire(kSmall).commit(*engine_).ok());
  const std::uint64_t kept = table_bytes() - small_bytes;
  // There is no request and no write: the regular rounds of the compaction thread suffice.
  while (table_bytes() > kept + small_bytes / 4) std::this_thread::yield();
}

class DropWhileOthersWrite : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = machine_.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }
  void write(format::TableId table, int row, std::size_t bytes) {
    ASSERT_TRUE(Change(table).put("p", std::to_string(row), std::string(bytes, 'v')).commit(*engine_).ok());
  }
  void wait(std::chrono::milliseconds time) {
    io::Mutex mutex(machine_.scheduler());
    io::Condition nothing(machine_.scheduler());
    const io::MutexGuard guard(mutex);
    while (nothing.wait_for(mutex, time)) continue;
  }

  int cuts_ = 0;
  test::Machine machine_{1, test::OneThreadAtATime{}};
  std::unique_ptr<Engine> engine_;
};

TEST_F(DropWhileOthersWrite, EndsTheLogOfASmallTableOnlyWhenTheyRest) {
  constexpr int kRows = 100;
  constexpr std::size_t kValueBytes = 12'000;
  for (int row = 0; row < kRows; ++row) ASSERT_NO_FATAL_FAILURE(write(kSmall, row, kValueBytes));
  ASSERT_TRUE(Change(kSmall).retire(kSmall).commit(*engine_).ok());
  machine_.files->set_observer([this](const io::Operation& operation, io::Moment moment) {
    if (operation.kind == io::OperationKind::kCut && moment == io::Moment::kBefore) ++cuts_;
  });
  for (int row = 0; row < 200; ++row) {
    ASSERT_NO_FATAL_FAILURE(write(kLarge, row, 10));
    wait(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(cuts_, 0) << "a commit may have waited";
  EXPECT_EQ(engine_->statistics().retired_ids, 1u);
  wait(std::chrono::seconds(2));
  EXPECT_EQ(cuts_, 1);
  EXPECT_EQ(engine_->statistics().retired_ids, 0u);
}

}  // namespace
}  // namespace varve::engine::drop_beside_test
