// Goal: a large value is written once, to the log. Its segment stays as a value file, is read like a part of the table,
// and is removed when nothing points to it. Damage in it is reported, and affects only its rows.
// Method: a store on a disk in memory with commits of large values, which is flushed, overwritten, compacted, reopened,
// copied, damaged and repaired. Figures and file names show the place of the data.
#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "engine/log/log_files.h"
#include "engine/repair/repair.h"
#include "format/bytes/bytes.h"
#include "format/log/file_header.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::value_files_test {
namespace {

using test::Change;
using test::Machine;

constexpr std::size_t kLargeMin = kExternalValueBytesMin;
/// So large that the padding of the log is no waste worth a job of its own.
constexpr std::size_t kLarge = 2 * kLargeMin;

std::string large(char first, std::size_t size = kLarge) {
  std::string value(size, first);
  for (std::size_t i = 0; i < size; i += 97) value[i] = static_cast<char>('a' + i % 26);
  return value;
}

class ValueFiles : public testing::Test {
 protected:
  void put(std::string_view row, const std::string& value) {
    const auto committed = Change().put("p", row, value).commit(*engine_);
    ASSERT_TRUE(committed.ok()) << committed.status().to_string();
  }
  void put_many(char first, int count = 20) {
    for (int i = 0; i < count; ++i) put(std::to_string(100 + i), large(first));
  }
  void flush() { ASSERT_EQ(engine_->flush().to_string(), "Ok"); }
  void compact() { ASSERT_EQ(engine_->compact().to_string(), "Ok"); }
  std::string get(std::string_view row) { return test::value_of(*engine_, "p", row); }
  Statistics figures() const { return engine_->statistics(); }
  void reopen() {
    engine_.reset();
    auto opened = machine_.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }
  std::vector<std::string> segments() {
    std::vector<std::string> names = machine_.files->snapshot().file_names(test::kStorePath);
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".wal"); });
    return names;
  }
  /// Reads the values by a scan in either direction.
  std::vector<std::string> walk(const Engine& engine, bool backward) {
    std::vector<std::string> values;
    const ReadView view = engine.view();
    Cursor cursor = view.cursor("", "");
    for (backward ? cursor.seek_to_last() : cursor.seek_to_first(); cursor.valid();
         backward ? cursor.previous() : cursor.next()) {
      values.emplace_back(cursor.value());
    }
    EXPECT_EQ(cursor.status().to_string(), "Ok");
    if (backward) std::reverse(values.begin(), values.end());
    return values;
  }

  Machine machine_;
  std::unique_ptr<Engine> engine_ = *machine_.open();
};

TEST_F(ValueFiles, ALargeValueIsWrittenOnce) {
  put_many('x');
  flush();
  EXPECT_GE(figures().value_files, 1u);
  EXPECT_EQ(figures().value_file_live_bytes, 20 * kLarge);
  EXPECT_LT(figures().flushed_bytes, kLarge);
  compact();
  EXPECT_LT(figures().compaction_written_bytes, kLarge);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(get(std::to_string(100 + i)), large('x'));
}

TEST_F(ValueFiles, SmallValuesAreWrittenToTablesAsEver) {
  put("small", std::string(kLargeMin - 1, 's'));
  flush();
  EXPECT_EQ(figures().value_files, 0u);
  EXPECT_EQ(get("small"), std::string(kLargeMin - 1, 's'));
}

TEST_F(ValueFiles, TheSmallestLargeValuesStayWhereTheyAreWhenWritersRest) {
  for (int i = 0; i < 20; ++i) put(std::to_string(100 + i), large('x', kLargeMin));
  flush();
  compact();
  EXPECT_EQ(figures().value_file_live_bytes, 20 * kLargeMin);
  EXPECT_LT(figures().compaction_written_bytes, kLargeMin);
}

TEST_F(ValueFiles, ASegmentThatIsMostlyOtherThingsDoesNotStay) {
  for (int i = 0; i < 200; ++i) put(std::to_string(1000 + i), std::string(2000, 's'));
  put("large", large('x'));
  flush();
  EXPECT_EQ(figures().value_files, 0u);
  EXPECT_EQ(get("large"), large('x'));
}

