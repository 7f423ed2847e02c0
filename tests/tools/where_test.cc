// Goal: `varve delete-where` and `update-where` change what matches and nothing else, and never without a filter or --all
// and a confirmation.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/run_on_terminal.h"
#include "tests/tools/run_program.h"
#include "tests/tools/talk_on_terminal.h"

namespace varve::test::where_test {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class WhereVerbs : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string lines;
    for (int i = 0; i < 30; ++i) {
      lines += R"({"PartitionKey":")" + std::string(i % 2 == 0 ? "eu" : "us") + R"(","RowKey":")" +
               std::to_string(10 + i) + R"(","N":)" + std::to_string(i) + "}\n";
    }
    const ProgramResult result = run_program({"import", store_, "Orders", "-", "--format", "jsonl"}, lines);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  ProgramResult run(const std::string& verb, const Words& more) const {
    Words words{verb, store_, "Orders"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  std::string count(const std::string& filter) const {
    return run_program({"count", store_, "Orders", "--filter", filter}).out;
  }

  ScratchDirectory scratch_;
  std::string store_ = scratch_.path("store");
};

TEST_F(WhereVerbs, DeleteWhatMatches) {
  EXPECT_EQ(run("delete-where", {"--filter", "N ge 20", "--dry-run", "--json"}).out,
            "{\"matched\":10,\"dry_run\":true}\n");
  EXPECT_EQ(count("N ge 20"), "10\n");
  EXPECT_EQ(run("delete-where", {"--filter", "N ge 20", "--yes", "--json", "--batch", "3"}).out,
            "{\"matched\":10,\"deleted\":10,\"left\":0}\n");
  EXPECT_EQ(count("N ge 20"), "0\n");
  EXPECT_EQ(run("delete-where", {"--partition", "us", "--all", "--yes"}).out, "deleted 10 entities\n");
  EXPECT_EQ(count("N ge 0"), "10\n");
}

TEST_F(WhereVerbs, SetAndRemoveProperties) {
  EXPECT_EQ(run("update-where", {"--filter", "N lt 3", "--set", "Code=007", "--type", "Code=Edm.String", "--set",
                                 "Small=true", "--yes", "--json"})
                .out,
            "{\"matched\":3,\"updated\":3,\"left\":0}\n");
  EXPECT_EQ(count("Code eq '007' and Small"), "3\n");
  EXPECT_EQ(run("update-where", {"--filter", "Small", "--remove", "N", "--yes"}).out, "updated 3 entities\n");
  EXPECT_EQ(count("N ge 0"), "27\n");
}

TEST_F(WhereVerbs, AskAtATerminalHowManyEntitiesAreMeant) {
  const auto talk = [this](const char* answer) {
    return talk_on_terminal({"delete-where", store_, "Orders", "--filter", "N ge 20"}, scratch_.path("."), "[y/N] ",
                            {answer});
  };
  const TerminalResult refused = talk("n\n");
  EXPECT_THAT(refused.shown, HasSubstr("Delete 10 entities of table Orders?"));
  EXPECT_EQ(count("N ge 20"), "10\n");
  EXPECT_THAT(talk("y\n").shown, HasSubstr("deleted 10 entities"));
  EXPECT_EQ(count("N ge 20"), "0\n");
}

TEST_F(WhereVerbs, ChangeNothingWithoutAFilterOrAConfirmation) {
  const ProgramResult unfiltered = run("delete-where", {"--yes"});
  EXPECT_EQ(unfiltered.exit_code, 2);
  EXPECT_THAT(unfiltered.err, HasSubstr("--all"));
  EXPECT_EQ(run("delete-where", {"--partition", "eu", "--yes"}).exit_code, 2);
  EXPECT_EQ(run("delete-where", {"--all", "--filter", "N eq 1", "--yes"}).exit_code, 2);
  EXPECT_EQ(run("delete-where", {"--filter", "  ", "--yes"}).exit_code, 1);
  const ProgramResult unasked = run("delete-where", {"--filter", "N ge 0"});
  EXPECT_EQ(unasked.exit_code, 2);
  EXPECT_THAT(unasked.err, HasSubstr("--yes"));
  EXPECT_EQ(run("update-where", {"--all", "--yes"}).exit_code, 2);
  EXPECT_EQ(run("update-where", {"--all", "--set", "N=0", "--type", "n=Edm.String", "--yes"}).exit_code, 2);
  EXPECT_EQ(run("delete-where", {"--all", "--yes", "--batch", "101"}).exit_code, 2);
  EXPECT_EQ(run("delete-where", {"--all", "--yes", "--continuation", "x"}).exit_code, 1);
  EXPECT_EQ(run_program({"delete-where", store_, "Order", "--all", "--yes"}).exit_code, 1);
  EXPECT_EQ(count("N ge 0"), "30\n");
}

}  // namespace
}  // namespace varve::test::where_test
