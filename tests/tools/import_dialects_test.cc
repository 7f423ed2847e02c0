// Goal: text in other encodings, and rows with escapes, types or a header in a comment, become the entities that their
// authors meant. If all rows of a file are refused for one reason, this is reported together, with the remedy.
// Method: the program imports small files of each kind. The table's export is compared with the expected entities.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/run_program.h"

namespace varve::import_dialects_test {
namespace {

using test::count_of;
using test::ProgramResult;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

class ImportDialects : public ::testing::Test {
 protected:
  ProgramResult import_text(const std::string& name, const std::string& text, const Words& more = {}) const {
    Words words{"import", store_, "Rows", scratch_.file(name, text)};
    words.insert(words.end(), more.begin(), more.end());
    return test::run_program(words);
  }
  std::string imported(const std::string& name, const std::string& text, const Words& more = {}) const {
    std::filesystem::remove_all(store_);
    const ProgramResult result = import_text(name, text, more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return test::run_program({"export", store_, "Rows"}).out;
  }
  /// Returns the errors of an import that creates nothing.
  std::string fault_of(const std::string& name, const std::string& text, const Words& more = {}) const {
    std::filesystem::remove_all(store_);
    const ProgramResult result = import_text(name, text, more);
    EXPECT_NE(result.exit_code, 0);
    EXPECT_FALSE(std::filesystem::exists(store_)) << "no store, no table";
    return result.err;
  }

  test::ScratchDirectory scratch_;
  const std::string store_ = scratch_.path("store");
};

TEST_F(ImportDialects, AnotherEncodingIsConverted) {
  const std::string row = "{\"PartitionKey\":\"p\",\"RowKey\":\"1\",\"T\":\"café\"}\n";
  const std::string csv = "PartitionKey,RowKey,T\np,1,caf\xE9\n";
  EXPECT_EQ(imported("a.csv", csv, {"--encoding", "latin1"}), row);
  EXPECT_EQ(imported("a.csv", csv, {"--encoding", "windows-1252"}), row);
  EXPECT_EQ(
      imported("a.jsonl", "{\"PartitionKey\":\"p\",\"RowKey\":\"1\",\"T\":\"caf\xE9\"}", {"--encoding", "cp1252"}),
      row);
  EXPECT_EQ(imported("a.csv", "PartitionKey,RowKey,\x80\np,1,\n", {"--encoding", "windows-1252", "--fix-names"}),
            "{\"PartitionKey\":\"p\",\"RowKey\":\"1\"}\n");
  // A character of two bytes lies across the end of each read.
  std::string long_text = "PartitionKey,RowKey,T\n";
  for (int i = 0; i < 40'000; ++i) long_text += "p," + std::to_string(i) + ",\x83\x65\x83\x58\n";
  EXPECT_EQ(count_of(imported("a.csv", long_text, {"--encoding", "shift_jis"}), "\"テス\""), 40'000U);
  EXPECT_THAT(fault_of("a.csv", csv, {"--encoding", "utf-8"}), HasSubstr("begins no character of utf-8"));
  EXPECT_THAT(fault_of("a.csv", csv, {"--encoding", "latin9000"}), HasSubstr("is no encoding; use auto"));
  EXPECT_THAT(fault_of("a.csv", csv, {"--encoding", "ascii//IGNORE"}), HasSubstr("is no encoding"));
}

TEST_F(ImportDialects, ATextThatIsNoUtf8IsOneMessageWithTheRemedy) {
  std::string csv = "PartitionKey,RowKey,T\n";
  std::string json_lines;
  for (int i = 0; i < 50; ++i) {
    csv += "p," + std::to_string(i) + ",caf\xE9\n";
    json_lines += "{\"PartitionKey\":\"p\",\"RowKey\":\"" + std::to_string(i) + "\",\"T\":\"caf\xE9\"}\n";
  }
  for (const auto& [name, text] : {std::pair{"a.csv", csv}, {"a.jsonl", json_lines}, {"a.json", json_lines}}) {
    const std::string fault = fault_of(name, text);
    EXPECT_EQ(count_of(fault, ", 0xE9 after \""), 1U) << fault;
    EXPECT_THAT(fault, HasSubstr("--encoding windows-1252"));
    EXPECT_THAT(fault, HasSubstr("49 further rows have the fault of line "));
  }
  EXPECT_THAT(fault_of("a.csv", "PartitionKey,RowKey,caf\xE9\np,1,2\n"), HasSubstr("the header: not UTF-8"));
}

TEST_F(ImportDialects, EscapesOfMySqlAndPostgresAreRead) {
  // As PostgreSQL's COPY and MySQL's SELECT INTO OUTFILE write them: tabs, no quotes.
  EXPECT_EQ(imported("a.tsv", "1\ta\\tb\t\\N\t\"x\"\n2\tc\\\nd\t\\\\N\t\n\\.\n",
                     {"--escape", "backslash", "--columns", "i,t,u,v", "--delimiter", "tab", "--partition-key", "=p",
                      "--row-key", "i"}),
            R"({"PartitionKey":"p","RowKey":"1","t":"a\tb","v":"\"x\""})"
            "\n"
            R"({"PartitionKey":"p","RowKey":"2","t":"c\nd","u":"\\N"})"
            "\n");
  EXPECT_EQ(
      imported("a.csv", "PartitionKey,RowKey,T,U\np,1,\"a \\\"q\\\", \\\\\",\"b \"\"d\"\"\"\r\n", {"--escape", "\\"}),
      R"({"PartitionKey":"p","RowKey":"1","T":"a \"q\", \\","U":"b \"d\""})"
      "\n");
  EXPECT_EQ(imported("a.csv", "PartitionKey,RowKey,T,U\np,1,NULL,''\n", {"--null", "NULL"}),
            "{\"PartitionKey\":\"p\",\"RowKey\":\"1\",\"U\":\"''\"}\n");
  EXPECT_THAT(fault_of("a.csv", "PartitionKey,RowKey,T\np,1,\"a \\\"q\\\"\"\n"), HasSubstr("give --escape '\\'"));
  EXPECT_THAT(fault_of("a.csv", "PartitionKey,RowKey,T\np,1,\"a\nb\n", {"--escape", "\\"}), HasSubstr("never closed"));
  EXPECT_THAT(fault_of("a.csv", "PartitionKey,RowKey\n", {"--escape", ","}), HasSubstr("--escape names the character"));
}

TEST_F(ImportDialects, SingleQuotesAreFoundIfTheyEncloseTheHeader) {
  EXPECT_EQ(imported("a.csv", "'PartitionKey','RowKey','T'\n'p','1','it''s, \"x\"'\n"),
            R"({"PartitionKey":"p","RowKey":"1","T":"it's, \"x\""})"
            "\n");
  EXPECT_EQ(imported("a.csv", "'PartitionKey';'RowKey'\n'p';'1'\n"), "{\"PartitionKey\":\"p\",\"RowKey\":\"1\"}\n");
  EXPECT_EQ(imported("a.csv", "PartitionKey,RowKey,T\n'p','1',it's\n"),
            "{\"PartitionKey\":\"'p'\",\"RowKey\":\"'1'\",\"T\":\"it's\"}\n");
}

TEST_F(ImportDialects, TheHeaderMayBeTheLastComment) {
  const std::string text = "# zones\n#\n#codes\tzone\tnote\nAD\tEurope/Andorra\nAE,OM\tAsia/Dubai\tCrozet\n# end\n";
  const Words keys{"--partition-key", "codes", "--row-key", "zone", "--key-replace", ":"};
  Words with_comment = keys;
  with_comment.insert(with_comment.end(), {"--comment", "#", "--short-rows"});
  EXPECT_EQ(imported("zones.tab", text, with_comment),
            "{\"PartitionKey\":\"AD\",\"RowKey\":\"Europe:Andorra\"}\n"
            "{\"PartitionKey\":\"AE,OM\",\"RowKey\":\"Asia:Dubai\",\"note\":\"Crozet\"}\n");
  EXPECT_THAT(fault_of("zones.tab", text, keys), HasSubstr("add --comment '#'"));
}

TEST_F(ImportDialects, AKeyMayBeTheFirstCharactersOfAColumn) {
  EXPECT_EQ(imported("a.csv", "code\nAD-02\nÅÄÖ-1\nX\n", {"--partition-key", "{code[:2]}", "--row-key", "code"}),
            "{\"PartitionKey\":\"AD\",\"RowKey\":\"AD-02\"}\n{\"PartitionKey\":\"X\",\"RowKey\":\"X\"}\n"
            "{\"PartitionKey\":\"ÅÄ\",\"RowKey\":\"ÅÄÖ-1\"}\n");
  EXPECT_THAT(fault_of("a.csv", "code\n", {"--partition-key", "{code[:x]}", "--row-key", "code"}),
              HasSubstr("{code[:x]} must have a number of characters"));
}

TEST_F(ImportDialects, FormatsThatAreNotReadAreNamed) {
  EXPECT_THAT(fault_of("a.xml", "\n<?xml version=\"1.0\"?><a/>"),
              HasSubstr("the file is XML, which import does not read"));
  EXPECT_THAT(fault_of("a.csv", "<!DOCTYPE html>\n<p>"), HasSubstr("the file is XML or HTML"));
  EXPECT_THAT(fault_of("a.parquet", "PAR1...."), HasSubstr("Parquet"));
  EXPECT_THAT(fault_of("a.db", std::string("SQLite format 3\0", 16)), HasSubstr("sqlite3 -csv -header"));
}

TEST_F(ImportDialects, AReasonOfAllRowsIsReportedTogether) {
  std::string csv = "PartitionKey,RowKey\n";
  std::string json = "[";
  for (int i = 0; i < 300; ++i) {
    csv += "p,a/" + std::to_string(i) + "\n";
    json += (i == 0 ? "" : ",") + std::string(R"({"PartitionKey":"p","RowKey":"a/)") + std::to_string(i) + "\"}";
  }
  for (const Words& more : {Words{}, Words{"--load"}, Words{"--dry-run"}}) {
    const std::string fault = fault_of("a.csv", csv, more);
    EXPECT_EQ(count_of(fault, "has a forbidden character"), 3U) << fault;
    EXPECT_EQ(count_of(fault, "--key-replace TEXT replaces them"), 3U);
    EXPECT_THAT(fault, HasSubstr("297 further rows were refused for the same kind of reason, as were all rows"));
  }
  EXPECT_THAT(fault_of("a.json", json + "]"), HasSubstr("line 1, row 3: "));
  // A row that is accepted, before or after, shows that the file is not wrong as a whole.
  for (const std::string& text : {csv + "p,b\n", "PartitionKey,RowKey\np,b\n" + csv.substr(csv.find('\n') + 1)}) {
    std::filesystem::remove_all(store_);
    EXPECT_EQ(count_of(import_text("a.csv", text).err, "has a forbidden character"), 100U);
  }
}

TEST_F(ImportDialects, ARefusedRowIsReportedWithTheFileThatHasIt) {
  ASSERT_EQ(test::run_program({"put", store_, "Rows", "p", "1"}).exit_code, 0);
  const std::string first = scratch_.file("first.csv", "PartitionKey,RowKey\np,1\n");
  const std::string second = scratch_.file("second.csv", "PartitionKey,RowKey\np,2\n");
  // The table refuses the row when both files are read.
  const ProgramResult result = test::run_program({"import", store_, "Rows", first, second, "--mode", "insert"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("first.csv: line 2: "));
  EXPECT_THAT(result.err, Not(HasSubstr("second.csv: line 2")));
}

}  // namespace
}  // namespace varve::import_dialects_test
