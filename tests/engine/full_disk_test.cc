// Goal: a drop has room on a full disk, whatever needed the ballast before it, and although other programs take what is
// free.
// Method: threads run one at a time by seed, on a disk in memory whose room is taken away.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/manifest/ballast.h"
#include "tests/support/engine_bench.h"

namespace varve::engine::full_disk_test {
namespace {

using test::Change;
using test::Machine;

class DropOnAFullDisk : public testing::TestWithParam<std::uint64_t> {
 protected:
  DropOnAFullDisk() : machine_(GetParam(), test::OneThreadAtATime{}) {}

  void open() {
    auto opened = machine_.open();
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    engine_ = *std::move(opened);
  }
  Status put(const std::string& row, std::size_t bytes) {
    return Change().put("p", row, std::string(bytes, 'v')).commit(*engine_).status();
  }
  /// Other programs take all room.
  void take_room() { machine_.files->set_capacity_bytes(machine_.files->used_bytes()); }
  /// Writes until not even a small commit has room in the log. Flushes fail from here on.
  void fill_log() {
    io::FaultRule no_tables;
    no_tables.name_suffix = ".sst";
    no_tables.mutating_only = true;
    no_tables.fail_count = io::FaultRule::kFromThenOn;
    no_tables.code = Code::kNoSpace;
    machine_.files->faults().add(no_tables);
    for (const std::size_t bytes : {100'000u, 10'000u, 1'000u, 1u}) {
      take_room();
      Status written;
      for (int i = 0; written.ok(); ++i) {
        ASSERT_LT(i, 10'000);
        written = put(std::to_string(bytes) + "-" + std::to_string(i), bytes);
      }
      ASSERT_EQ(written.code(), Code::kNoSpace) << written.to_string();
    }
  }
  void drop(std::uint32_t table, std::size_t bytes) {
    const auto dropped = Change()
                             .put("catalog", std::to_string(table), std::string(bytes, 'v'))
                             .retire(format::make_table_id(9, table))
                             .commit(*engine_);
    ASSERT_TRUE(dropped.ok()) << table << ": " << dropped.status().to_string();
  }
  /// A put fails until there is room again. The store needs no open for it.
  void expect_writes_only_with_room() {
    EXPECT_EQ(put("more", 1).code(), Code::kNoSpace);
    machine_.files->faults().clear();
    machine_.files->set_capacity_bytes(io::MemoryFileSystem::kUnlimited);
    EXPECT_TRUE(put("after", 1).ok());
    EXPECT_EQ(engine_->statistics().health, Health::kHealthy);
    EXPECT_TRUE(engine_->close().ok());
  }

  Machine machine_;
  std::unique_ptr<Engine> engine_;
};

TEST_P(DropOnAFullDisk, HasRoomAlthoughAnEditOfTheManifestHadNone) {
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_TRUE(put("first", 100).ok());
  io::FaultRule no_room;
  no_room.sync_point = "manifest append";
  no_room.code = Code::kNoSpace;
  machine_.files->faults().add(no_room);
  ASSERT_TRUE(engine_->flush().ok());
  ASSERT_EQ(machine_.files->faults().hit_count(), 1u);

  ASSERT_NO_FATAL_FAILURE(fill_log());
  for (std::uint32_t table = 1; table < 10; ++table) ASSERT_NO_FATAL_FAILURE(drop(table, 1));
  expect_writes_only_with_room();
}

TEST_P(DropOnAFullDisk, HasRoomAlthoughManyDropsHadNone) {
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(fill_log());
  // Drops for more than two segments.
  for (std::uint32_t table = 1; table < 25; ++table) {
    take_room();
    ASSERT_NO_FATAL_FAILURE(drop(table, 100'000));
  }
}

// The first segment of such an open is all that a drop is sure to have.
TEST_P(DropOnAFullDisk, HasRoomAfterAnOpenThatCouldNotHoldTheBallast) {
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_TRUE(put("first", 100).ok());
  ASSERT_TRUE(engine_->close().ok());
  engine_.reset();
  machine_.files->set_capacity_bytes(machine_.files->used_bytes() + kBallastBytes / 4);
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(fill_log());
  for (std::uint32_t table = 1; table < 10; ++table) {
    take_room();
    ASSERT_NO_FATAL_FAILURE(drop(table, 1));
  }
  expect_writes_only_with_room();
}

TEST_P(DropOnAFullDisk, IsFlushedAndFreesSpace) {
  ASSERT_NO_FATAL_FAILURE(open());
  std::string noise(10'000, ' ');
  for (int row = 0; row < 100; ++row) {
    for (char& c : noise) c = static_cast<char>(machine_.random.next());
    ASSERT_TRUE(Change().put("p", std::to_string(row), noise).commit(*engine_).ok());
  }
  take_room();
  ASSERT_NO_FATAL_FAILURE(drop(1, 1));
  Status flushed = engine_->flush();
  for (int attempt = 0; attempt < 10 && flushed.code() == Code::kNoSpace; ++attempt) flushed = engine_->flush();
  EXPECT_TRUE(flushed.ok()) << flushed.to_string();
}

INSTANTIATE_TEST_SUITE_P(Seeds, DropOnAFullDisk, testing::Range(std::uint64_t{1}, std::uint64_t{5}));

}  // namespace
}  // namespace varve::engine::full_disk_test