/// Otherwise a second segment would end after one or two values, when the memtable is full too.
TEST_F(ValueFiles, AMemtableEndsWithTheSegmentThatItsValuesFill) {
  constexpr int kValues =
      200;  // The log grows to its largest segments, and fills two of them. All fits the write buffer.
  constexpr std::size_t kValue = std::size_t{1} << 20;
  for (int i = 0; i < kValues; ++i) put(std::to_string(1000 + i), large('x', kValue));
  const io::MemoryDisk disk = machine_.files->snapshot();
  bool is_after_full = false;
  int full = 0;
  for (const std::string& name : segments()) {
    const std::uint64_t bytes = *disk.file_size_bytes(std::string(test::kStorePath) + "/" + name);
    if (is_after_full) {
      EXPECT_GE(bytes, kSegmentBytesMax / 2) << name;
    }
    is_after_full |= bytes >= kSegmentBytesMax - 2 * kValue && bytes < kSegmentBytesMax;  // It was cut.
    full += is_after_full ? 1 : 0;
  }
  EXPECT_GE(full, 2);
  for (int i = 0; i < kValues; ++i) ASSERT_EQ(get(std::to_string(1000 + i)), large('x', kValue)) << i;
}

TEST_F(ValueFiles, WalksShowLargeAndSmallValuesAlike) {
  std::vector<std::string> expected;
  for (unsigned i = 0; i < 30; ++i) {
    expected.push_back(i % 3 == 0 ? "small " + std::to_string(i) : large(static_cast<char>('a' + i), kLarge + i));
    put(std::to_string(100 + i), expected.back());
    if (i == 14) flush();
  }
  flush();
  ASSERT_GE(figures().value_files, 2u);
  EXPECT_EQ(walk(*engine_, false), expected);
  EXPECT_EQ(walk(*engine_, true), expected);
  compact();
  EXPECT_EQ(walk(*engine_, false), expected);
  EXPECT_EQ(walk(*engine_, true), expected);
}

TEST_F(ValueFiles, ManyKeysAreReadAtOnce) {
  put_many('x');
  put("small", "s");
  flush();
  reopen();
  std::vector<std::string> keys;
  for (int i = 0; i < 20; ++i) keys.push_back(test::key_of("p", std::to_string(100 + i)));
  keys.push_back(test::key_of("p", "small"));
  keys.push_back(test::key_of("p", "absent"));
  keys.push_back(keys.front());
  const ReadView view = engine_->view();
  const auto found = view.get_many(std::vector<std::string_view>(keys.begin(), keys.end()));
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ((*found)[i]->value, large('x'));
  EXPECT_EQ((*found)[20]->value, "s");
  EXPECT_FALSE((*found)[21].has_value());
  EXPECT_EQ((*found)[22]->value, large('x'));
}

TEST_F(ValueFiles, WhoJudgesByVersionsAloneReadsNoValue) {
  put_many('x');
  flush();
  reopen();
  const std::string key = test::key_of("p", "100");
  const std::string_view keys[] = {key};
  const ReadView view = engine_->view();
  const std::uint64_t before = figures().block_read_bytes;
  const auto newest = view.newest_many(keys, EntryPart::kVersion);
  ASSERT_TRUE(newest.ok());
  EXPECT_GT(newest->front().version, 0u);
  EXPECT_TRUE(newest->front().value.has_value());
  EXPECT_LT(figures().block_read_bytes - before, kLarge);
}

TEST_F(ValueFiles, AreReadAgainAfterAReopen) {
  put_many('x');
  flush();
  reopen();
  EXPECT_GE(figures().value_files, 1u);
  EXPECT_EQ(get("107"), large('x'));
  EXPECT_EQ(walk(*engine_, false).size(), 20u);
}

TEST_F(ValueFiles, GoWhenAllInThemWasOverwritten) {
  put_many('x');
  flush();
  ASSERT_GE(figures().value_files, 1u);
  const std::string first = segments().front();
  for (int i = 0; i < 20; ++i) put(std::to_string(100 + i), "small now");
  compact();
  EXPECT_EQ(figures().value_files, 0u);
  engine_.reset();  // The last reader ended with it.
  const std::vector<std::string> left = segments();
  EXPECT_EQ(std::count(left.begin(), left.end(), first), 0);
  engine_ = *machine_.open();
  EXPECT_EQ(get("107"), "small now");
}

