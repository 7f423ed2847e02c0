// Owns: the promises of levels (engine/levels/levels.h).
#include "engine/levels/levels.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "tests/engine/compaction/tree_files.h"

namespace varve::engine::levels_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Levels, EmptyHoldsNothing) {
  const Levels levels = levels_of({});
  EXPECT_EQ(levels.file_count(), 0u);
  EXPECT_EQ(levels.find(3, "a"), nullptr);
  EXPECT_THAT(levels.overlapping(3, {"a", "z"}), IsEmpty());
  EXPECT_THAT(levels.all_overlapping({"a", "z"}), IsEmpty());
  EXPECT_FALSE(levels.has_overlapping({"a", "z"}));
}

TEST(Levels, Level0StandsNewestFirstWhateverItsNumbers) {
  format::TableFileEntry late = file_entry(1, 0, "a", "c");
  late.smallest_version = 50;
  late.largest_version = 60;
  const Levels levels = levels_of({file_entry(7, 0, "b", "d"), late, file_entry(5, 0, "a", "z")});
  EXPECT_THAT(numbers_of(levels.level(0)), ElementsAre(1, 7, 5));
}

TEST(Levels, AnAdoptedVersionStandsForThoseInside) {
  format::TableFileEntry adopted = file_entry(1, 0, "a", "c");
  adopted.smallest_version = 3;
  adopted.largest_version = 900;
  adopted.adopted_version = 6;
  const Levels levels = levels_of({file_entry(5, 0, "a", "c"), adopted, file_entry(7, 0, "a", "c")});
  EXPECT_THAT(numbers_of(levels.level(0)), ElementsAre(7, 1, 5));
}

TEST(Levels, DeeperLevelsStandByKey) {
  const Levels levels = levels_of({file_entry(1, 2, "p", "q"), file_entry(2, 2, "a", "c"), file_entry(3, 2, "d", "d")});
  EXPECT_THAT(numbers_of(levels.level(2)), ElementsAre(2, 3, 1));
  EXPECT_EQ(levels.level_bytes(2), std::uint64_t{3} << 20);
}

void expect_refused(const std::vector<format::TableFileEntry>& entries, const std::vector<std::string>& words) {
  const Result<Levels> levels = try_levels(entries);
  ASSERT_EQ(levels.code(), Code::kCorruption);
  for (const std::string& word : words) EXPECT_THAT(std::string(levels.status().message()), HasSubstr(word));
}

TEST(Levels, RefusesOverlapInADeeperLevelAndNamesBothFiles) {
  expect_refused({file_entry(11, 3, "a", "f"), file_entry(12, 3, "e", "g")}, {"level 3", "file 11", "file 12"});
  expect_refused({file_entry(11, 3, "a", "z"), file_entry(12, 3, "e", "g")}, {"file 11", "file 12"});
}

TEST(Levels, RefusesASharedBoundaryKey) {
  expect_refused({file_entry(11, 6, "a", "e"), file_entry(12, 6, "e", "g")}, {"level 6", "file 11", "file 12"});
}

TEST(Levels, RefusesLevel0FilesThatOverlapInKeysAndVersions) {
  format::TableFileEntry wide = file_entry(20, 0, "a", "f");
  wide.smallest_version = 5;
  expect_refused({wide, file_entry(11, 0, "e", "g")}, {"level 0", "file 20", "file 11"});
  EXPECT_TRUE(try_levels({wide, file_entry(11, 0, "g", "h")}).ok());  // of one flush
}

TEST(Levels, RefusesInvertedRangesAndUnknownLevels) {
  expect_refused({file_entry(4, 1, "b", "a")}, {"file 4", "largest key"});
  expect_refused({file_entry(4, 7, "a", "b")}, {"file 4", "level 7"});
  format::TableFileEntry entry = file_entry(4, 1, "a", "b");
  entry.smallest_version = 9;
  expect_refused({entry}, {"file 4", "largest version"});
}

