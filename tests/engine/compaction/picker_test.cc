// Owns: the choices of the picker (engine/compaction/picker.h), case by case.
#include "engine/compaction/picker.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "format/keys/sort_key.h"
#include "tests/engine/compaction/tree_files.h"

namespace varve::engine::picker_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

class PickerTest : public testing::Test {
 protected:
  format::TableFileEntry& add(std::uint32_t level, std::string smallest, std::string largest, std::uint64_t mib = 64) {
    entries_.push_back(file_entry(next_++, level, std::move(smallest), std::move(largest)));
    entries_.back().size_bytes = mib * kMiB;
    return entries_.back();
  }
  void make_tombstones(format::TableFileEntry& entry, std::uint64_t count) { entry.tombstone_count = count; }

  void set_tables(format::TableFileEntry& entry, TableId first, TableId last) {
    entry.first_table = first;
    entry.last_table = last;
  }

  std::optional<Job> pick() {
    levels_ = levels_of(entries_);
    const DeadRanges dead(dead_ids_, reclaimable_);
    PickInput input{levels_, running_, quarantined_, dead, dead_bytes_, reclaimable_, idle_};
    input.let_go_upto = let_go_upto_;
    return pick_job(input, shape_);
  }
  /// Fills level 0 to its limit with overlapping files.
  void fill_level0() {
    for (std::uint32_t i = 0; i < shape_.level0_flushes; ++i) add(0, "c", "m");
  }
  /// Adds two files of level 0 that one flush wrote.
  void add_flush() {
    const CommitVersion oldest = next_;
    add(0, "c", "f");
    format::TableFileEntry& other = add(0, "g", "m");
    other.smallest_version = oldest;
  }
  /// Puts level 5 above its target, and level 6 at 4 GiB.
  void overfill_level5(std::uint64_t mib) {
    add(5, "a", "f", mib);
    add(5, "g", "p", mib);
    add(6, "a", "k", 2048);
    add(6, "l", "z", 2048);
  }
  void kill(TableId table) { dead_ids_.push_back({format::encode_table(table), 5, {}}); }

  TreeShape shape_;
  std::vector<format::TableFileEntry> entries_;
  Levels levels_;
  std::vector<Job> running_;
  std::set<std::uint64_t> quarantined_;
  std::vector<format::DeadId> dead_ids_;
  std::map<std::uint64_t, std::uint64_t> dead_bytes_;
  CommitVersion reclaimable_ = 1'000;
  bool idle_ = false;
  CommitVersion let_go_upto_ = 0;
  std::uint64_t next_ = 1;
};

TEST_F(PickerTest, NothingToDoIsNoJob) {
  EXPECT_FALSE(pick());
  add(0, "a", "z");
  add(6, "a", "z");
  EXPECT_FALSE(pick());
}

TEST_F(PickerTest, FilesOfDeadTablesLeaveUnread) {
  fill_level0();
  set_tables(add(6, "q", "r"), 7, 8);
  set_tables(add(3, "q", "r"), 7, 9);
  kill(7);
  kill(8);
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::kUnlink);
  EXPECT_EQ(job->reason, JobReason::kDead);
  EXPECT_THAT(numbers_of(job->inputs), ElementsAre(9));
}

TEST_F(PickerTest, ADropThatASnapshotIsOlderThanFreesNothing) {
  set_tables(add(6, "q", "r"), 7, 7);
  kill(7);
  reclaimable_ = 4;
  EXPECT_FALSE(pick());
}

TEST_F(PickerTest, AFileWhoseDirectorySaysAllDeadLeavesUnread) {
  add(6, "q", "r", 10).last_table = 9;
  dead_bytes_[1] = 10 * kMiB;
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::kUnlink);
}

TEST_F(PickerTest, TombstonesAloneWithNothingBeneathLeaveUnread) {
  make_tombstones(add(6, "c", "d"), 100);
  add(6, "e", "f");
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::kUnlink);
  reclaimable_ = 0;
  EXPECT_FALSE(pick()) << "somebody may still read beneath them";
}

TEST_F(PickerTest, TombstonesAloneInLevel0StandOnOlderFiles) {
  add(0, "a", "z");
  make_tombstones(add(0, "c", "d"), 100);
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::kMerge);
  EXPECT_THAT(numbers_of(job->inputs), ElementsAre(2, 1));
}

TEST_F(PickerTest, TombstonesAloneOverNewerFilesLeaveUnread) {
  make_tombstones(add(0, "c", "d"), 100);
  add(0, "a", "z");
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::kUnlink);
  EXPECT_THAT(numbers_of(job->inputs), ElementsAre(1));
}