/// No caller compacts, and no memtable is full. If the test never ends, it fails by the general time limit.
TEST_F(ValueFiles, GoAtRestAfterWritesThatLetGoOfMuch) {
  put_many('x');
  compact();
  ASSERT_GE(figures().value_files, 1u);
  for (int i = 0; i < 20; ++i) {  // mostly puts: a table file of mostly deletes would be merged anyway
    Change change;
    const std::string row = std::to_string(100 + i);
    if (i % 4 == 0) {
      change.remove("p", row);
    } else {
      change.put("p", row, "small now");
    }
    ASSERT_TRUE(change.let_go_of((std::uint64_t{32} << 20) / 20 + 1).commit(*engine_).ok());
  }
  while (figures().value_files > 0) std::this_thread::yield();
  EXPECT_EQ(get("100"), "-");
  EXPECT_EQ(get("107"), "small now");
}

TEST_F(ValueFiles, GoAtOnceWhenAllWasOverwrittenBeforeTheFlush) {
  for (int i = 0; i < 20; ++i) put("same", large(static_cast<char>('a' + i)));
  flush();
  EXPECT_LE(figures().value_files, 1u);
  put("same", "small");
  compact();
  EXPECT_EQ(figures().value_files, 0u);
}

TEST_F(ValueFiles, ThatAreMostlyGarbageAreFreedByBringingTheRestHome) {
  put_many('x');
  flush();
  const std::uint64_t before = figures().value_file_bytes;
  ASSERT_GT(before, 0u);
  for (int i = 0; i < 19; ++i) put(std::to_string(100 + i), "small now");
  compact();
  EXPECT_EQ(figures().value_files, 0u);
  EXPECT_EQ(get("119"), large('x'));
  EXPECT_EQ(get("100"), "small now");
}

TEST_F(ValueFiles, ADroppedTableFreesThem) {
  constexpr format::TableId kOther = format::make_table_id(7, 2);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(Change(kOther).put("p", std::to_string(i), large('x')).commit(*engine_).ok());
  }
  flush();
  ASSERT_GE(figures().value_files, 1u);
  ASSERT_TRUE(Change(kOther).retire(kOther).commit(*engine_).ok());
  compact();
  EXPECT_EQ(figures().value_files, 0u);
}

TEST_F(ValueFiles, ASnapshotAndAWalkKeepWhatTheySee) {
  put_many('x');
  flush();
  HeldVersion held = engine_->snapshot();
  const ReadView view = engine_->view();
  Cursor cursor = view.cursor("", "");
  cursor.seek_to_first();
  put_many('y');
  compact();
  for (int i = 0; i < 20; ++i, cursor.next()) {
    ASSERT_TRUE(cursor.valid()) << cursor.status().to_string();
    EXPECT_EQ(cursor.value(), large('x'));
  }
  const auto old = engine_->view_at(held).get(test::key_of("p", "105"));
  ASSERT_TRUE(old.ok() && old->has_value());
  EXPECT_EQ((*old)->value, large('x'));
  EXPECT_EQ(get("105"), large('y'));
}

TEST_F(ValueFiles, SurviveAPowerCutBeforeAndAfterTheFlush) {
  put_many('x');
  for (const bool flushed : {false, true}) {
    if (flushed) flush();
    Machine after(7, machine_.files->power_cut(io::CrashPolicy::kNothingUnsynced, machine_.random));
    const auto opened = after.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    EXPECT_EQ(walk(**opened, false), std::vector<std::string>(20, large('x')));
  }
}

TEST_F(ValueFiles, ACheckpointHasThem) {
  put_many('x');
  flush();
  put("later", large('z'));
  ASSERT_TRUE(engine_->checkpoint("/copy").ok());
  for (int i = 0; i < 20; ++i) put(std::to_string(100 + i), "small now");
  compact();
  const auto copy = Engine::open(machine_.env(), "/copy", Machine::writable());
  ASSERT_TRUE(copy.ok()) << copy.status().to_string();
  std::vector<std::string> expected(20, large('x'));
  expected.push_back(large('z'));
  EXPECT_EQ(walk(**copy, false), expected);
}

// -- Damage -----------------------------------------------------------------------------------------------------------