TEST(Levels, FindsTheFileThatMayHoldAKey) {
  const Levels levels = levels_of({file_entry(1, 1, "b", "d"), file_entry(2, 1, "f", "h")});
  EXPECT_EQ(levels.find(1, "a"), nullptr);
  EXPECT_EQ(levels.find(1, "b")->entry.number, 1u);
  EXPECT_EQ(levels.find(1, "d")->entry.number, 1u);
  EXPECT_EQ(levels.find(1, "e"), nullptr);
  EXPECT_EQ(levels.find(1, "h")->entry.number, 2u);
  EXPECT_EQ(levels.find(1, "ha"), nullptr);
}

TEST(Levels, AFileIsPassedInItsMergedPartsOnly) {
  LevelFile file;
  EXPECT_FALSE(file.is_merged("b"));
  EXPECT_FALSE(file.is_merged(KeySpan{}));
  file.merged.push_back({"b", "d"});
  file.merged.push_back({"m", {}});
  EXPECT_FALSE(file.is_merged("a"));
  EXPECT_TRUE(file.is_merged("b"));
  EXPECT_TRUE(file.is_merged("c"));
  EXPECT_FALSE(file.is_merged("d"));
  EXPECT_TRUE(file.is_merged("z"));
  EXPECT_TRUE(file.is_merged(KeySpan{"b", "d"}));
  EXPECT_TRUE(file.is_merged(KeySpan{"m", {}}));
  EXPECT_FALSE(file.is_merged(KeySpan{"a", "d"}));
  EXPECT_FALSE(file.is_merged(KeySpan{"c", "e"}));
  EXPECT_FALSE(file.is_merged(KeySpan{"c", {}}));
  EXPECT_FALSE(file.is_merged(KeySpan{{}, "c"}));
  file.merged.push_back({{}, {}});
  EXPECT_TRUE(file.is_merged(KeySpan{}));
}

TEST(Levels, MergedPartsThatTouchAreJoined) {
  const auto joined = [](std::vector<KeySpan> parts) {
    std::vector<MergedSpan> spans;
    for (const KeySpan& part : parts) add_span(spans, part);
    std::string text;
    for (const MergedSpan& span : spans) text += span.from + "-" + span.to + " ";
    return text;
  };
  EXPECT_EQ(joined({{"b", "d"}, {"f", "h"}}), "b-d f-h ");
  EXPECT_EQ(joined({{"b", "d"}, {"f", "h"}, {"d", "f"}}), "b-h ");
  EXPECT_EQ(joined({{"b", "d"}, {"c", "e"}, {"b", "c"}}), "b-e ");
  EXPECT_EQ(joined({{"m", {}}, {{}, "b"}, {"c", "d"}}), "m- -b c-d ");
  EXPECT_EQ(joined({{"m", {}}, {{}, "b"}, {"b", "n"}}), "- ");
  EXPECT_EQ(joined({{"b", "d"}, {{}, {}}}), "- ");
}

TEST(Levels, AllOverlappingIsLevel0NewestFirstThenDownwards) {
  const Levels levels = levels_of({file_entry(1, 6, "a", "z"), file_entry(2, 1, "b", "c"), file_entry(3, 1, "d", "e"),
                                   file_entry(4, 0, "a", "b"), file_entry(5, 0, "b", "x"), file_entry(6, 0, "y", "z")});
  EXPECT_THAT(numbers_of(levels.all_overlapping({"b", "c"})), ElementsAre(5, 4, 2, 1));
}

/// Returns a file of level 0 whose entries have the versions from `oldest` to `newest`.
format::TableFileEntry file_of_versions(std::uint64_t number, CommitVersion oldest, CommitVersion newest,
                                        std::string smallest, std::string largest) {
  format::TableFileEntry entry = file_entry(number, 0, std::move(smallest), std::move(largest));
  entry.smallest_version = oldest;
  entry.largest_version = newest;
  return entry;
}

std::vector<std::vector<std::uint64_t>> flushes_of(const Levels& levels) {
  std::vector<std::vector<std::uint64_t>> flushes;
  for (std::size_t flush = 0; flush < levels.flush_count(); ++flush) {
    flushes.push_back(numbers_of(levels.flush(flush)));
  }
  return flushes;
}

