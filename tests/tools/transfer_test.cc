// Goal: a transfer makes tables alike, writes only missing entities, and reports the comparison at the end.
// Method: the program copies between two directories. The second run must write nothing. Exports are compared.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/run_program.h"

namespace varve::transfer_test {
namespace {

using nlohmann::json;
using test::ProgramResult;
using test::run_program;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

class Transfer : public ::testing::Test {
 protected:
  void SetUp() override {
    rows_ =
        R"({"PartitionKey":"p","RowKey":"1","B":true,"I":-1,"L@odata.type":"Edm.Int64","L":"5","D@odata.type":"Edm.Double","D":"NaN","T":"ä/#?"})"
        "\n";
    for (int i = 10'000; i < 13'000; ++i)
      rows_ += R"({"PartitionKey":"q)" + std::to_string(i % 7) + R"(","RowKey":")" + std::to_string(i) + R"(","I":1})" +
               "\n";
    ASSERT_EQ(run_program({"import", from_, "Rows", scratch_.file("rows.jsonl", rows_)}).exit_code, 0);
    ASSERT_EQ(run_program({"put", from_, "Other", "a", "b", "C=1"}).exit_code, 0);
  }
  /// Returns the figures of each table.
  std::vector<json> transfer(const Words& more = {}) const {
    Words words{"pull", from_, to_, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult result = run_program(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<json> tables;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) tables.push_back(json::parse(line, nullptr, false));
    return tables;
  }
  std::string exported(const std::string& store, const std::string& table) const {
    return run_program({"export", store, table}).out;
  }

  test::ScratchDirectory scratch_;
  const std::string from_ = scratch_.path("from");
  const std::string to_ = scratch_.path("to");
  std::string rows_;
};

TEST_F(Transfer, CopiesAnAccountAndThenWritesOnlyWhatIsMissing) {
  const std::vector<json> first = transfer();
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[1]["table"], "Rows");
  EXPECT_EQ(first[1]["written"], 3001);
  EXPECT_EQ(first[1]["different"], 0);
  EXPECT_EQ(exported(to_, "Rows"), exported(from_, "Rows"));
  EXPECT_EQ(exported(to_, "Other"), exported(from_, "Other"));
  for (const json& table : transfer()) EXPECT_EQ(table["written"], 0);

  ASSERT_EQ(run_program({"put", to_, "Rows", "q3", "10000", "I=2"}).exit_code, 0);
  ASSERT_EQ(run_program({"delete", to_, "Rows", "p", "1"}).exit_code, 0);
  ASSERT_EQ(run_program({"put", to_, "Rows", "z", "1", "I=2"}).exit_code, 0);
  const std::vector<json> dry = transfer({"--table", "Rows", "--dry-run"});
  ASSERT_EQ(dry.size(), 1U);
  EXPECT_GE(dry[0]["written"], 1);
  const std::vector<json> again = transfer({"--table", "Rows"});
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0]["written"], dry[0]["written"]) << "a dry run writes nothing";
  EXPECT_GE(again[0]["only_in_target"], 1);
  EXPECT_EQ(run_program({"get", to_, "Rows", "p", "1"}).exit_code, 0);
  EXPECT_EQ(run_program({"get", to_, "Rows", "z", "1"}).exit_code, 0) << "what only the target has stays";
}

TEST_F(Transfer, MakesNoStoreIfItIsDryOrItsSourceCannotBeRead) {
  for (const json& table : transfer({"--dry-run"})) EXPECT_EQ(table["written"], table["read"]);
  EXPECT_FALSE(std::filesystem::exists(to_));
  EXPECT_EQ(run_program({"pull", from_, to_, "--table", "Rows", "--table", "Absent"}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(to_));
}

TEST_F(Transfer, TablesAreCopiedAtOnceAndReportedInTheirOrder) {
  for (int i = 10; i < 30; ++i) {
    // The first tables are the largest, so that later ones are done before them.
    std::string rows;
    for (int row = 0; row < (30 - i) * 40; ++row)
      rows += R"({"PartitionKey":"p","RowKey":")" + std::to_string(row) + "\"}\n";
    ASSERT_EQ(run_program({"import", from_, "Many" + std::to_string(i), scratch_.file("many.jsonl", rows)}).exit_code,
              0);
  }
  const std::vector<json> done = transfer({"--tables-at-once", "8"});
  ASSERT_EQ(done.size(), 22U);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(done[i]["table"], "Many" + std::to_string(10 + i));
    EXPECT_EQ(done[i]["read"], (20 - i) * 40);
    EXPECT_EQ(done[i]["different"], 0);
  }
  for (const json& table : transfer({"--tables-at-once", "3"})) EXPECT_EQ(table["written"], 0);
  EXPECT_EQ(run_program({"pull", from_, to_, "--tables-at-once", "0"}).exit_code, 2);
}

TEST_F(Transfer, NamesTheIndexesAndTheRuleThatItLeavesOut) {
  EXPECT_THAT(run_program({"pull", from_, to_}).err, Not(HasSubstr("leaves out")));
  ASSERT_EQ(run_program({"index", "create", from_, "Rows", "ByI", "--on", "I"}).exit_code, 0);
  ASSERT_EQ(run_program({"table", "expiry", from_, "Rows", "--expire-after", "30d"}).exit_code, 0);
  ASSERT_EQ(run_program({"index", "create", from_, "Other", "ByC", "--on", "C"}).exit_code, 0);
  ASSERT_EQ(run_program({"index", "create", from_, "Other", "ByRow", "--on", "RowKey"}).exit_code, 0);
  const ProgramResult pulled = run_program({"pull", from_, to_});
  EXPECT_EQ(pulled.exit_code, 0) << pulled.err;
  EXPECT_THAT(pulled.err, HasSubstr("the transfer of table Rows leaves out its index ByI, and its rule of expiry\n"));
  EXPECT_THAT(pulled.err, HasSubstr("the transfer of table Other leaves out its indexes ByC, ByRow\n"));
  EXPECT_THAT(run_program({"table", "expiry", to_, "Rows"}).out, HasSubstr("never end"));
  EXPECT_EQ(run_program({"index", "list", to_, "Rows"}).out, "");
}

TEST_F(Transfer, NamesWhatIsWrong) {
  EXPECT_EQ(run_program({"pull", from_, to_, "--table", "Absent"}).exit_code, 1);
  EXPECT_EQ(run_program({"pull", scratch_.path("absent"), to_}).exit_code, 1);
  EXPECT_EQ(run_program({"push", from_, "http://127.0.0.1:1/devstoreaccount1"}).exit_code, 4);
  EXPECT_EQ(run_program({"push", from_, to_, "--threads", "0"}).exit_code, 2);
}

}  // namespace
}  // namespace varve::transfer_test
