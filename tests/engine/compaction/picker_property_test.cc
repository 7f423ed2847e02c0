// Owns: properties of every job (P1 and P2 of engine/compaction/picker.h) for any files.
// Method: random levels, random files in jobs and in quarantine. Jobs are picked until there is none.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/compaction/picker.h"
#include "engine/levels/debt.h"
#include "format/keys/sort_key.h"
#include "tests/engine/compaction/tree_files.h"
#include "tests/support/effort.h"

namespace varve::engine::picker_property_test {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

class RandomTree : public testing::TestWithParam<std::uint64_t> {
 protected:
  std::string key(std::uint64_t at) {
    std::string text = "000";
    for (std::size_t i = 3; i-- > 0; at /= 10) text[i] = static_cast<char>('0' + at % 10);
    return text;
  }
  format::TableFileEntry make(std::uint32_t level, std::uint64_t first, std::uint64_t last) {
    format::TableFileEntry entry = file_entry(next_++, level, key(first), key(last));
    entry.size_bytes = (1 + random_() % (level == 0 ? level0_mib_max_ : 400)) * kMiB;
    if (random_() % 12 == 0) entry.tombstone_count = random_() % 101;
    entry.first_table = first / 100;
    entry.last_table = last / 100;
    return entry;
  }
  Levels random_levels() {
    std::vector<format::TableFileEntry> entries;
    level0_mib_max_ = random_() % 2 == 0 ? 400 : 20;
    for (std::uint64_t i = random_() % 14; i > 0; --i) {
      const std::uint64_t first = random_() % 900;
      entries.push_back(make(0, first, first + random_() % 100));
    }
    for (std::uint32_t level = 3 + static_cast<std::uint32_t>(random_() % 4); level < kLevelCount; ++level) {
      for (std::uint64_t at = random_() % 50; at < 950; at += 1 + random_() % 60) {
        const std::uint64_t last = at + random_() % 40;
        entries.push_back(make(level, at, last));
        at = last;
      }
    }
    return levels_of(entries);
  }

  std::mt19937_64 random_{GetParam()};
  std::uint64_t level0_mib_max_ = 400;
  std::uint64_t next_ = 1;
};

/// P4, and the order of level 0 (V1) with one file in the place of all inputs.
void expect_joinable(const Levels& levels, const Job& job) {
  EXPECT_EQ(job.reason, JobReason::kLevel0);
  format::TableFileEntry one = job.inputs.front()->entry;
  std::vector<format::TableFileEntry> entries;
  for (const LevelFilePtr& file : levels.level(0)) {
    if (!job.takes(file->entry.number)) entries.push_back(file->entry);
  }
  for (const LevelFilePtr& file : job.inputs) {
    one.smallest_key = std::min(one.smallest_key, file->entry.smallest_key);
    one.largest_key = std::max(one.largest_key, file->entry.largest_key);
    one.smallest_version = std::min(one.smallest_version, file->smallest_version());
    one.largest_version = std::max(one.largest_version, file->largest_version());
  }
  entries.push_back(one);
  const Result<Levels> joined = try_levels(entries);
  EXPECT_TRUE(joined.ok()) << joined.status().to_string();
}

void expect_closed(const Levels& levels, const Job& job) {
  ASSERT_FALSE(job.inputs.empty());
  if (job.kind == JobKind::kUnlink) return;
  ASSERT_LE(job.level, job.output_level);
  for (const LevelFilePtr& input : job.inputs) {
    ASSERT_EQ(input->entry.level, job.level);
    if (job.level == 0) {
      for (const LevelFilePtr& other : levels.level(0)) {
        const bool older = other->largest_version() < input->smallest_version();
        if (older && job.output_level > 0 && range_of(*other).overlaps(range_of(*input))) {
          EXPECT_TRUE(job.takes(other->entry.number)) << "left behind above: " << other->entry.number;
        }
      }
    }
  }
  if (job.output_level == job.level) {
    EXPECT_TRUE(job.overlapped.empty());
    if (job.joins_level0()) return expect_joinable(levels, job);
    EXPECT_EQ(job.inputs.size(), 1u);
    return;
  }
  // All output keys are in the range of the job. No remaining file of the output level overlaps it.
  const Levels::Span met = levels.overlapping(job.output_level, job.range());
  EXPECT_EQ(numbers_of(met), numbers_of(job.overlapped));
  for (std::uint32_t level = job.level + 1; level < job.output_level; ++level) EXPECT_TRUE(levels.level(level).empty());
  EXPECT_TRUE(job.kind == JobKind::kMerge || job.overlapped.empty());
  if (job.level == 0) return;
  // On a deeper level the inputs are neighbours.
  EXPECT_EQ(numbers_of(levels.overlapping(job.level, range_of_all(job.inputs))), numbers_of(job.inputs));
}

TEST_P(RandomTree, EveryJobIsFreeAndClosedAndTheyEnd) {
  SCOPED_TRACE(GetParam());
  for (int round = 0; round < 20; ++round) {
    const Levels levels = random_levels();
    std::set<std::uint64_t> quarantined;
    for (std::uint64_t i = random_() % 4; i > 0; --i) quarantined.insert(1 + random_() % next_);
    std::map<std::uint64_t, std::uint64_t> dead_bytes;
    for (std::uint64_t i = random_() % 4; i > 0; --i) dead_bytes[1 + random_() % next_] = random_() % 400 * kMiB;
    std::map<std::uint64_t, std::uint64_t> leaving_values;
    for (std::uint64_t i = random_() % 4; i > 0; --i) leaving_values[1 + random_() % next_] = random_() % 400 * kMiB;
    std::vector<format::DeadId> dead_ids;
    for (TableId table = 0; table < 10; ++table) {
      if (random_() % 8 == 0) dead_ids.push_back({format::encode_table(table), 1, {}});
    }
    const DeadRanges dead(dead_ids, 1);
    const CommitVersion reclaimable = random_() % 2 == 0 ? next_ : random_() % next_;
    std::vector<Job> running;
    while (true) {
      const PickInput input{levels,      running,        quarantined,    dead,           dead_bytes,
                            reclaimable, round % 2 == 0, round % 3 == 0, &leaving_values};
      std::optional<Job> job = pick_job(input, {});
      if (!job) break;
      const std::optional<Job> again = pick_job(input, {});
      ASSERT_TRUE(again);
      EXPECT_EQ(numbers_of(again->inputs), numbers_of(job->inputs));
      expect_closed(levels, *job);
      for (const Job& other : running) EXPECT_FALSE(conflict(*job, other));
      for (const LevelFilePtr& file : job->inputs) {
        const bool holds_dead_tables_alone = dead.covers(file->entry.first_table, file->entry.last_table) ||
                                             dead_bytes[file->entry.number] >= file->entry.size_bytes;
        EXPECT_TRUE(!quarantined.contains(file->entry.number) ||
                    (job->kind == JobKind::kUnlink && holds_dead_tables_alone));
      }
      for (const LevelFilePtr& file : job->overlapped) EXPECT_FALSE(quarantined.contains(file->entry.number));
      running.push_back(*std::move(job));
      ASSERT_LE(running.size(), levels.file_count());
      if (HasFailure()) return;
    }
    const std::set<std::uint64_t> none;
    if (compaction_debt_bytes(levels, {}) > 0) {
      EXPECT_TRUE(pick_job({levels, {}, none, dead, dead_bytes, reclaimable, false}, {})) << "debt and no job";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTree, testing::Range<std::uint64_t>(1, 1 + test::effort<std::uint64_t>(50)));

}  // namespace
}  // namespace varve::engine::picker_property_test