class DamagedValueFile : public ValueFiles {
 protected:
  /// Writes twenty values. One of them is changed on the disk while the store is closed.
  void SetUp() override {
    put_many('x');
    put("105", large('m'));
    flush();
    ASSERT_EQ(figures().value_files, 1u);
    engine_.reset();
    io::MemoryDisk disk = machine_.files->snapshot();
    for (const std::string& name : disk.file_names(test::kStorePath)) {
      const std::string path = std::string(test::kStorePath) + "/" + name;
      const std::string bytes(format::as_text(*disk.read_file(path)));
      const std::size_t at = bytes.find(large('m'));
      if (!name.ends_with(".wal") || at == std::string::npos) continue;
      name_ = name;
      offset_ = at;
      ASSERT_TRUE(disk.flip_bit(path, at + 5000, std::byte{4}).ok());
    }
    ASSERT_FALSE(name_.empty());
    damaged_ = std::make_unique<Machine>(3, std::move(disk));
  }

  std::string name_;
  std::size_t offset_ = 0;
  std::unique_ptr<Machine> damaged_;
};

TEST_F(DamagedValueFile, IsToldByWhoeverReadsTheValueAndByNobodyElse) {
  const auto engine = *damaged_->open();
  const auto lost = engine->view().get(test::key_of("p", "105"));
  EXPECT_EQ(lost.code(), Code::kCorruption);
  EXPECT_NE(lost.status().to_string().find(name_), std::string::npos) << lost.status().to_string();
  EXPECT_NE(lost.status().to_string().find(std::to_string(offset_)), std::string::npos);
  EXPECT_EQ(test::value_of(*engine, "p", "104"), large('x'));

  const ReadView view = engine->view();
  Cursor cursor = view.cursor("", "");
  std::size_t shown = 0;
  for (cursor.seek_to_first(); cursor.valid(); cursor.next()) ++shown;
  EXPECT_EQ(cursor.status().code(), Code::kCorruption);
  EXPECT_EQ(shown, 5u);
}

TEST_F(DamagedValueFile, IsFoundByTheDeepCheck) {
  const auto engine = *damaged_->open();
  std::vector<std::string> found;
  engine->check_tables([&](std::uint64_t, const Status& status) {
    if (!status.ok()) found.push_back(status.to_string());
  });
  // The table that points to it, and the file itself.
  ASSERT_EQ(found.size(), 2u);
  for (const std::string& finding : found) EXPECT_NE(finding.find(name_), std::string::npos) << finding;
}

class KeepAll final : public RepairModel {
 public:
  void take_system_rows(const SystemRows& rows) override { rows_ = &rows; }
  bool keeps(format::TableId) override { return true; }
  Result<std::vector<SystemRow>> mended_rows(CommitVersion) override { return rows_->rows; }

 private:
  const SystemRows* rows_ = nullptr;
};

TEST_F(DamagedValueFile, IsRepairedButForTheOneRow) {
  KeepAll model;
  const auto figures = repair_store(damaged_->env(), test::kStorePath, "/repaired", model, nullptr);
  ASSERT_TRUE(figures.ok()) << figures.status().to_string();
  ASSERT_EQ(figures->losses.size(), 1u);
  EXPECT_EQ(figures->losses.front().file, name_);
  EXPECT_EQ(figures->losses.front().offset, offset_);
  EXPECT_EQ(figures->losses.front().smallest_key, test::key_of("p", "105"));
  const auto repaired = Engine::open(damaged_->env(), "/repaired", Machine::reading());
  ASSERT_TRUE(repaired.ok()) << repaired.status().to_string();
  EXPECT_EQ(walk(**repaired, false), std::vector<std::string>(19, large('x')));
}

TEST_F(DamagedValueFile, AMissingOneIsDamage) {
  io::MemoryDisk disk = damaged_->files->snapshot();
  ASSERT_TRUE(disk.remove_file(std::string(test::kStorePath) + "/" + name_).ok());
  Machine machine(4, std::move(disk));
  const auto opened = machine.open();
  EXPECT_EQ(opened.code(), Code::kCorruption);
  EXPECT_NE(opened.status().to_string().find(name_), std::string::npos);
}

}  // namespace
}  // namespace varve::engine::value_files_test
