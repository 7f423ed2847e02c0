// Goal: an entity that has ended for every reader is judged as a delete, and no reader sees a difference (E3).
// Method: the rule of retention compared with a slow version of it, for random versions, ends, snapshots and times. The
// choices of the picker for files whose ends have passed, case by case.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/compaction/picker.h"
#include "engine/compaction/retention.h"
#include "format/bytes/bytes.h"
#include "format/keys/sort_key.h"
#include "io/clock.h"
#include "io/simulated/manual_clock.h"
#include "tests/engine/compaction/tree_files.h"

namespace varve::engine::expiry_compaction_test {
namespace {

using testing::ElementsAre;

using Fate = Retention::Fate;

/// A version of one key. Without a value it is a delete.
struct Version {
  CommitVersion version = 0;
  bool is_delete = false;
  CommitVersion end = 0;  // zero: none
};

const std::string kKey = *format::encode_sort_key(format::make_table_id(7, 1), "p", "r");

Fate fate_of(Retention& retention, const Version& version) {
  std::string stored;
  if (version.end != 0) format::append_u64(stored, version.end);
  const Kind put = version.end != 0 ? Kind::kPutExpiring : Kind::kPut;
  return retention.judge({kKey, version.version, version.is_delete ? Kind::kDelete : put, stored});
}

std::vector<Fate> fates(std::vector<CommitVersion> horizon, const std::vector<Version>& versions, bool nothing_below,
                        CommitVersion ended_for_all) {
  const DeadRanges none;
  Retention retention(
      std::move(horizon), none, [&](std::string_view) { return nothing_below; }, ended_for_all);
  std::vector<Fate> fates;
  for (const Version& version : versions) fates.push_back(fate_of(retention, version));
  return fates;
}

TEST(ExpiryRetention, E3_AnEndedEntityGoesWhereNothingLiesBeneath) {
  EXPECT_THAT(fates({10}, {{9, false, 20}}, true, 20), ElementsAre(Fate::kDropped));
  EXPECT_THAT(fates({10}, {{9, false, 20}}, true, 19), ElementsAre(Fate::kKept));
}

TEST(ExpiryRetention, E3_AnEndedEntityLeavesADeleteOverOlderVersions) {
  EXPECT_THAT(fates({10}, {{9, false, 20}, {7}}, false, 20), ElementsAre(Fate::kBecomesDelete, Fate::kDropped));
  EXPECT_THAT(fates({8, 10}, {{9, false, 20}, {7}}, true, 20), ElementsAre(Fate::kBecomesDelete, Fate::kKept));
}

TEST(ExpiryRetention, E3_AnEndedEntityAboveTheHorizonStays) {
  EXPECT_THAT(fates({10}, {{11, false, 20}}, true, 20), ElementsAre(Fate::kKept));
}

/// The version of an entry beneath all others.
constexpr CommitVersion kBeneath = 1;

/// Returns the version that a reader sees, or zero for none.
CommitVersion seen(const std::vector<Version>& versions, CommitVersion at, CommitVersion time) {
  for (const Version& version : versions) {
    if (version.version > at) continue;
    return version.is_delete || (version.end != 0 && version.end <= time) ? 0 : version.version;
  }
  return 0;
}

TEST(ExpiryRetention, E3_ReadersSeeWhatTheySawAtEveryTimeFromTheirs) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    io::SeededRandom random(seed);
    std::vector<CommitVersion> horizon;
    for (CommitVersion version = 1; version <= 30; ++version) {
      if (io::one_in(random, 5)) horizon.push_back(version);
    }
    if (horizon.empty()) horizon.push_back(15);
    const CommitVersion ended_for_all = io::random_below(random, 60);
    std::vector<Version> versions;
    for (CommitVersion version = 35; version > kBeneath; --version) {
      if (!io::one_in(random, 3)) continue;
      const bool is_delete = io::one_in(random, 4);
      versions.push_back(
          {version, is_delete, is_delete || io::one_in(random, 3) ? 0 : 1 + io::random_below(random, 80)});
    }
    const bool nothing_below = io::one_in(random, 2);
    const std::vector<Fate> judged = fates(horizon, versions, nothing_below, ended_for_all);
    std::vector<Version> left;
    for (std::size_t i = 0; i < versions.size(); ++i) {
      if (judged[i] == Fate::kKept) left.push_back(versions[i]);
      if (judged[i] == Fate::kBecomesDelete) left.push_back({versions[i].version, true, 0});
    }
    // An older entry without an end may lie beneath, and must stay hidden where it was.
    if (!nothing_below) {
      left.push_back({kBeneath, false, 0});
      versions.push_back({kBeneath, false, 0});
    }
    for (const CommitVersion time : {ended_for_all, ended_for_all + 1, ended_for_all + 30}) {
      for (const CommitVersion at : horizon) ASSERT_EQ(seen(left, at, time), seen(versions, at, time)) << at;
      for (CommitVersion at = horizon.back(); at <= 36; ++at) {
        ASSERT_EQ(seen(left, at, time), seen(versions, at, time)) << at;
      }
    }
  }
}

