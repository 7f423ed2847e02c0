// Owns: which flushes the picker makes one file of level 0 (P4 of engine/compaction/picker.h), case by case.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "engine/compaction/picker.h"
#include "engine/levels/debt.h"
#include "tests/engine/compaction/tree_files.h"

namespace varve::engine::level0_join_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

class Level0Join : public testing::Test {
 protected:
  std::uint64_t add(std::uint32_t level, std::string smallest, std::string largest, std::uint64_t mib) {
    entries_.push_back(file_entry(entries_.size() + 1, level, std::move(smallest), std::move(largest)));
    entries_.back().size_bytes = mib * kMiB;
    return entries_.size();
  }
  void add_flushes(std::uint32_t count, std::uint64_t mib) {
    for (std::uint32_t i = 0; i < count; ++i) add(0, "c", "m", mib);
  }
  /// Adds two files of one flush.
  void add_flush_of_two(std::uint64_t mib) {
    const std::uint64_t oldest = add(0, "c", "f", mib);
    entries_[add(0, "g", "m", mib) - 1].smallest_version = oldest;
  }
  void resize(std::uint64_t number, std::uint64_t mib) { entries_[number - 1].size_bytes = mib * kMiB; }

  std::optional<Job> pick() {
    levels_ = levels_of(entries_);
    return pick_job({levels_, running_, quarantined_, dead_, dead_bytes_, 1'000, idle_}, shape_);
  }

  const TreeShape shape_{};
  const DeadRanges dead_{};
  const std::map<std::uint64_t, std::uint64_t> dead_bytes_{};
  std::vector<format::TableFileEntry> entries_;
  Levels levels_;
  std::vector<Job> running_;
  std::set<std::uint64_t> quarantined_;
  bool idle_ = false;
};

TEST_F(Level0Join, SmallFlushesBecomeOneFileAboveALargeBase) {
  add_flushes(shape_.level0_flushes, 8);
  add(6, "a", "f", 70);
  const std::uint64_t beneath = add(6, "g", "p", 62);
  add(6, "q", "z", 900);  // not beneath the flushes
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::kMerge);
  EXPECT_EQ(job->reason, JobReason::kLevel0);
  EXPECT_EQ(job->output_level, 0u);
  EXPECT_TRUE(job->joins_level0());
  EXPECT_THAT(numbers_of(job->inputs), ElementsAre(8, 7, 6, 5, 4, 3, 2, 1));
  EXPECT_THAT(job->overlapped, IsEmpty());
  EXPECT_EQ(compaction_debt_bytes(levels_, shape_), 64 * kMiB);
  running_.push_back(*job);
  EXPECT_FALSE(pick());
  running_.clear();
  resize(beneath, 58);
  EXPECT_EQ(pick()->output_level, 6u) << "two bytes of the base for each of the flushes";
  EXPECT_EQ(compaction_debt_bytes(levels_, shape_), (64 + 128) * kMiB);
}

TEST_F(Level0Join, WhoWaitsForAllWorkGetsTheMergeIntoTheBase) {
  add_flushes(shape_.level0_flushes, 8);
  add(6, "a", "z", 1'000);
  EXPECT_EQ(pick()->output_level, 0u);
  idle_ = true;
  EXPECT_EQ(pick()->output_level, 6u);
}

TEST_F(Level0Join, NoFileOfLevel0GrowsBeyondTheSmallestBase) {
  add_flushes(shape_.level0_flushes, 32);
  add(6, "a", "z", 1'500);
  EXPECT_EQ(pick()->output_level, 6u);
  resize(1, 31);
  EXPECT_EQ(pick()->output_level, 0u);
}

TEST_F(Level0Join, ALargeFileWaitsForAsManyNewBytes) {
  add(0, "c", "m", 60);
  add_flushes(shape_.level0_flushes - 1, 8);
  add(6, "a", "z", 1'000);
  EXPECT_THAT(numbers_of(pick()->inputs), ElementsAre(8, 7, 6, 5, 4, 3, 2));
  resize(1, 56);
  EXPECT_EQ(pick()->inputs.size(), shape_.level0_flushes);
  resize(4, 100);
  resize(7, 20);
  EXPECT_THAT(numbers_of(pick()->inputs), ElementsAre(8, 7, 6, 5)) << "at least half of the flushes";
}

TEST_F(Level0Join, AFlushOfTwoFilesIsTakenAsAWhole) {
  add(0, "c", "m", 60);
  for (std::uint32_t i = 1; i < shape_.level0_flushes; ++i) add_flush_of_two(4);
  add(0, "a", "z", 4);  // connects them
  resize(11, 100);      // the other file of its flush is 10
  add(6, "a", "z", 2'000);
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_TRUE(job->joins_level0());
  EXPECT_TRUE(job->takes(10));
  EXPECT_TRUE(job->takes(11));
}

TEST_F(Level0Join, FlushesOlderAndNewerThanAFileThatStaysGoToTheBase) {
  add_flushes(4, 1);
  add(0, "c", "z", 1);
  const std::uint64_t damaged = add(0, "x", "y", 1);
  add_flushes(4, 1);
  add(6, "a", "z", 1'000);
  EXPECT_EQ(pick()->output_level, 0u);
  quarantined_.insert(damaged);
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->inputs.size(), 9u);
  EXPECT_EQ(job->output_level, 6u) << "one file of all of them would be older and newer than the damaged one";
}

}  // namespace
}  // namespace varve::engine::level0_join_test
