// Goal: the list of deliberate bugs for tools/dev/mutants stays correct as the code changes. Each bug names a line that
// occurs once in its file, and each sync has a bug that leaves it out.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace varve::mutants_test {
namespace {

struct Mutant {
  std::string name;
  std::string file;
  std::string line;
  std::string suite;
};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  const std::size_t last = text.find_last_not_of(" \t");
  return first == std::string::npos ? std::string() : text.substr(first, last - first + 1);
}

std::vector<Mutant> read_mutants() {
  std::vector<Mutant> mutants;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(VARVE_SOURCE_DIR) + "/tests/mutants")) {
    std::ifstream lines(entry.path());
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("mutant ")) {
        mutants.emplace_back().name = line.substr(7);
      } else if (line.starts_with("file ")) {
        mutants.back().file = line.substr(5);
      } else if (line.starts_with("- ")) {
        mutants.back().line = trimmed(line.substr(2));
      } else if (line.starts_with("try ")) {
        mutants.back().suite = line.substr(4, line.find(' ', 4) - 4);
      }
    }
  }
  return mutants;
}

int count_lines(const std::string& file, const std::string& wanted) {
  std::ifstream lines(std::string(VARVE_SOURCE_DIR) + "/" + file);
  int count = 0;
  for (std::string line; std::getline(lines, line);) count += trimmed(line) == wanted ? 1 : 0;
  return count;
}

TEST(Mutants, EachNamesALineThatStandsOnceInItsFile) {
  const std::vector<Mutant> mutants = read_mutants();
  EXPECT_GE(mutants.size(), 40u);
  std::set<std::string> names;
  for (const Mutant& mutant : mutants) {
    EXPECT_TRUE(names.insert(mutant.name).second) << mutant.name << " is there twice";
    EXPECT_FALSE(mutant.suite.empty()) << mutant.name << " names no suite";
    EXPECT_EQ(count_lines(mutant.file, mutant.line), 1) << mutant.name << " in " << mutant.file << ": " << mutant.line;
  }
}

/// Returns the lines of `file` that only make data durable.
std::vector<std::string> syncs_in(const std::filesystem::path& file) {
  const std::regex sync(R"(::f(data)?sync\(|O_DSYNC\)|\bsync\((sync_points::|point\);))");
  std::vector<std::string> found;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(line);
    if (!line.starts_with("//") && std::regex_search(line, sync)) found.push_back(line);
  }
  return found;
}

TEST(Mutants, LeaveOutEverySync) {
  const std::filesystem::path root(VARVE_SOURCE_DIR);
  std::set<std::string> left_out;
  for (const Mutant& mutant : read_mutants()) left_out.insert(mutant.file + ": " + mutant.line);
  int syncs = 0;
  for (const char* layer : {"io", "engine"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / layer)) {
      if (entry.path().extension() != ".cc") continue;
      for (const std::string& line : syncs_in(entry.path())) {
        ++syncs;
        const std::string place = entry.path().lexically_relative(root).string() + ": " + line;
        EXPECT_TRUE(left_out.contains(place)) << place << "\nhas no mutant in tests/mutants/syncs.txt";
      }
    }
  }
  EXPECT_GE(syncs, 20);
}

}  // namespace
}  // namespace varve::mutants_test