TEST(Levels, FilesOfMixedVersionsAndDisjointKeysAreOneFlush) {
  const Levels levels = levels_of({file_of_versions(1, 10, 19, "h", "p"), file_of_versions(2, 11, 18, "a", "g"),
                                   file_of_versions(3, 12, 17, "q", "z"), file_of_versions(4, 20, 29, "h", "p"),
                                   file_of_versions(5, 21, 22, "a", "g"), file_of_versions(6, 30, 39, "a", "z")});
  EXPECT_THAT(flushes_of(levels), ElementsAre(ElementsAre(6), ElementsAre(5, 4), ElementsAre(2, 1, 3)));
  EXPECT_THAT(numbers_of(levels.all_overlapping({"g", "h"})), ElementsAre(6, 5, 4, 2, 1));
  EXPECT_EQ(levels.find_in_flush(1, "p")->entry.number, 4u);
  EXPECT_EQ(levels.find_in_flush(1, "pp"), nullptr);
  EXPECT_EQ(levels.find_in_flush(2, "pp"), nullptr);
  EXPECT_EQ(levels.find_in_flush(2, "q")->entry.number, 3u);
}

TEST(Levels, FilesOfSeparateVersionsAreSeveralFlushes) {
  const Levels levels = levels_of({file_of_versions(1, 10, 14, "a", "g"), file_of_versions(2, 15, 19, "h", "p")});
  EXPECT_THAT(flushes_of(levels), ElementsAre(ElementsAre(2), ElementsAre(1)));
}

TEST(Levels, AFileThatOverlapsAFlushInKeysIsNotPartOfIt) {
  // The second file has versions of both others. The third is older than the first, whose keys it has.
  const Levels levels = levels_of({file_of_versions(1, 15, 30, "m", "p"), file_of_versions(2, 5, 20, "a", "c"),
                                   file_of_versions(3, 1, 10, "n", "o")});
  EXPECT_THAT(flushes_of(levels), ElementsAre(ElementsAre(2, 1), ElementsAre(3)));
}

TEST(LevelsProperty, SearchesOfFlushesAgreeWithLookingAtEveryFile) {
  std::size_t several = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::vector<format::TableFileEntry> entries;
    CommitVersion version = 0;
    for (int flush = 0; flush < 4; ++flush) {
      for (std::uint64_t at = 'a' + random() % 8; at < 'z';) {
        const std::uint64_t last = std::min<std::uint64_t>('z', at + random() % 8);
        entries.push_back(file_of_versions(entries.size() + 1, version + 1 + random() % 9, version + 10 + random() % 9,
                                           std::string(1, static_cast<char>(at)),
                                           std::string(1, static_cast<char>(last))));
        at = last + 1 + random() % 4;
      }
      version += 20;
    }
    const Levels levels = levels_of(entries);
    ASSERT_EQ(levels.flush_count(), 4u);
    for (std::uint64_t key = 'a'; key <= 'z'; ++key) {
      const std::string smallest(1, static_cast<char>(key));
      const std::string largest(1, static_cast<char>(key + random() % 6));
      std::vector<std::uint64_t> overlapping;
      for (std::size_t flush = 0; flush < 4; ++flush) {
        const LevelFile* holder = nullptr;
        if (levels.flush(flush).size() > 1) ++several;
        for (const LevelFilePtr& file : levels.flush(flush)) {
          if (range_of(*file).overlaps({smallest, largest})) overlapping.push_back(file->entry.number);
          if (range_of(*file).holds(smallest)) holder = file.get();
        }
        ASSERT_EQ(levels.find_in_flush(flush, smallest), holder);
      }
      ASSERT_EQ(numbers_of(levels.level0_overlapping({smallest, largest})), overlapping);
      ASSERT_EQ(levels.has_overlapping({smallest, largest}), !overlapping.empty());
    }
  }
  EXPECT_GT(several, 1000u);
}

