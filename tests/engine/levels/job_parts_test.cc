// Owns: the functions that the executor of a job calls during a merge (engine/compaction/output_cuts.h,
// bottom_check.h).
#include <string>

#include "engine/compaction/bottom_check.h"
#include "engine/compaction/output_cuts.h"
#include "format/keys/sort_key.h"
#include "tests/engine/compaction/tree_files.h"

namespace varve::engine::job_parts_test {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr TableId kTable = format::make_table_id(4, 7);

Job merge_of(const Levels& levels, std::uint32_t level, std::uint32_t output_level) {
  Job job;
  job.level = level;
  job.output_level = output_level;
  job.inputs = levels.level(level);
  if (output_level != level) job.overlapped = levels.level(output_level);
  return job;
}

TEST(BottomCheck, LooksBeneathTheOutputAlone) {
  const Levels levels = levels_of({file_entry(1, 2, "a", "z"), file_entry(2, 3, "a", "z"), file_entry(3, 4, "c", "d"),
                                   file_entry(4, 6, "d", "f"), file_entry(5, 6, "m", "n")});
  BottomCheck bottom(levels, merge_of(levels, 2, 3));
  EXPECT_TRUE(bottom.is_bottom("a"));
  EXPECT_FALSE(bottom.is_bottom("c"));
  EXPECT_FALSE(bottom.is_bottom("d"));
  EXPECT_FALSE(bottom.is_bottom("e"));
  EXPECT_TRUE(bottom.is_bottom("g"));
  EXPECT_FALSE(bottom.is_bottom("n"));
  EXPECT_TRUE(bottom.is_bottom("na"));
  EXPECT_FALSE(is_bottom_for(levels, 3, {"a", "z"}));
  EXPECT_TRUE(is_bottom_for(levels, 3, {"g", "l"}));
  EXPECT_TRUE(is_bottom_for(levels, 6, {"a", "z"}));
}

TEST(BottomCheck, WithinLevel0OlderFilesCount) {
  const Levels levels = levels_of({file_entry(1, 0, "c", "d"), file_entry(2, 0, "a", "z"), file_entry(3, 0, "e", "f")});
  Job job;
  job.inputs = {levels.level(0)[1]};
  BottomCheck bottom(levels, job);
  EXPECT_TRUE(bottom.is_bottom("b"));
  EXPECT_FALSE(bottom.is_bottom("c"));
  EXPECT_TRUE(bottom.is_bottom("e")) << "what is newer hides nothing";
  EXPECT_FALSE(is_bottom_for(levels, *levels.level(0)[1]));
  EXPECT_TRUE(is_bottom_for(levels, *levels.level(0)[2]));
}

TEST(OutputCuts, CutsAtTheSizeOfAFile) {
  const TreeShape shape;
  for (std::uint32_t level = 1; level <= kLastLevel; ++level) {
    SCOPED_TRACE(level);
    const Levels levels = levels_of({file_entry(1, level - 1, "a", "z")});
    OutputCuts cuts(levels, merge_of(levels, level - 1, level), shape);
    EXPECT_FALSE(cuts.begins_new_file("a", 0, 0, kTable));
    EXPECT_FALSE(cuts.begins_new_file("b", shape.file_bytes - 1, 0, std::nullopt));
    EXPECT_TRUE(cuts.begins_new_file("c", shape.file_bytes, 0, std::nullopt));
  }
}

TEST(OutputCuts, CutsBehindATableThatFillsAQuarterOfAFile) {
  const Levels levels = levels_of({file_entry(1, 5, "a", "z")});
  const TreeShape shape;
  OutputCuts cuts(levels, merge_of(levels, 5, 6), shape);
  const std::uint64_t quarter = shape.file_bytes / 4;
  EXPECT_FALSE(cuts.begins_new_file("a", quarter, quarter, std::nullopt));
  EXPECT_FALSE(cuts.begins_new_file("b", quarter, quarter - 1, kTable));
  EXPECT_TRUE(cuts.begins_new_file("c", quarter, quarter, kTable + 1));
}

TEST(OutputCuts, CutsBeforeALargeTableWhateverIsBeforeIt) {
  const Levels levels = levels_of({file_entry(1, 5, "a", "z")});
  OutputCuts cuts(levels, merge_of(levels, 5, 6), {}, {kTable + 1});
  EXPECT_FALSE(cuts.begins_new_file("a", 0, 0, kTable));
  EXPECT_TRUE(cuts.begins_new_file("b", 100, 100, kTable + 1));
  EXPECT_FALSE(cuts.begins_new_file("c", 100, 100, std::nullopt));
  EXPECT_FALSE(cuts.begins_new_file("d", 200, 200, kTable + 2));
}

TEST(OutputCuts, CutsBehindTheStoresOwnTables) {
  const Levels levels = levels_of({file_entry(1, 5, "a", "z")});
  OutputCuts cuts(levels, merge_of(levels, 5, 6), {});
  EXPECT_FALSE(cuts.begins_new_file("a", 0, 0, format::make_table_id(0, 1)));
  EXPECT_FALSE(cuts.begins_new_file("b", 100, 100, format::make_table_id(0, 2)));
  EXPECT_TRUE(cuts.begins_new_file("c", 200, 100, kTable));
  EXPECT_FALSE(cuts.begins_new_file("d", 100, 100, kTable + 1));
}

TEST(OutputCuts, CutsBeforeAFileLiesOverTooMuch) {
  std::vector<format::TableFileEntry> entries = {file_entry(1, 4, "a", "z")};
  for (char at = 'a'; at <= 'z'; ++at) {
    entries.push_back(file_entry(static_cast<std::uint64_t>(at), 6, std::string(1, at), std::string(1, at) + "m"));
    entries.back().size_bytes = 100 * kMiB;
  }
  const Levels levels = levels_of(entries);
  OutputCuts cuts(levels, merge_of(levels, 4, 5), {});
  std::string cut_at;
  std::uint64_t bytes = 0;
  for (char at = 'a'; at <= 'z'; ++at) {
    if (cuts.begins_new_file(std::string(1, at), bytes, bytes, std::nullopt)) {
      cut_at += at;
      bytes = 0;
    }
    bytes += kMiB;
  }
  EXPECT_EQ(cut_at, "hov");
}

TEST(OutputCuts, PrefersTheEdgeOfAFileBelow) {
  const Levels levels = levels_of({file_entry(1, 4, "a", "z"), file_entry(2, 6, "a", "f"), file_entry(3, 6, "g", "z")});
  const TreeShape shape;
  OutputCuts cuts(levels, merge_of(levels, 4, 5), shape);
  const std::uint64_t nearly = shape.file_bytes / 4 * 3;
  EXPECT_FALSE(cuts.begins_new_file("f", nearly, 0, std::nullopt));
  EXPECT_TRUE(cuts.begins_new_file("g", nearly, 0, std::nullopt));
  EXPECT_FALSE(cuts.begins_new_file("h", nearly, 0, std::nullopt));
}

}  // namespace
}  // namespace varve::engine::job_parts_test
