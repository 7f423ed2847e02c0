// Goal: an import reports the outcome of each row correctly and once, and creates nothing that no row needs. Options
// for counts accept whole numbers.
// Method: the output and the effect of the program for files that are wrong as a whole.
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/run_program.h"

namespace varve::import_report_test {
namespace {

using nlohmann::json;
using test::count_of;
using test::ProgramResult;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

class ImportReport : public ::testing::Test {
 protected:
  ProgramResult import_text(const std::string& format, const std::string& text, const Words& more = {}) {
    Words words{"import", store_, "Rows", scratch_.file("rows." + format, text)};
    words.insert(words.end(), more.begin(), more.end());
    return test::run_program(words);
  }
  json counts(const std::string& text, const Words& more) {
    Words words = more;
    words.emplace_back("--json");
    const ProgramResult result = import_text("csv", text, words);
    return json::parse(result.out, nullptr, false);
  }

  test::ScratchDirectory scratch_;
  const std::string store_ = scratch_.path("store");
};

TEST_F(ImportReport, ARowWithAnEarlierKeyIsRepeatedAndNotImported) {
  std::string text = "PartitionKey,RowKey,N\n";
  // Repetitions in direct sequence, within one transaction, across transactions, and beyond all collected rows.
  for (int i = 0; i < 25'000; ++i) text += "p" + std::to_string(i % 3) + "," + std::to_string(i % 24'000) + ",1\n";
  text += "q,1,1\nq,1,2\nq,1,3\n";
  for (const std::string mode : {"replace", "merge"}) {
    std::filesystem::remove_all(store_);
    ASSERT_EQ(test::run_program({"put", store_, "Rows", "q", "1", "Before=1"}).exit_code, 0);
    const json first = counts(text, {"--mode", mode});
    EXPECT_EQ(first["read"], 25'003);
    EXPECT_EQ(first["imported"], 24'001);
    EXPECT_EQ(first.value("repeated", -1), 1'002);
    EXPECT_EQ(first["refused"], 0);
    const json again = counts(text, {"--mode", mode});
    EXPECT_EQ(again["imported"], 24'001) << "an entity of an earlier import is not of this one";
    EXPECT_EQ(again.value("repeated", -1), 1'002);
  }
  const ProgramResult told = import_text("csv", "PartitionKey,RowKey,N\nz,1,1\nz,1,2\n");
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_THAT(told.out, HasSubstr("imported 1 of 2 rows"));
  EXPECT_THAT(told.err, HasSubstr("1 row had the key of an earlier row and replaced it"));
  const json inserted = counts("PartitionKey,RowKey,N\ny,1,1\ny,1,2\n", {"--mode", "insert"});
  EXPECT_EQ(inserted["imported"], 1);
  EXPECT_EQ(inserted["refused"], 1);
}

TEST_F(ImportReport, AFaultOfTheWholeFileIsReportedOnceAndLeavesNothing) {
  std::string json_lines;
  std::string rows = "PartitionKey,RowKey,A,B\n";
  for (int i = 0; i < 500; ++i) {
    json_lines += R"({"PartitionKey":"p","Row":")" + std::to_string(i) + "\"}\n";
    rows += "p," + std::to_string(i) + ",x\n";
  }
  for (const Words& more : {Words{}, Words{"--load"}}) {
    for (const auto& [format, text, word] : {std::tuple<std::string, std::string, std::string>{
                                                 "jsonl", json_lines, "the key member \"RowKey\" is missing"},
                                             {"csv", rows, "3 fields are given, but the header has 4"}}) {
      SCOPED_TRACE(format);
      const ProgramResult result = import_text(format, text, more);
      EXPECT_EQ(result.exit_code, 1);
      EXPECT_EQ(count_of(result.err, word), 1U) << result.err;
      EXPECT_THAT(result.err, HasSubstr("499 further rows have the fault of line "));
      EXPECT_THAT(result.err, HasSubstr("500 rows were refused"));
      EXPECT_FALSE(std::filesystem::exists(store_)) << "no store, no table";
    }
  }
  ASSERT_EQ(test::run_program({"table", "create", store_, "Other"}).exit_code, 0);
  EXPECT_EQ(import_text("jsonl", json_lines).exit_code, 1);
  EXPECT_EQ(import_text("jsonl", json_lines, {"--load"}).exit_code, 1);
  EXPECT_EQ(test::run_program({"table", "list", store_}).out, "Other\n");
  EXPECT_EQ(import_text("jsonl", R"({"PartitionKey":"p","RowKey":"1"})"
                                 "\n" +
                                     json_lines)
                .exit_code,
            1);
  EXPECT_EQ(test::run_program({"query", store_, "Rows", "--count"}).out, "1\n");
}

TEST_F(ImportReport, AHeaderOfMoreColumnsThanPropertiesIsRefusedAtOnce) {
  const auto refused = [&](int columns) {
    std::string header = "PartitionKey,RowKey";
    for (int i = 0; i < columns; ++i) header += ",c" + std::to_string(i);
    return import_text("csv", header + "\n");
  };
  EXPECT_EQ(refused(252).exit_code, 0);
  std::filesystem::remove_all(store_);
  for (const int columns : {253, 1'000'000}) {  // quadratic work would exceed the test's time limit
    const ProgramResult result = refused(columns);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("an entity has at most 252 properties"));
    EXPECT_FALSE(std::filesystem::exists(store_));
  }
}

TEST_F(ImportReport, AnAbsentParentDirectoryIsNamed) {
  const std::string store = scratch_.path("absent/deep/store");
  const std::string rows = scratch_.file("rows.csv", "PartitionKey,RowKey\np,1\n");
  for (const Words& verb : {Words{"import", store, "Rows", rows}, Words{"import", store, "Rows", rows, "--load"},
                            Words{"put", store, "Rows", "p", "1"}, Words{"table", "create", store, "Rows"},
                            Words{"account", "create", store, "other"}}) {
    const ProgramResult result = test::run_program(verb);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("the directory " + scratch_.path("absent/deep") + " does not exist"));
    EXPECT_THAT(result.err, Not(HasSubstr("create a store")));
    EXPECT_FALSE(std::filesystem::exists(scratch_.path("absent")));
  }
}

TEST_F(ImportReport, OptionsThatCountTakeWholeNumbers) {
  ASSERT_EQ(test::run_program({"put", store_, "Rows", "p", "1"}).exit_code, 0);
  const std::string rows = scratch_.file("rows.csv", "PartitionKey,RowKey\np,1\n");
  for (const std::string number :
       {"-1", "+1", "1.5", "1e3", "0x10", " 1", "1 ", "", "99999999999999999999", "abc", "NaN"}) {
    for (const Words& verb : {Words{"query", store_, "Rows", "--top=" + number},
                              Words{"import", store_, "Rows", rows, "--max-errors=" + number}}) {
      SCOPED_TRACE(::testing::PrintToString(verb));
      const ProgramResult result = test::run_program(verb);
      EXPECT_EQ(result.exit_code, 2);
      EXPECT_LT(result.err.size() + result.out.size(), 300U);
    }
  }
  const ProgramResult zero = test::run_program({"query", store_, "Rows", "--top", "0"});
  EXPECT_EQ(zero.exit_code, 2);
  EXPECT_THAT(zero.err, HasSubstr("--top: must be a whole number of at least 1"));
  EXPECT_EQ(test::run_program({"query", store_, "Rows", "--top", "18446744073709551615"}).exit_code, 0);
  EXPECT_EQ(test::run_program({"import", store_, "Rows", rows, "--max-errors", "0"}).exit_code, 0);
}

TEST_F(ImportReport, ExplainNamesWhatWasReadAndNothingElse) {
  ASSERT_EQ(test::run_program({"put", store_, "Rows", "p", "1"}).exit_code, 0);
  const std::string filtered =
      test::run_program({"query", store_, "Rows", "--filter", "PartitionKey eq 'p'", "--explain"}).err;
  EXPECT_THAT(filtered, HasSubstr("all of partition 'p'"));
  EXPECT_THAT(filtered, Not(HasSubstr("the whole table")));
  EXPECT_THAT(test::run_program({"query", store_, "Rows", "--explain"}).err, HasSubstr("the whole table"));
}

}  // namespace
}  // namespace varve::import_report_test
