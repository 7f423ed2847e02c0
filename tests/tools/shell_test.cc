// Goal: `varve shell` carries out the lines of a pipe in order, reports failures and continues. On a terminal it
// prompts, completes and shows pages.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/run_program.h"
#include "tests/tools/talk_on_terminal.h"

namespace varve::shell_test {
namespace {

using test::ProgramResult;
using test::run_program;
using ::testing::HasSubstr;
using ::testing::Not;

class ShellProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string lines;
    for (int row = 10; row < 40; ++row) {
      lines += R"({"PartitionKey":"p","RowKey":")" + std::to_string(row) + R"(","N":)" + std::to_string(row) + "}\n";
    }
    const ProgramResult result = run_program({"import", store_, "Rows", "-", "--format", "jsonl"}, lines);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  ProgramResult shell(const std::string& lines, std::vector<std::string> more = {"Rows"}) const {
    more.insert(more.begin(), {"shell", store_});
    return run_program(more, lines);
  }

  test::ScratchDirectory scratch_;
  std::string store_ = scratch_.path("store");
};

TEST_F(ShellProgram, CarriesOutEveryLineOfAPipe) {
  const ProgramResult result = shell(
      "tables\nuse Rows\ncount\ncount N ge 30\nget p 10\n"
      "insert q 'a b' Name=Ann N=3 Text='x y'\nquery --select Name,Text PartitionKey eq 'q'\ndelete q \"a b\"\ncount\n",
      {});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Rows\n30\n10\n{\"PartitionKey\":\"p\",\"RowKey\":\"10\""));
  EXPECT_THAT(result.out, HasSubstr(R"("Name":"Ann","Text":"x y"})"));
  EXPECT_TRUE(result.out.ends_with("\n30\n")) << result.out;
  EXPECT_THAT(result.err, HasSubstr("s)\n")) << "each with its time";
}

TEST_F(ShellProgram, WhatFailsIsToldAndTheRestGoesOn) {
  const ProgramResult result = shell(
      "count\nuse Absent\nfrobnicate\nget p\nget p absent\nquery N eq\nquery --top x\nget 'p\ninsert p 10\ninsert p 99 "
      "N\n"
      "more\n# a remark\n\ncount\nexit\ncount\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "30\n30\n");
  for (const char* error : {"TableNotFound", "no command \"frobnicate\"", "usage: get", "the entity does not exist",
                            "character 5", "--top must be a whole number", "a quote is not closed",
                            "EntityAlreadyExists", "NAME=VALUE", "there is no next page"}) {
    EXPECT_THAT(result.err, HasSubstr(error));
  }
}

TEST_F(ShellProgram, NeedsATableForWhatWorksOnOne) {
  const ProgramResult result = shell("query\ncount\nget a b\nhelp\nstats\n", {});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("no table is chosen"));
  EXPECT_THAT(result.out, HasSubstr("query [--select A,B]"));
  EXPECT_THAT(result.out, HasSubstr("commits   "));
}

TEST_F(ShellProgram, QueriesTakeATopAndADirection) {
  const ProgramResult result = shell("query --top 2 --backward --select N N lt 20\n");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_LT(result.out.find("\"RowKey\":\"19\""), result.out.find("\"RowKey\":\"18\""));
  EXPECT_THAT(result.out, Not(HasSubstr("\"17\"")));
  EXPECT_THAT(result.err, HasSubstr("2 entities\n"));
}

TEST_F(ShellProgram, ReadOnlyWritesNothing) {
  const ProgramResult result = shell("insert p 99 N=1\ncount\n", {"Rows", "--read-only"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "30\n");
  EXPECT_THAT(result.err, HasSubstr("read-only"));
}

TEST_F(ShellProgram, AtATerminalItPromptsCompletesPagesAndRemembers) {
  const std::string home = scratch_.path("home");
  std::filesystem::create_directory(home);
  const test::TerminalResult result = test::talk_on_terminal(
      {"shell", store_}, home, "> ", {"use Ro\t\n", "count\n", "query --backward\n", "more\n", "more\n", "exit\n"});
  EXPECT_EQ(result.exit_code, 0) << result.shown;
  EXPECT_THAT(result.shown, HasSubstr("varve> "));
  EXPECT_THAT(result.shown, HasSubstr("Rows> ")) << "the name was completed";
  EXPECT_THAT(result.shown, HasSubstr("30\r\n"));
  EXPECT_THAT(result.shown, HasSubstr("20 entities; `more` prints the next page"));
  EXPECT_THAT(result.shown, HasSubstr("10 entities\r\n"));
  EXPECT_THAT(result.shown, HasSubstr("there is no next page"));
  EXPECT_THAT(test::content_of(home + "/.varve_history"), HasSubstr("--backward"));
}

TEST_F(ShellProgram, AStoreThatIsNotThereIsNotMade) {
  EXPECT_EQ(run_program({"shell", scratch_.path("absent")}, "tables\n").exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(scratch_.path("absent")));
}

}  // namespace
}  // namespace varve::shell_test