TEST_F(PickerTest, Level0GoesToTheBaseWithAllItOverlaps) {
  fill_level0();
  add(6, "a", "b");
  add(6, "bb", "d");
  add(6, "e", "z");
  add(0, "x", "y");
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::kMerge);
  EXPECT_EQ(job->output_level, 6u);
  EXPECT_THAT(numbers_of(job->inputs), ElementsAre(8, 7, 6, 5, 4, 3, 2, 1));
  EXPECT_THAT(numbers_of(job->overlapped), ElementsAre(10, 11));
}

TEST_F(PickerTest, Level0NeverPassesByAFileOfALevelBetween) {
  fill_level0();
  add(3, "q", "r");
  const auto job = pick();
  ASSERT_TRUE(job);
  // The level above the base is emptied first. Level 0 is not compacted below it.
  EXPECT_EQ(job->level, 3u);
  EXPECT_EQ(job->kind, JobKind::kMove);
  running_.push_back(*job);
  const auto second = pick();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->level, 0u);
  EXPECT_EQ(second->output_level, 3u);
}

TEST_F(PickerTest, AFileOfLevel0ThatOverlapsNothingIsMoved) {
  for (int i = 0; i < 8; ++i)
    add(0, std::string(1, static_cast<char>('a' + 2 * i)), std::string(1, static_cast<char>('b' + 2 * i)));
  add(6, "y", "z");
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::kMove);
  EXPECT_THAT(numbers_of(job->inputs), ElementsAre(1));
}

TEST_F(PickerTest, SmallFilesArePutTogetherInsteadOfMoved) {
  for (int i = 0; i < 8; ++i)
    add(0, std::string(1, static_cast<char>('a' + 2 * i)), std::string(1, static_cast<char>('b' + 2 * i)), 1);
  add(6, "y", "z");
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::kMerge);
  EXPECT_EQ(job->inputs.size(), 8u);
  EXPECT_THAT(job->overlapped, IsEmpty());
}

TEST_F(PickerTest, AFlushOfAnEighthOfAFileIsMoved) {
  for (int i = 0; i < 8; ++i)
    add(0, std::string(1, static_cast<char>('a' + 2 * i)), std::string(1, static_cast<char>('b' + 2 * i)), 8);
  add(6, "y", "z");
  ASSERT_TRUE(pick());
  EXPECT_EQ(pick()->kind, JobKind::kMove);
  for (std::size_t i = 0; i < 8; ++i) entries_[i].size_bytes = 8 * kMiB - 1;
  EXPECT_EQ(pick()->kind, JobKind::kMerge);
}

TEST_F(PickerTest, LargerFilesAreNotRewrittenForASmallOne) {
  for (int i = 0; i < 8; ++i)
    add(0, std::string(1, static_cast<char>('a' + 2 * i)), std::string(1, static_cast<char>('b' + 2 * i)), 13);
  add(6, "y", "z");
  entries_[0].size_bytes = kMiB;
  ASSERT_TRUE(pick());
  EXPECT_EQ(pick()->kind, JobKind::kMove);
  EXPECT_THAT(numbers_of(pick()->inputs), ElementsAre(1));
  entries_[4].size_bytes = kMiB;  // between them lie larger ones
  EXPECT_EQ(pick()->kind, JobKind::kMove);
  entries_[1].size_bytes = kMiB;
  EXPECT_EQ(pick()->kind, JobKind::kMerge);
  EXPECT_THAT(numbers_of(pick()->inputs), UnorderedElementsAre(1, 2));
}

TEST_F(PickerTest, AMoveThatWouldLieOverTooMuchIsAMerge) {
  add(5, "c", "d");  // overlaps nothing in level 5, and 4 GiB in level 6
  entries_.back().level = 4;
  add(5, "g", "p", 600);
  add(6, "a", "z", 4096);
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->level, 4u);
  EXPECT_EQ(job->kind, JobKind::kMerge);
  shape_.grandparent_bytes_max = 8192 * kMiB;
  EXPECT_EQ(pick()->kind, JobKind::kMove);
}

TEST_F(PickerTest, ALevelAboveItsTargetGivesTheFileThatCostsLeast) {
  overfill_level5(900);
  entries_[0].size_bytes = 1000 * kMiB;  // overlaps 2 GiB
  entries_[1].size_bytes = 1000 * kMiB;  // overlaps 4 GiB
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->reason, JobReason::kLevelSize);
  EXPECT_THAT(numbers_of(job->inputs), ElementsAre(1));
  EXPECT_THAT(numbers_of(job->overlapped), ElementsAre(3));
}

TEST_F(PickerTest, BetweenEqualsTheOldestAndThenTheLowestNumber) {
  add(5, "a", "b", 900).largest_version = 40;
  add(5, "m", "n", 900).largest_version = 30;
  add(6, "a", "c", 2048);
  add(6, "m", "o", 2048);
  EXPECT_THAT(numbers_of(pick()->inputs), ElementsAre(2));
  entries_[1].largest_version = 40;
  EXPECT_THAT(numbers_of(pick()->inputs), ElementsAre(1));
}

