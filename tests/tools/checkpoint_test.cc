// Goal: `varve checkpoint` creates a separate sound store, reports its work, and refuses invalid requests.
// Method: it runs as a process, on the real file system.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/run_program.h"

namespace varve::checkpoint_test {
namespace {

using test::ProgramResult;
using test::run_program;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class CheckpointVerb : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int row = 0; row < 3; ++row) {
      ASSERT_EQ(varve({"put", store_, "Rows", "p", std::to_string(row), "V=1"}).exit_code, 0);
    }
    ASSERT_EQ(varve({"compact", store_}).exit_code, 0);
    ASSERT_EQ(varve({"put", store_, "Rows", "p", "3", "V=1"}).exit_code, 0);
  }
  static ProgramResult varve(const Words& arguments) { return run_program(arguments); }
  static std::string exported(const std::string& store) {
    const ProgramResult result = varve({"export", store, "Rows", "--format", "jsonl"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }

  test::ScratchDirectory scratch_;
  std::string store_ = scratch_.path("store");
  std::string copy_ = scratch_.path("copy");
};

TEST_F(CheckpointVerb, MakesAStoreThatGoesItsOwnWay) {
  const std::string rows = exported(store_);
  const ProgramResult made = varve({"checkpoint", store_, copy_});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("version "));
  EXPECT_THAT(made.out, HasSubstr("linked     2 files of "));
  EXPECT_EQ(exported(copy_), rows);
  ASSERT_EQ(varve({"put", copy_, "Rows", "p", "9", "V=1"}).exit_code, 0);
  ASSERT_EQ(varve({"table", "drop", store_, "Rows"}).exit_code, 0);
  EXPECT_THAT(exported(copy_), HasSubstr("\"RowKey\":\"9\""));
  for (const std::string& store : {store_, copy_}) EXPECT_EQ(varve({"verify", store}).exit_code, 0);
}

TEST_F(CheckpointVerb, TellsAMachineTheSame) {
  const ProgramResult made = varve({"checkpoint", store_, copy_, "--json"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto told = nlohmann::json::parse(made.out, nullptr, false);
  EXPECT_EQ(told["files_linked"], 2);
  EXPECT_GT(told["linked_bytes"], 0);
  EXPECT_EQ(told["files_copied"], 0);
  const auto figures = nlohmann::json::parse(varve({"stats", copy_, "--json"}).out, nullptr, false);
  EXPECT_EQ(figures["visible_version"], told["version"]);
}

TEST_F(CheckpointVerb, RefusesADirectoryThatHoldsSomethingAndAStoreThatIsAbsent) {
  ASSERT_EQ(varve({"checkpoint", store_, copy_}).exit_code, 0);
  const ProgramResult again = varve({"checkpoint", store_, copy_});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("absent or empty"));
  EXPECT_EQ(varve({"checkpoint", scratch_.path("absent"), scratch_.path("copy2")}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(scratch_.path("copy2")));
  EXPECT_EQ(varve({"checkpoint", store_}).exit_code, 2);
}

}  // namespace
}  // namespace varve::checkpoint_test
