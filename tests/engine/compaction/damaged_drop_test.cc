// Goal: the space of a dropped table is freed even if its file is damaged, and damage in one file delays no other file.
// Method: one read of a compaction finds a changed bit, which stays. Then the table is dropped. The names on the disk
// show the removed files.
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/engine_bench.h"

namespace varve::engine::damaged_drop_test {
namespace {

using test::Change;

constexpr format::TableId kBefore = format::make_table_id(6, 1);
constexpr format::TableId kKept = format::make_table_id(7, 1);
constexpr format::TableId kDropped = format::make_table_id(7, 2);

class DamagedDrop : public testing::Test {
 protected:
  void fill(format::TableId table, int first, int rows) {
    Change change(table);
    for (int row = first; row < first + rows; ++row) {
      std::string value(1000, ' ');
      for (char& c : value) c = static_cast<char>(random_.next());
      change.put("p", std::to_string(100'000 + row), value);
    }
    ASSERT_TRUE(change.commit(*engine_).ok());
  }
  std::set<std::string> tables_on_disk() const {
    std::set<std::string> names;
    for (const std::string& name : machine_.files->snapshot().file_names(test::kStorePath)) {
      if (name.ends_with(".sst")) names.insert(name);
    }
    return names;
  }
  /// Makes the next read of this file find a bit that changed on the disk.
  void damage(const std::string& name) {
    io::FaultRule rule;
    rule.kind = io::OperationKind::kRead;
    rule.name_suffix = name;
    rule.effect = io::FaultEffect::kFlipBitPersistently;
    machine_.files->faults().add(rule);
  }
  void drop() { ASSERT_TRUE(Change(kDropped).retire(kDropped).commit(*engine_).ok()); }
  void reopen() {
    ASSERT_EQ(engine_->close().to_string(), "Ok");
    engine_.reset();
    auto opened = machine_.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }
  void expect_rows(int rows, format::TableId table = kKept) {
    Cursor cursor = engine_->view().cursor(format::encode_table(table), format::encode_table(table + 1));
    int found = 0;
    for (cursor.seek_to_first(); cursor.valid(); cursor.next()) ++found;
    EXPECT_TRUE(cursor.status().ok()) << cursor.status().to_string();
    EXPECT_EQ(found, rows);
  }

  io::SeededRandom random_{5};
  test::Machine machine_;
  std::unique_ptr<Engine> engine_ = *machine_.open();
};

TEST_F(DamagedDrop, GivesTheSpaceOfAFileInQuarantineBack) {
  fill(kDropped, 0, 2'000);
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  ASSERT_EQ(tables_on_disk().size(), 1u);
  const std::string damaged = *tables_on_disk().begin();
  damage(damaged);
  fill(kDropped, 1'000, 10);  // overlaps the file's rows, so that both must be merged
  ASSERT_EQ(engine_->compact().code(), Code::kCorruption);
  ASSERT_EQ(engine_->compact().code(), Code::kCorruption) << "left alone from now on, and told each time";
  ASSERT_TRUE(tables_on_disk().contains(damaged));

  fill(kKept, 0, 10);
  drop();
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  EXPECT_FALSE(tables_on_disk().contains(damaged));
  expect_rows(10);
  reopen();
  EXPECT_FALSE(tables_on_disk().contains(damaged));
  expect_rows(10);
}

TEST_F(DamagedDrop, ADirectoryThatDoesNotVerifyHoldsUpNoOtherFile) {
  fill(kKept, 0, 10);
  fill(kDropped, 0, 10);
  ASSERT_EQ(engine_->compact().to_string(), "Ok");
  ASSERT_EQ(tables_on_disk().size(), 1u);
  const std::string damaged = *tables_on_disk().begin();
  expect_rows(10);  // The file is open, its index was read, and the block of these rows is in the cache.
  damage(damaged);
  drop();  // The dead part of the file must be determined now.
  fill(kBefore, 0, 10);
  ASSERT_EQ(engine_->compact().code(), Code::kCorruption);
  EXPECT_TRUE(tables_on_disk().contains(damaged));
  // Two files of another table, which has no part in the damaged file, are merged.
  fill(kBefore, 5, 10);
  ASSERT_EQ(engine_->compact().code(), Code::kCorruption);
  EXPECT_EQ(tables_on_disk().size(), 2u);
  expect_rows(15, kBefore);
  expect_rows(10);
}

}  // namespace
}  // namespace varve::engine::damaged_drop_test