TEST_F(PickerTest, NeighboursOverTheSameFilesComeAlong) {
  for (const char* key : {"a", "b", "c", "d"}) add(5, key, std::string(key) + "z", 500);
  add(6, "a", "cz", 4096);
  add(6, "d", "z", 4096);
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_THAT(numbers_of(job->inputs), ElementsAre(1, 2, 3));
  EXPECT_THAT(numbers_of(job->overlapped), ElementsAre(5));
}

TEST_F(PickerTest, MostlyTombstonesGoDownBeforeAnythingIsFull) {
  add(5, "a", "b", 1);
  make_tombstones(add(5, "c", "d", 1), 60);
  add(6, "a", "z", 4096);
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->reason, JobReason::kTombstones);
  EXPECT_THAT(numbers_of(job->inputs), ElementsAre(1, 2));  // including its neighbour costs nothing more
  EXPECT_THAT(numbers_of(job->overlapped), ElementsAre(3));
  reclaimable_ = 1;
  EXPECT_FALSE(pick()) << "they hide nothing that may go";
}

TEST_F(PickerTest, MostlyTombstonesAtTheBottomAreWrittenAnewWithoutThem) {
  make_tombstones(add(6, "c", "d"), 60);
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::kMerge);
  EXPECT_EQ(job->level, 6u);
  EXPECT_EQ(job->output_level, 6u);
}

TEST_F(PickerTest, DeadBytesAreRewrittenInPlaceWhenThatPays) {
  add(6, "a", "b", 10).last_table = 9;
  add(5, "a", "b", 10).last_table = 9;
  dead_bytes_ = {{1, 4 * kMiB}, {2, 5 * kMiB}};
  auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->reason, JobReason::kDeadBytes);
  EXPECT_THAT(numbers_of(job->inputs), ElementsAre(2));
  EXPECT_EQ(job->output_level, 5u);
  EXPECT_THAT(job->overlapped, IsEmpty());
  dead_bytes_[2] = 0;
  job = pick();
  EXPECT_TRUE(!job || job->reason != JobReason::kDeadBytes);
}

TEST_F(PickerTest, InAnIdleMomentLittleThingsAreDone) {
  add(6, "a", "b", 10).last_table = 9;
  dead_bytes_ = {{1, 2 * kMiB}};
  EXPECT_FALSE(pick());
  idle_ = true;
  ASSERT_TRUE(pick());
  EXPECT_EQ(pick()->reason, JobReason::kIdle);
  for (std::uint32_t i = 0; i < shape_.level0_flushes_idle; ++i) add(0, "c", "d");
  EXPECT_EQ(pick()->level, 0u);
}

TEST_F(PickerTest, IdleClearsTombstonesStrandedAtTheBottom) {
  make_tombstones(add(6, "a", "b"), 20);
  EXPECT_FALSE(pick());
  idle_ = true;
  EXPECT_EQ(pick()->output_level, 6u);
}

TEST_F(PickerTest, AQuarantinedFileIsNeitherTakenNorPassedBy) {
  fill_level0();
  add(6, "b", "d");
  quarantined_.insert(9);
  EXPECT_FALSE(pick());
  quarantined_ = {4};
  // Newer files that overlap it stay with it. The older ones can be compacted.
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_THAT(numbers_of(job->inputs), ElementsAre(3, 2, 1));
}

TEST_F(PickerTest, AFileOfDeadTablesLeavesInQuarantineToo) {
  set_tables(add(6, "q", "r"), 7, 7);
  quarantined_.insert(1);
  EXPECT_FALSE(pick());
  kill(7);
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::kUnlink);
  EXPECT_THAT(numbers_of(job->inputs), ElementsAre(1));
  running_.push_back(*job);
  EXPECT_FALSE(pick());
}

TEST_F(PickerTest, AFileInQuarantineStaysWhileAnyOfItsTablesIsThere) {
  set_tables(add(6, "q", "r", 10), 7, 9);
  kill(7);
  kill(9);
  quarantined_.insert(1);
  dead_bytes_[1] = 9 * kMiB;
  idle_ = true;
  EXPECT_FALSE(pick());
}

TEST_F(PickerTest, TombstonesInQuarantineStay) {
  make_tombstones(add(6, "c", "d"), 100);
  quarantined_.insert(1);
  EXPECT_FALSE(pick());
}