TEST(ExpiryRetention, E3_ARunIsCopiedWholeOnlyIfNoneOfItHasEnded) {
  const DeadRanges none;
  Retention retention(
      {10}, none, [](std::string_view) { return true; }, 20);
  format::RunEntry run;
  run.smallest_key = run.largest_key = kKey;
  run.entry_count = 3;
  run.ends = {2, 21, 30};
  EXPECT_EQ(retention.judge_run(run), Retention::RunFate::kKept);
  run.ends = {2, 20, 30};
  EXPECT_EQ(retention.judge_run(run), Retention::RunFate::kUnknown);
}

// -- The picker -----------------------------------------------------------------------------------------------------

class ExpiryPicker : public testing::Test {
 protected:
  static constexpr std::uint64_t kEntries = 100;

  format::TableFileEntry& add(std::uint32_t level, std::string smallest, std::string largest, format::Ends ends = {}) {
    entries_.push_back(file_entry(next_++, level, std::move(smallest), std::move(largest)));
    entries_.back().size_bytes = std::uint64_t{64} << 20;
    entries_.back().entry_count = kEntries;
    entries_.back().ends = ends;
    return entries_.back();
  }
  std::optional<Job> pick() {
    levels_ = levels_of(entries_);
    PickInput input{levels_, {}, quarantined_, dead_, dead_bytes_, reclaimable_, idle_};
    input.ended_for_all = ended_;
    return pick_job(input, shape_);
  }

  const TreeShape shape_{};
  std::vector<format::TableFileEntry> entries_;
  Levels levels_;
  const std::set<std::uint64_t> quarantined_{};
  const DeadRanges dead_{};
  const std::map<std::uint64_t, std::uint64_t> dead_bytes_{};
  CommitVersion reclaimable_ = 1'000;
  CommitVersion ended_ = 5'000;
  bool idle_ = false;
  std::uint64_t next_ = 1;
};

TEST_F(ExpiryPicker, E3_AFileOfEndedEntitiesLeavesUnread) {
  add(6, "c", "d", {kEntries, 2'000, 5'000});
  add(6, "e", "f");
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::kUnlink);
  EXPECT_THAT(numbers_of(job->inputs), ElementsAre(1));
  reclaimable_ = 0;
  EXPECT_FALSE(pick()) << "a reader may still read beneath them";
}

TEST_F(ExpiryPicker, E3_AFileWithAnEntityThatLivesIsNotUnlinked) {
  add(6, "c", "d", {kEntries, 2'000, 5'001});
  const auto late = pick();
  EXPECT_TRUE(!late || late->kind != JobKind::kUnlink);
  entries_.back().ends = {kEntries - 1, 2'000, 5'000};
  const auto endless = pick();
  EXPECT_TRUE(!endless || endless->kind != JobKind::kUnlink);
}

TEST_F(ExpiryPicker, E3_DeletesBesideEndedEntitiesLeaveUnreadToo) {
  add(6, "c", "d", {kEntries - 10, 2'000, 5'000}).tombstone_count = 10;
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::kUnlink);
}

TEST_F(ExpiryPicker, E3_AFileOfEndedEntitiesOverOlderFilesGoesDown) {
  add(5, "c", "d", {kEntries, 2'000, 5'000});
  add(6, "a", "z");
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::kMerge);
  EXPECT_EQ(job->output_level, 6u);
}

TEST_F(ExpiryPicker, E3_AFileThatHasMostlyEndedIsRewritten) {
  add(6, "c", "d", {kEntries, 1'000, 7'000});
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::kMerge);
  EXPECT_EQ(job->output_level, 6u);
  ended_ = 1'100;
  EXPECT_FALSE(pick()) << "few of its entities have ended";
}

/// The largest end is far away. So by the smallest and the largest one, few have passed.
TEST_F(ExpiryPicker, E3_AFileWhoseFirstEndPassedLongAgoIsRewrittenForACallerWhoWaits) {
  add(6, "c", "d", {kEntries, 1'000, 1'000'000}).largest_version = 900;
  EXPECT_FALSE(pick());
  idle_ = true;
  const auto job = pick();
  ASSERT_TRUE(job);
  EXPECT_EQ(job->kind, JobKind::kMerge);
  EXPECT_EQ(job->output_level, 6u);
  ended_ = 1'100;
  EXPECT_TRUE(pick());
  ended_ = 1'099;
  EXPECT_FALSE(pick()) << "the first end lay 100 after the last write";
  ended_ = 5'000;
  reclaimable_ = 899;
  EXPECT_FALSE(pick()) << "a reader may still read beneath them";
  reclaimable_ = 1'000;
  entries_.back().ends.smallest = 800;  // It had passed when the file was written.
  EXPECT_TRUE(pick());
  entries_.back().ends.smallest = 5'001;
  EXPECT_FALSE(pick());
}

TEST_F(ExpiryPicker, E3_NoFileIsTouchedBeforeAnEnd) {
  add(6, "c", "d", {kEntries, 5'001, 5'001});
  idle_ = true;
  EXPECT_FALSE(pick());
}

}  // namespace
}  // namespace varve::engine::expiry_compaction_test
