// Goal: the manual pages and the completions say what the help says: every verb, every option, and nothing that a page
// or a shell would take for an instruction.
// Method: the program writes them, and its own help is the list to compare with. bash completes words for real.
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/run_program.h"

namespace varve::manual_test {
namespace {

using test::ProgramResult;
using test::run_program;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

/// Returns the names of the verbs that a help lists. Only a command above others lists some.
Words verbs_in(const std::string& help) {
  Words verbs;
  const std::regex usage("Usage: .*(SUBCOMMAND|VERB)");
  if (!std::regex_search(help, usage)) return verbs;
  std::istringstream lines(help);
  const std::regex verb("  ([a-z][a-z-]*)  .*");
  std::smatch found;
  for (std::string line; std::getline(lines, line) && line != "Examples";) {
    if (std::regex_match(line, found, verb)) verbs.push_back(found[1]);
  }
  return verbs;
}

/// Returns the long options that a help describes.
std::set<std::string> options_in(const std::string& help) {
  std::set<std::string> options;
  const std::regex option("\n  (?:-[a-z], ?)?(--[a-z-]+)");
  for (std::sregex_iterator at(help.begin(), help.end(), option), end; at != end; ++at) options.insert((*at)[1]);
  return options;
}

std::string help_of(Words path) {
  path.push_back("--help");
  const ProgramResult result = run_program(path);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.out;
}

class Manual : public ::testing::Test {
 protected:
  void SetUp() override {
    const ProgramResult result = run_program({"manual", scratch_.path("made")});
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  std::string made(const std::string& name) const { return test::content_of(scratch_.path("made/" + name)); }
  std::string page(const std::string& verb) const { return made("man/man1/varve-" + verb + ".1"); }
  /// Returns what bash offers for the last word.
  Words completed(const std::string& words) const {
    const std::string script = "source '" + scratch_.path("made/bash-completion/completions/varve") +
                               "'; COMP_WORDS=(" + words + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); cd '" +
                               scratch_.path("") + "'; _varve; printf '%s\\n' \"${COMPREPLY[@]}\"";
    const std::string command =
        "bash --norc -c '" + std::regex_replace(script, std::regex("'"), "'\\''") + "' >'" + scratch_.path("out") + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << words;  // NOLINT(cert-env33-c)
    Words offered;
    std::istringstream lines(test::content_of(scratch_.path("out")));
    for (std::string line; std::getline(lines, line);) offered.push_back(line);
    return offered;
  }

  test::ScratchDirectory scratch_;
};

TEST_F(Manual, HasAPageForEachVerbWithEachOptionOfItsHelp) {
  const Words verbs = verbs_in(help_of({}));
  ASSERT_GE(verbs.size(), 20U);
  for (const std::string& verb : verbs) {
    const std::string escaped_verb = std::regex_replace(verb, std::regex("-"), "\\-");
    EXPECT_THAT(made("man/man1/varve.1"), HasSubstr("\n\\fBvarve\\-" + escaped_verb + "\\fR(1)\n"));
    std::vector<Words> paths = {{verb}};
    for (const std::string& below : verbs_in(help_of({verb}))) paths.push_back({verb, below});
    for (const Words& path : paths) {
      for (const std::string& option : options_in(help_of(path))) {
        const std::string escaped = std::regex_replace(option, std::regex("-"), "\\-");
        EXPECT_THAT(page(verb), HasSubstr("\\fB" + escaped + "\\fR")) << verb;
      }
    }
  }
}

TEST_F(Manual, HasNoLineThatIsAnUnknownInstruction) {
  const std::regex known(R"(\.(TH|SH|SS|TP|PP|EX|EE|br)( .*)?)");
  int pages = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch_.path("made/man"))) {
    if (!entry.is_regular_file()) continue;
    ++pages;
    const std::string text = test::content_of(entry.path());
    EXPECT_THAT(text, StartsWith(".TH ")) << entry.path();
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(!line.starts_with('.') || std::regex_match(line, known)) << entry.path() << ": " << line;
      EXPECT_THAT(line, Not(StartsWith("'"))) << entry.path();
    }
  }
  EXPECT_GT(pages, 20);
}

TEST_F(Manual, DescribesEachSettingOfTheServer) {
  const std::string settings = made("man/man5/varve.toml.5");
  for (const std::string& option : options_in(help_of({"serve"}))) {
    static const std::set<std::string> of_the_line = {"--help", "--config", "--print-config", "--color", "--no-pager"};
    if (of_the_line.contains(option)) continue;
    const std::string escaped = std::regex_replace(option.substr(2), std::regex("-"), "\\-");
    EXPECT_THAT(settings, HasSubstr("\n\\fB" + escaped + "\\fR = "));
  }
}

TEST_F(Manual, IsHiddenFromTheHelp) {
  EXPECT_THAT(help_of({}), Not(HasSubstr("manual pages")));
  EXPECT_THAT(verbs_in(help_of({})), Not(Contains("manual")));
  EXPECT_EQ(made("man/man1/varve-manual.1"), "");
}

TEST_F(Manual, LeavesNothingWhereItCannotWrite) {
  const ProgramResult result = run_program({"manual", scratch_.file("file", "") + "/below"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("cannot make "));
}

TEST_F(Manual, CompletesInBash) {
  const Words all = verbs_in(help_of({}));
  EXPECT_THAT(completed("varve ''"), ::testing::UnorderedElementsAreArray(all));
  for (const std::string& verb : all) {
    const Words offered = completed("varve " + verb + " --");
    for (const std::string& option : options_in(help_of({verb}))) EXPECT_THAT(offered, Contains(option)) << verb;
  }
  EXPECT_THAT(completed("varve table dr"), ::testing::ElementsAre("drop"));
  EXPECT_THAT(completed("varve query ./shop Orders --format ''"), ::testing::ElementsAre("table", "jsonl", "csv"));
  EXPECT_THAT(completed("varve query ./shop Orders --format = js"), ::testing::ElementsAre("jsonl"));
  scratch_.file("rows.csv", "");
  EXPECT_THAT(completed("varve import --format csv ./shop Orders ro"), ::testing::ElementsAre("rows.csv"));
  EXPECT_THAT(completed("varve verify ''"), AllOf(Contains("made"), Not(Contains("rows.csv"))));
}

}  // namespace
}  // namespace varve::manual_test
