// Goal: the text of this project becomes easier to read, and never harder.
// Method: lines of comments and documents that are hard to read are counted in each folder. The counts are compared
// with plain_english.txt, where they only fall.
#include "tests/support/plain_english.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace varve::test::plain_english_test {
namespace {

constexpr std::size_t kShownMax = 12;
const std::string kCountsFile = "tests/plain_english.txt";

using FoundByFolder = std::map<std::string, Offences>;

FoundByFolder find_all() {
  FoundByFolder found;
  std::vector<SourceFile> files;
  for (const std::string folder :
       {"api", "bench", "docs", "engine", "examples", "format", "fuzz", "io", "tests", "tools"}) {
    for (SourceFile& file : read_sources(VARVE_SOURCE_DIR, folder, {".h", ".cc", ".md", ".py"})) {
      files.push_back(std::move(file));
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(VARVE_SOURCE_DIR)) {
    if (entry.path().extension() != ".md") continue;
    std::ifstream in(entry.path());
    files.push_back({entry.path().filename().string(), std::string(std::istreambuf_iterator<char>(in), {})});
  }
  for (const SourceFile& file : files) {
    for (Offence& offence : find_hard_english(file)) found[folder_of(file.path)].push_back(std::move(offence));
  }
  return found;
}

/// Reads the folder and its count from each line.
std::map<std::string, std::size_t> recorded_counts() {
  std::map<std::string, std::size_t> counts;
  std::ifstream in(std::string(VARVE_SOURCE_DIR) + "/" + kCountsFile);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string folder;
    std::size_t count = 0;
    words >> count >> folder;
    counts[folder] = count;
  }
  return counts;
}

std::string text_of(const FoundByFolder& found) {
  std::string text =
      "# Lines of comments and documents that are hard to read, in each folder (plain_english_test.cc). The counts "
      "only\n"
      "# fall.\n";
  for (const auto& [folder, offences] : found) text += std::to_string(offences.size()) + " " + folder + "\n";
  return text;
}

TEST(PlainEnglish, HardLinesOnlyBecomeFewer) {
  const FoundByFolder found = find_all();
  const std::map<std::string, std::size_t> recorded = recorded_counts();
  bool has_fallen = false;
  for (const auto& [folder, offences] : found) {
    const std::size_t allowed = recorded.contains(folder) ? recorded.at(folder) : 0;
    has_fallen |= offences.size() < allowed;
    if (offences.size() <= allowed) continue;
    std::string shown;
    for (std::size_t i = 0; i < offences.size() && i < kShownMax; ++i) shown += offences[i].to_string() + "\n";
    ADD_FAILURE() << folder << ": " << offences.size() << " hard lines, " << allowed
                  << " are recorded; rewrite your lines. Some of the folder's:\n"
                  << shown;
  }
  for (const auto& [folder, count] : recorded) has_fallen |= !found.contains(folder);
  if (!has_fallen) return;
  const std::string path = ::testing::TempDir() + "plain_english.txt";
  std::ofstream(path) << text_of(found);
  ADD_FAILURE() << "there are fewer hard lines than recorded; replace " << kCountsFile << " by " << path;
}

std::size_t count(std::string path, std::string text) {
  return find_hard_english({std::move(path), std::move(text)}).size();
}

TEST(PlainEnglishRule, FindsHardWordsInComments) {
  EXPECT_EQ(count("io/a.h", "// The caller is told of it.\n"), 1U);
  EXPECT_EQ(count("io/a.h", "/// Of a file, its size.\n"), 1U);
  EXPECT_EQ(count("io/a.h", "// Frees what is kept of it.\n"), 1U);
  EXPECT_EQ(count("io/a.h", "// Returns the size in bytes.\nint behind = told;\n"), 0U);
  EXPECT_EQ(count("io/a.h", "// Says what is the size.\n"), 0U);
  EXPECT_EQ(count("tools/a.py", "# It stands there.\n"), 1U);
}

TEST(PlainEnglishRule, ReadsDocumentsWithoutTheirCode) {
  EXPECT_EQ(count("README.md", "The log stands first.\n"), 1U);
  EXPECT_EQ(count("README.md", "```\nThe log stands first.\n```\n"), 0U);
}

TEST(PlainEnglishRule, FindsLongSentencesOverLines) {
  std::string text = "//";
  for (int i = 0; i < 41; ++i) text += i == 20 ? "\n// word" : " word";
  EXPECT_EQ(count("io/a.h", text + ".\n"), 1U);
  EXPECT_EQ(count("io/a.h", text + "\n\n// End.\n"), 0U);
  EXPECT_EQ(count("io/a.h", "// Short. Another one.\n"), 0U);
}

}  // namespace
}  // namespace varve::test::plain_english_test
