// Owns: the joint behaviour of picker, cuts and checks over gigabytes of writes, and its cost.
// Method: whole workloads on the simulator. After each, every key must read as it was written, and no job may be left.
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "engine/levels/debt.h"
#include "tests/engine/compaction/tree_simulator.h"
#include "tests/support/effort.h"

namespace varve::engine::tree_simulation_test {
namespace {

constexpr std::uint64_t kSeed = 60'221;
constexpr std::uint64_t kMB = 1'000'000;

/// Entries of 16 KiB that compress to six tenths. Only the number of bytes at each place matters.
TreeSimulator::Measures coarse() {
  TreeSimulator::Measures measures;
  measures.put_bytes = 16'384;
  measures.stored_bytes = 9'830;
  return measures;
}

/// A tree with all sizes divided by a thousand, so that few entries fill many levels.
TreeSimulator::Measures tiny() {
  TreeSimulator::Measures measures;
  measures.memtable_bytes >>= 10;
  measures.put_bytes = 1'024;
  measures.stored_bytes = 614;
  measures.shape.file_bytes >>= 10;
  measures.shape.grandparent_bytes_max >>= 10;
  measures.shape.base_bytes >>= 10;
  return measures;
}

class TreeSimulation : public testing::Test {
 protected:
  void put_random(TreeSimulator& tree, std::uint64_t bytes, std::uint64_t put_bytes, std::uint64_t key_count) {
    for (std::uint64_t i = 0; i < bytes / put_bytes; ++i) tree.put(1, random_() % key_count);
  }
  static void expect_at_rest(TreeSimulator& tree, const TreeShape& shape = {}) {
    EXPECT_TRUE(tree.run(10'000));
    EXPECT_FALSE(tree.step());
    EXPECT_EQ(compaction_debt_bytes(tree.levels(), shape), 0u) << tree.describe();
    EXPECT_EQ(tree.difference_from_model(), "");
  }
  static void record(const TreeSimulator& tree) {
    RecordProperty("write_amplification", std::to_string(tree.costs().write_amplification()));
    RecordProperty("rewrite_factor", std::to_string(tree.costs().rewrite_factor()));
    RecordProperty("merges", std::to_string(tree.costs().merges));
    RecordProperty("moves", std::to_string(tree.costs().moves));
    RecordProperty("tree", tree.describe());
  }

  std::mt19937_64 random_{kSeed};
};

TEST_F(TreeSimulation, RandomPutsOfNewKeys) {
  TreeSimulator tree(coarse());
  put_random(tree, 2'500 * kMB, 16'384, ~std::uint64_t{0});
  expect_at_rest(tree);
  EXPECT_LT(tree.costs().write_amplification(), 2.0);
  EXPECT_LT(tree.costs().rewrite_factor(), 3.3);
  record(tree);
}

TEST_F(TreeSimulation, RandomPutsThatOverwriteMoreThanTwice) {
  TreeSimulator tree(coarse());
  put_random(tree, 2'500 * kMB, 16'384, 1'000 * kMB / 16'384);
  expect_at_rest(tree);
  EXPECT_LT(tree.costs().write_amplification(), 1.4);
  record(tree);
}

TEST_F(TreeSimulation, UpdatesOfALargeTableWithASmallWriteBuffer) {
  TreeSimulator::Measures measures = coarse();
  measures.memtable_bytes = std::uint64_t{16} << 20;
  TreeSimulator tree(measures);
  const std::uint64_t key_count = 1'000 * kMB / measures.stored_bytes;
  for (std::uint64_t key = 0; key < key_count; ++key) tree.put(1, key);
  const SimulatedCosts before = tree.costs();
  put_random(tree, 1'000 * kMB, measures.put_bytes, key_count);
  expect_at_rest(tree);
  const double flushed = static_cast<double>(tree.costs().flushed_bytes - before.flushed_bytes);
  EXPECT_LT(static_cast<double>(tree.costs().merged_bytes - before.merged_bytes), 5 * flushed);
  EXPECT_LT(tree.costs().level0_flushes_max, 10u);
  record(tree);
}

TEST_F(TreeSimulation, TenGigabytesOfRandomPuts) {
  TreeSimulator::Measures measures = coarse();
  measures.put_bytes *= 4;
  measures.stored_bytes *= 4;
  TreeSimulator tree(measures);
  put_random(tree, 10'000 * kMB, measures.put_bytes, ~std::uint64_t{0});
  expect_at_rest(tree);
  EXPECT_LT(tree.costs().write_amplification(), 3.6);
  record(tree);
}

TEST_F(TreeSimulation, ManyLevelsStayInProportion) {
  TreeSimulator tree(tiny());
  put_random(tree, 60 * kMB, 1'024, ~std::uint64_t{0});
  expect_at_rest(tree, tiny().shape);
  EXPECT_LT(tree.costs().rewrite_factor(), 12);
  EXPECT_LE(level_targets(tree.levels(), tiny().shape).base, 4u) << tree.describe();
  record(tree);
}

TEST_F(TreeSimulation, AscendingKeysAreWrittenOnce) {
  TreeSimulator tree(coarse());
  for (std::uint64_t key = 0; key < 2'500 * kMB / 16'384; ++key) tree.put(1, key);
  expect_at_rest(tree);
  EXPECT_EQ(tree.costs().merged_bytes, 0u);
  EXPECT_GT(tree.costs().moves, 0u);
  record(tree);
}

TEST_F(TreeSimulation, ATrickleOfAscendingKeysMakesNoHeapOfSmallFiles) {
  TreeSimulator::Measures measures = coarse();
  measures.memtable_bytes = 1'000'000;
  TreeSimulator tree(measures);
  for (std::uint64_t key = 0; key < 1'000 * kMB / 16'384; ++key) tree.put(1, key);
  expect_at_rest(tree);
  EXPECT_LT(tree.levels().file_count(), 160u) << tree.describe();
  EXPECT_LT(tree.costs().rewrite_factor(), 2.1);
  record(tree);
}

TEST_F(TreeSimulation, HotKeysAmongColdOnes) {
  TreeSimulator tree(coarse());
  const std::uint64_t key_count = 2'000 * kMB / 16'384;
  for (std::uint64_t i = 0; i < 4'000 * kMB / 16'384; ++i) {
    tree.put(1, random_() % 10 != 0 ? random_() % (key_count / 50) : random_() % key_count);
  }
  expect_at_rest(tree);
  EXPECT_LT(tree.costs().write_amplification(), 1.6);
  record(tree);
}

TEST_F(TreeSimulation, AHeadOfDeletesGoesAway) {
  TreeSimulator tree(coarse());
  for (std::uint64_t key = 0; key < 100'000; ++key) tree.put(1, key);
  tree.flush();
  for (std::uint64_t key = 0; key < 50'000; ++key) tree.erase(1, key);
  tree.flush();
  expect_at_rest(tree);
  EXPECT_EQ(tree.live_tombstones(), 0u) << tree.describe();
  EXPECT_LE(tree.table_bytes(1), 50'000 * coarse().stored_bytes);
  record(tree);
}

TEST_F(TreeSimulation, DeletesThatASnapshotSeesBeneathWaitWithoutSpinning) {
  TreeSimulator tree(coarse());
  for (std::uint64_t key = 0; key < 20'000; ++key) tree.put(1, key);
  tree.hold_snapshot(tree.last_version());
  for (std::uint64_t key = 0; key < 20'000; ++key) tree.erase(1, key);
  tree.flush();
  EXPECT_TRUE(tree.run(1'000, true));
  EXPECT_EQ(tree.difference_from_model(), "");
  EXPECT_GT(tree.live_tombstones(), 0u);
  tree.hold_snapshot(tree.last_version());
  EXPECT_TRUE(tree.run(1'000));
  EXPECT_EQ(tree.live_tombstones(), 0u);
}

TEST_F(TreeSimulation, ALargeTableIsDroppedByUnlinkingAlone) {
  TreeSimulator tree(coarse());
  for (int i = 0; i < 120'000; ++i) tree.put(1 + random_() % 3, random_());
  tree.flush();
  while (tree.step(true)) {
  }
  const SimulatedCosts before = tree.costs();
  tree.drop(2);
  expect_at_rest(tree);
  EXPECT_GT(tree.costs().unlinked_files, before.unlinked_files);
  EXPECT_EQ(tree.costs().merged_bytes, before.merged_bytes);
  EXPECT_EQ(tree.table_bytes(2), 0u);
}

TEST_F(TreeSimulation, SmallTablesAmongOthersComeOutInTime) {
  TreeSimulator tree(coarse());
  for (int i = 0; i < 60'000; ++i) tree.put(1 + random_() % 200, random_());
  tree.flush();
  EXPECT_TRUE(tree.run(10'000, true));
  for (TableId table = 1; table <= 150; ++table) tree.drop(table);
  EXPECT_TRUE(tree.run(10'000, true));
  EXPECT_EQ(tree.difference_from_model(), "");
  std::uint64_t left = 0;
  for (TableId table = 1; table <= 150; ++table) left += tree.table_bytes(table);
  EXPECT_LT(left, 64 * kMB / 8);
}

TEST_F(TreeSimulation, AQuarantinedFileLetsTheRestGoOn) {
  TreeSimulator tree(tiny());
  put_random(tree, 10 * kMB, 1'024, ~std::uint64_t{0});
  tree.quarantine(tree.levels().level(6).front()->entry.number);
  put_random(tree, kMB, 1'024, ~std::uint64_t{0});
  EXPECT_TRUE(tree.run(10'000));
  EXPECT_EQ(tree.difference_from_model(), "");
}

TEST_F(TreeSimulation, FlushesOfSeveralFilesCostNoMoreThanThoseOfOne) {
  SimulatedCosts costs[2];
  for (const std::size_t files : {std::size_t{1}, std::size_t{4}}) {
    TreeSimulator::Measures measures = tiny();
    measures.flush_files_max = files;
    TreeSimulator tree(measures);
    random_.seed(kSeed);
    put_random(tree, 8 * kMB, 1'024, 100'000);
    expect_at_rest(tree, tiny().shape);
    EXPECT_EQ(tree.costs().files_of_flush_max, files);
    costs[files == 1 ? 0 : 1] = tree.costs();
  }
  EXPECT_LE(costs[1].write_amplification(), costs[0].write_amplification() * 1.05);
  EXPECT_LE(costs[1].level0_flushes_max, costs[0].level0_flushes_max + 1);
}

TEST_F(TreeSimulation, IdleEndsWithFewFilesInLevel0) {
  TreeSimulator tree(tiny());
  put_random(tree, 3 * kMB, 1'024, 100'000);
  EXPECT_TRUE(tree.run(10'000, true));
  EXPECT_LT(tree.levels().level(0).size(), tiny().shape.level0_flushes_idle);
  EXPECT_EQ(tree.difference_from_model(), "");
}

class MixedWorkload : public testing::TestWithParam<std::uint64_t> {};

/// Everything at once with concurrent jobs, in a tree small enough for thousands of jobs.
TEST_P(MixedWorkload, KeepsEveryKeyAndComesToRest) {
  std::mt19937_64 random(GetParam());
  SCOPED_TRACE(GetParam());
  TreeSimulator::Measures measures = tiny();
  measures.running_max = 1 + random() % 4;
  measures.shape.level0_flushes = 2 + static_cast<std::uint32_t>(random() % 7);
  measures.shape.fan_out = 3 + static_cast<double>(random() % 8);
  measures.flush_files_max = 1 + random() % 4;
  TreeSimulator tree(measures);
  tree.set_compacting(false);
  TableId first_live = 1;
  for (int i = 0; i < 12'000; ++i) {
    const std::uint64_t choice = random() % 1'000;
    const TableId table = first_live + random() % 5;
    if (choice < 700) {
      tree.put(table, random() % 3'000);
    } else if (choice < 900) {
      tree.erase(table, random() % 3'000);
    } else if (choice < 940) {
      for (std::uint64_t key = random() % 3'000, end = key + 100; key < end; ++key) tree.erase(table, key);
    } else if (choice < 941) {
      tree.drop(first_live++);
    } else if (choice < 942) {
      tree.hold_snapshot(random() % 2 == 0 ? 0 : tree.last_version());
    } else {
      tree.step(choice % 2 == 0);
    }
    if (testing::Test::HasFailure()) return;
  }
  tree.flush();
  tree.hold_snapshot(0);
  EXPECT_TRUE(tree.run(10'000));
  EXPECT_EQ(compaction_debt_bytes(tree.levels(), measures.shape), 0u) << tree.describe();
  EXPECT_EQ(tree.difference_from_model(), "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, MixedWorkload, testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(40)));

}  // namespace
}  // namespace varve::engine::tree_simulation_test
