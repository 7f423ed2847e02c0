// Goal: dropping a large table rewrites no adjacent table, and the space of a small dropped table is freed too.
// Method: a small table, and the store's own, precede a large one, all compacted together. The test checks the bytes
// that compaction writes after the drop, and the size of the tables.
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

}  // namespace
}  // namespace varve::engine::drop_beside_test