TEST(LevelsProperty, SearchesAgreeWithLookingAtEveryFile) {
  constexpr std::uint64_t kSeed = 20'231;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 300; ++round) {
    std::vector<format::TableFileEntry> entries;
    std::uint64_t at = 0;
    for (std::uint64_t number = 1; number <= random() % 12; ++number) {
      const std::uint64_t first = at + 1 + random() % 3;
      at = first + random() % 3;
      entries.push_back(
          file_entry(number, 1, std::string(1, static_cast<char>(first)), std::string(1, static_cast<char>(at))));
    }
    const Levels levels = levels_of(entries);
    for (std::uint64_t low = 0; low < at + 2; ++low) {
      const std::string smallest(1, static_cast<char>(low));
      const std::string largest(1, static_cast<char>(low + random() % 6));
      std::vector<std::uint64_t> overlapping;
      const LevelFile* holder = nullptr;
      for (const LevelFilePtr& file : levels.level(1)) {
        if (range_of(*file).overlaps({smallest, largest})) overlapping.push_back(file->entry.number);
        if (range_of(*file).holds(smallest)) holder = file.get();
      }
      ASSERT_EQ(numbers_of(levels.overlapping(1, {smallest, largest})), overlapping);
      ASSERT_EQ(levels.has_overlapping({smallest, largest}), !overlapping.empty());
      ASSERT_EQ(levels.find(1, smallest), holder);
    }
  }
}

/// Returns what the level's files are, in order.
std::vector<std::string> described(const Levels& levels) {
  std::vector<std::string> all;
  for (std::uint32_t level = 0; level < kLevelCount; ++level) {
    all.push_back("bytes " + std::to_string(levels.level_bytes(level)));
    for (const LevelFilePtr& file : levels.level(level)) all.push_back(std::to_string(file->entry.number));
  }
  for (std::size_t flush = 0; flush < levels.flush_count(); ++flush) {
    all.push_back("flush of " + std::to_string(levels.flush(flush).size()));
    if (levels.flush(flush).size() == 1) continue;
    for (const LevelFilePtr& file : levels.all_of_flush(flush)) all.push_back(std::to_string(file->entry.number));
  }
  return all;
}

TEST(LevelsProperty, ChangedLevelsEqualLevelsMadeAnew) {
  std::size_t refused = 0;
  std::size_t changed_count = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    LevelFiles files;
    Levels levels = levels_of({});
    std::uint64_t number = 0;
    for (int step = 0; step < 30; ++step) {
      LevelFiles removed;
      LevelFiles next;
      for (const LevelFilePtr& file : files) (random() % 6 == 0 ? removed : next).push_back(file);
      LevelFiles added;
      for (std::uint64_t count = 1 + random() % 3; count > 0; --count) {
        const char first = static_cast<char>('a' + random() % 26);
        const char last = static_cast<char>(first + static_cast<char>(random() % 2));
        format::TableFileEntry entry =
            file_entry(++number, static_cast<std::uint32_t>(random() % 7), std::string(1, first), std::string(1, last));
        entry.size_bytes = random() % 1000;
        if (random() % 8 == 0) entry.smallest_version = 0;  // overlaps all older files
        if (random() % 4 == 0) entry.smallest_version -= std::min<CommitVersion>(2, entry.smallest_version);
        added.push_back(std::make_shared<const LevelFile>(LevelFile{entry, {}}));
      }
      next.insert(next.end(), added.begin(), added.end());
      const Result<Levels> expected = Levels::make(next);
      const Result<Levels> changed = levels.with_change(removed, added);
      ASSERT_EQ(changed.code(), expected.code());
      if (!changed.ok()) {
        ++refused;
        continue;
      }
      ++changed_count;
      ASSERT_EQ(described(*changed), described(*expected));
      ASSERT_EQ(changed->file_count(), next.size());
      for (const LevelFilePtr& file : next) ASSERT_EQ(changed->file_of(file->entry), file);
      for (const LevelFilePtr& file : removed) ASSERT_EQ(changed->file_of(file->entry), nullptr);
      files = std::move(next);
      levels = *changed;
    }
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(changed_count, 1000u);
}

}  // namespace
}  // namespace varve::engine::levels_test