TEST_F(PickerTest, JobsSideBySideTakeOtherFiles) {
  for (const char* key : {"a", "b", "c", "d"}) {
    add(5, key, std::string(key) + "z", 1400);
    add(6, key, std::string(key) + "z", 1024);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    const auto job = pick();
    ASSERT_TRUE(job) << i;
    for (const Job& other : running_) EXPECT_FALSE(conflict(*job, other));
    running_.push_back(*job);
  }
  EXPECT_FALSE(pick());
}

TEST_F(PickerTest, NewFilesOfLevel0WaitForTheOlderOnesThatAreUnderWay) {
  fill_level0();
  running_.push_back(*pick());
  fill_level0();
  EXPECT_FALSE(pick());
  for (int i = 0; i < 8; ++i) add(0, "p", "q");
  const auto job = pick();
  ASSERT_TRUE(job) << "other keys need not wait";
  EXPECT_EQ(job->inputs.size(), 8u);
}

TEST_F(PickerTest, FilesThatALevelIsGivingAwayDoNotMakeItFull) {
  fill_level0();
  running_.push_back(*pick());
  for (std::uint32_t i = 1; i < shape_.level0_flushes; ++i) {
    add(0, "p", "q");
    EXPECT_FALSE(pick()) << "a job of " << i << " files of a level that would not be full";
  }
  add(0, "p", "q");
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->inputs.size(), shape_.level0_flushes);
}

TEST_F(PickerTest, Level0IsFullByFlushesNotByFiles) {
  for (std::uint32_t i = 0; i < shape_.level0_flushes; ++i) {
    EXPECT_FALSE(pick()) << i << " flushes";
    add_flush();
  }
  const auto first = pick();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->reason, JobReason::kLevel0);
  EXPECT_EQ(first->inputs.size(), shape_.level0_flushes) << "one file of each flush";
  running_.push_back(*first);
  const auto second = pick();
  ASSERT_TRUE(second) << "the other halves of the flushes are as many";
  EXPECT_EQ(second->inputs.size(), shape_.level0_flushes);
  running_.push_back(*second);
  for (std::uint32_t i = 1; i < shape_.level0_flushes; ++i) {
    add_flush();
    EXPECT_FALSE(pick()) << "a job of " << i << " flushes";
  }
}

TEST_F(PickerTest, AFileOnItsWayDownNoLongerCountsInItsLevel) {
  overfill_level5(600);
  running_.push_back(*pick());
  EXPECT_FALSE(pick()) << "the other file fits in the level";
}

TEST_F(PickerTest, WhatLetGoOfLargeValuesIsMergedWithWhatNamesThem) {
  add(6, "a", "f", 1);
  add(0, "b", "c", 1);
  add(0, "x", "y", 1);  // Nothing is beneath it.
  EXPECT_FALSE(pick());
  let_go_upto_ = 1;
  EXPECT_FALSE(pick()) << "both are newer";
  let_go_upto_ = 3;
  reclaimable_ = 1;
  EXPECT_FALSE(pick()) << "a reader may ask for the old values";
  reclaimable_ = 1'000;
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->reason, JobReason::kValueSpace);
  EXPECT_EQ(job->kind, JobKind::kMerge);
  EXPECT_THAT(numbers_of(job->inputs), ElementsAre(2));
  EXPECT_THAT(numbers_of(job->overlapped), ElementsAre(1));
}

TEST_F(PickerTest, Level0TwiceFullGoesBeforeTombstones) {
  fill_level0();
  make_tombstones(add(6, "x", "y"), 60);
  EXPECT_EQ(pick()->reason, JobReason::kTombstones);
  fill_level0();
  EXPECT_EQ(pick()->reason, JobReason::kLevel0);
}

TEST(JobConflict, IsAboutFilesAndAboutPlaces) {
  const Levels levels = levels_of(
      {file_entry(1, 2, "a", "c"), file_entry(2, 3, "b", "d"), file_entry(3, 3, "x", "z"), file_entry(4, 4, "a", "z")});
  Job one;
  one.level = 2;
  one.output_level = 3;
  one.inputs = {levels.level(2)[0]};
  one.overlapped = {levels.level(3)[0]};
  Job other = one;
  EXPECT_TRUE(conflict(one, other));
  other.level = 3;
  other.output_level = 4;
  other.overlapped.clear();
  other.inputs = {levels.level(3)[1]};
  EXPECT_FALSE(conflict(one, other));
  other.overlapped = {levels.level(4)[0]};
  EXPECT_TRUE(conflict(one, other)) << "their ranges meet in level 3";
  other.level = 4;
  other.inputs = {levels.level(4)[0]};
  EXPECT_FALSE(conflict(one, other));
  other.kind = JobKind::kUnlink;
  other.inputs = {levels.level(3)[0]};
  EXPECT_TRUE(conflict(one, other));
}

}  // namespace
}  // namespace varve::engine::picker_test
