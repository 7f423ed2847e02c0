// Goal: if the reader of a verb's output stops, this affects neither the store nor the end of the program: every verb
// does its work, and its exit code reports the result.
// Method: the program with a standard output that has no reader, one that is read for a line, and one on a full device.
#include <algorithm>
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/run_program.h"

namespace varve::lost_reader_test {
namespace {

using test::ProgramLimits;
using test::ProgramResult;
using test::run_program;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr int kReaderGone = 141;
constexpr int kMachine = 4;

enum class Lost { kReader, kDevice };

class LostReader : public ::testing::TestWithParam<Lost> {
 protected:
  ProgramResult run(const Words& words, const std::string& input = "") const {
    ProgramLimits limits;
    limits.gone_reader = GetParam() == Lost::kReader;
    limits.full_output = GetParam() == Lost::kDevice;
    return run_program(words, input, limits);
  }
  int lost() const { return GetParam() == Lost::kReader ? kReaderGone : kMachine; }
  /// Expects the message for a full device, and no message for a reader that is gone.
  void expect_lost(const Words& words, const std::string& input = "") const {
    const ProgramResult result = run(words, input);
    EXPECT_EQ(result.exit_code, lost()) << words.front() << ": " << result.err;
    EXPECT_THAT(result.err, HasSubstr(GetParam() == Lost::kDevice ? "written" : "")) << words.front();
  }
  std::string rows(const std::string& store) const {
    const ProgramResult result = run_program({"export", store, "Rows"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }

  test::ScratchDirectory scratch_;
  std::string store_ = scratch_.path("store");
};

std::string many_rows(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += R"({"PartitionKey":"p","RowKey":")" + std::to_string(100'000 + i) +
            R"(","V":"some text of some length"})"
            "\n";
  }
  return text;
}

TEST_P(LostReader, OfAVerbThatWritesLosesNoneOfItsWork) {
  const std::string text = many_rows(3'000);
  expect_lost({"import", store_, "Rows", "-", "--format", "jsonl"}, text);
  const std::string all = rows(store_);
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 3'000);
  expect_lost({"compact", store_});
  EXPECT_EQ(rows(store_), all);
  expect_lost({"repair", store_, scratch_.path("repaired")});
  EXPECT_EQ(rows(scratch_.path("repaired")), all);
  expect_lost({"checkpoint", store_, scratch_.path("copy")});
  EXPECT_EQ(rows(scratch_.path("copy")), all);
  EXPECT_EQ(run({"export", store_, "Rows", "--output", scratch_.path("file")}).exit_code, 0);
  EXPECT_EQ(test::content_of(scratch_.path("file")), all);
  const ProgramResult made = run({"put", store_, "Rows", "p", "1", "V=1"});
  EXPECT_TRUE(made.exit_code == 0 || made.exit_code == lost()) << made.err;
  EXPECT_EQ(run_program({"get", store_, "Rows", "p", "1"}).exit_code, 0);
  const ProgramResult shelled = run({"shell", store_, "Rows"}, "count\nput p 2 V=2\n");
  EXPECT_TRUE(shelled.exit_code == 0 || shelled.exit_code == lost()) << shelled.err;
  EXPECT_EQ(run_program({"table", "drop", store_, "Rows"}).exit_code, 0);
  EXPECT_EQ(run_program({"verify", store_}).exit_code, 0);
}

TEST_P(LostReader, OfAVerbThatReadsEndsItWithTheCodeForThat) {
  const std::string text = many_rows(20'000);
  ASSERT_EQ(run_program({"import", store_, "Rows", "-", "--format", "jsonl"}, text).exit_code, 0);
  const std::vector<Words> verbs = {
      {"export", store_, "Rows"},
      {"export", store_, "Rows", "--format", "csv"},
      {"query", store_, "Rows"},
      {"query", store_, "Rows", "--json"},
      {"query", store_, "Rows", "--format", "csv"},
      {"get", store_, "Rows", "p", "100001"},
      {"get", store_, "Rows", "p", "100001", "--json"},
      {"table", "list", store_},
      {"account", "list", store_},
      {"stats", store_},
      {"stats", store_, "--json"},
      {"verify", store_},
      {"verify", store_, "--json"},
      {"inspect", store_ + "/CURRENT"},
      {"--help"},
      {"export", "--help"},
      {"--version"},
  };
  for (const Words& words : verbs) {
    ASSERT_EQ(run_program(words).exit_code, 0) << words.front() << " is no such verb";
    expect_lost(words);
  }
  EXPECT_EQ(run_program({"verify", store_}).exit_code, 0);
}

TEST_P(LostReader, HidesNoFailure) {
  EXPECT_EQ(run({"get", scratch_.path("gone"), "Rows", "p", "1"}).exit_code, 1);
  EXPECT_EQ(run({"no-verb"}).exit_code, 2);
  const std::string file = scratch_.file("short", "x");
  EXPECT_EQ(run({"inspect", file}).exit_code, run_program({"inspect", file}).exit_code);
}

INSTANTIATE_TEST_SUITE_P(Outputs, LostReader, ::testing::Values(Lost::kReader, Lost::kDevice),
                         [](const ::testing::TestParamInfo<Lost>& shown) {
                           return shown.param == Lost::kReader ? "Pipe" : "FullDevice";
                         });

TEST(ReaderOfOneLine, EndsAVerbThatWouldPrintMuchMore) {
  const test::ScratchDirectory scratch;
  const std::string store = scratch.path("store");
  ASSERT_EQ(run_program({"import", store, "Rows", "-", "--format", "jsonl"}, many_rows(20'000)).exit_code, 0);
  for (const std::string verb : {"export", "query"}) {
    const std::string words = std::string(VARVE_PROGRAM) + " " + verb + " " + store + " Rows";
    const std::string command = "bash -c '" + words + " 2>" + scratch.path("err") + " | head -1 >" +
                                scratch.path("out") + "; exit ${PIPESTATUS[0]}'";
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): the command is ours
    EXPECT_EQ(WEXITSTATUS(status), kReaderGone) << verb;
    const std::string out = test::content_of(scratch.path("out"));
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1) << verb;
    EXPECT_EQ(test::content_of(scratch.path("err")), "") << verb;
  }
  EXPECT_EQ(run_program({"verify", store}).exit_code, 0);
}

}  // namespace
}  // namespace varve::lost_reader_test
