// Owns: the proof that tests/SPEC.md matches the present tests, and that a rule without a test is found.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/io/temporary_directory.h"

namespace varve::spec_table_test {
namespace {

struct Outcome {
  int exit_code = -1;
  std::string output;  // the program's output, including errors
};

Outcome spec_table(const std::string& arguments) {
  const std::string command = std::string("'" VARVE_SOURCE_DIR "/tools/dev/spec_table' ") + arguments + " 2>&1";
  Outcome outcome;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> bytes{};
  for (std::size_t size; (size = std::fread(bytes.data(), 1, bytes.size(), pipe)) > 0;) {
    outcome.output.append(bytes.data(), size);
  }
  const int status = ::pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

/// A small tree of rules and tests, removed at the end.
class SpecTable : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(root_ / "tests");
    write("spec_rules.txt", "# Rules.\n\n## Things\nA-01 The first | rule.\nA-02 The second.\nA-03 wire The third.\n");
  }

  void write(const std::string& name, const std::string& text) const { std::ofstream(root_ / "tests" / name) << text; }
  std::string table() const {
    std::ifstream file(root_ / "tests" / "SPEC.md");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  Outcome run(const std::string& options = "") const { return spec_table(options + " '" + root_.string() + "'"); }

  const io::TemporaryDirectory directory_;
  const std::filesystem::path root_ = directory_.path();
};

TEST(SpecTableFile, IsUpToDate) {
  const Outcome outcome = spec_table("--check");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
}

TEST_F(SpecTable, NamesTheTestsOfEveryRule) {
  write("a_test.cc",
        "TEST(Things, A01_Work) {}\nTEST_F(Things,\n       A02_A01_Work) {}\nTEST(Things, A2_AndA02Not) {}\n"
        "TEST(Things, A03_Works) {}\n");
  const Outcome outcome = run();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(
      table().find("| A-01 | The first \\| rule. | `Things.A01_Work` in tests/a_test.cc<br>`Things.A02_A01_Work` in "
                   "tests/a_test.cc |\n"),
      std::string::npos)
      << table();
  EXPECT_NE(table().find("| A-02 | The second. | `Things.A02_A01_Work` in tests/a_test.cc |\n"), std::string::npos)
      << table();
  EXPECT_NE(table().find("## Over HTTP alone"), std::string::npos);
  EXPECT_NE(table().find("| A-03 | The third. | `Things.A03_Works` in tests/a_test.cc |\n"), std::string::npos)
      << table();
}

TEST_F(SpecTable, ARowOfATableIsShownByTheFirstTestAfterIt) {
  write("spec_rules.txt", "## Vectors\nQK-1 One.\nQK-2 Two.\nQK-3 Three.\n");
  write("a_test.cc",
        "vectors() {\n  return {\n      {\"QK-1\", 1},\n      {\"QK-2\",\n       2}};\n}\n"
        "TEST(Things, First) {}\nTEST(Things, Second) {}\n  // {\"QK-3\", 3}\n");
  write("b_test.cc", "      {\"QK-3\", 3},\n");
  write("c_test.cc", "TEST(Things, QK2_OfAnotherFile) {}\n");
  const Outcome outcome = run("--allow-gaps");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(table().find("| QK-1 | One. | `Things.First` in tests/a_test.cc |\n"), std::string::npos) << table();
  EXPECT_NE(table().find("| QK-2 | Two. | `Things.First` in tests/a_test.cc<br>`Things.QK2_OfAnotherFile` in "
                         "tests/c_test.cc |\n"),
            std::string::npos)
      << table();
  EXPECT_NE(table().find("| QK-3 | Three. | **nothing yet** |\n"), std::string::npos) << table();
}

TEST_F(SpecTable, AGoalIsMeasuredByTheRowsThatAreComparedWithIt) {
  write("spec_rules.txt", "## Things\nA-01 The first.\nG-01 goal It is fast.\nG-02 goal It is small.\n");
  write("a_test.cc", "TEST(Things, A01_G02_Work) {}\n");
  std::filesystem::create_directories(root_ / "bench" / "race");
  const auto race = [this](const std::string& goals) {
    std::ofstream(root_ / "bench" / "race" / "goals.py")
        << "from types import SimpleNamespace as N\n\n\n"
           "def goal(name, *of):\n    return N(name=name, measured=N(of=list(of)))\n\n\n"
           "GOALS = ["
        << goals << "]\n";
  };
  race("goal('G-01', ('part', 'puts')), goal('G-01', ('part', 'gets'), ('part', 'puts')), goal('G-03', ('part', 'x'))");
  const Outcome lacking = run();
  EXPECT_EQ(lacking.exit_code, 1) << "a test shows no goal";
  EXPECT_NE(lacking.output.find("G-02 It is small.\n"), std::string::npos) << lacking.output;
  EXPECT_EQ(lacking.output.find("G-01"), std::string::npos) << lacking.output;
  race("goal('G-01', ('part', 'puts')), goal('G-01', ('part', 'gets'), ('part', 'puts')), goal('G-02', ('part', 'x'))");
  EXPECT_EQ(run().exit_code, 0);
  EXPECT_NE(table().find("## Goals"), std::string::npos) << table();
  EXPECT_NE(table().find("| G-01 | It is fast. | `part: puts`<br>`part: gets` |\n"), std::string::npos) << table();
  race("goal('G-01', ('part', 'puts'))");
  EXPECT_EQ(run("--check").exit_code, 1);
  std::filesystem::remove(root_ / "bench" / "race" / "goals.py");
  EXPECT_EQ(run().exit_code, 1);
  race("nonsense");
  EXPECT_NE(run("--allow-gaps").exit_code, 0) << "goals that cannot be read are no goals that are not there";
}

TEST_F(SpecTable, ARuleWithoutATestIsListedAndEndsIt) {
  write("a_test.cc", "TEST(Things, A01_Work) {}\n// TEST(Things, A02_IsNone)\n");
  const Outcome outcome = run();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.output.find("A-02 The second.\n"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("A-03 The third.\n"), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find("A-01"), std::string::npos) << outcome.output;
  EXPECT_EQ(table(), "");
  EXPECT_EQ(run("--allow-gaps").exit_code, 0);
  EXPECT_NE(table().find("| A-02 | The second. | **nothing yet** |\n"), std::string::npos) << table();
  EXPECT_NE(table().find("| A-03 | The third. | **nothing yet** |\n"), std::string::npos) << table();
}

TEST_F(SpecTable, ACheckFindsATableThatIsNotUpToDateAndWritesNothing) {
  write("a_test.cc", "TEST(Things, A01_A02_A03_Work) {}\n");
  EXPECT_EQ(run("--check").exit_code, 1);
  EXPECT_EQ(table(), "");
  EXPECT_EQ(run().exit_code, 0);
  EXPECT_EQ(run("--check").exit_code, 0);
  write("b_test.cc", "TEST_P(Things, A02_WorkToo) {}\n");
  EXPECT_EQ(run("--check").exit_code, 1);
}

TEST_F(SpecTable, RulesThatAreNoneOrThereTwiceAreRefused) {
  write("a_test.cc", "TEST(Things, A01_Work) {}\n");
  for (const std::string rules : {"A1 A rule.\n", "A-01 Once.\nA-01 Twice.\n"}) {
    write("spec_rules.txt", rules);
    const Outcome outcome = run("--allow-gaps");
    EXPECT_NE(outcome.exit_code, 0) << outcome.output;
    EXPECT_NE(outcome.output.find("tests/spec_rules.txt"), std::string::npos) << outcome.output;
    EXPECT_EQ(table(), "");
  }
}

}  // namespace
}  // namespace varve::spec_table_test
