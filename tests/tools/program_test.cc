// Goal: with valid input the program does what its help says. With invalid input it reports the fault with the right
// exit code, and loses no data.
// Method: it runs as a process, on the real file system.
#include <algorithm>
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/run_program.h"
#include "varve/store.h"

namespace varve::program_test {
namespace {

using nlohmann::json;
using test::ProgramResult;
using test::run_program;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

constexpr const char* kAllTypes =
    R"({"PartitionKey":"p","RowKey":"1","Bin@odata.type":"Edm.Binary","Bin":"AAH/","Flag":true,)"
    R"("When@odata.type":"Edm.DateTime","When":"2024-02-29T12:34:56.1234567Z","Real":0.1,"Whole":3.0,)"
    R"("Not@odata.type":"Edm.Double","Not":"NaN",)"
    R"("Id@odata.type":"Edm.Guid","Id":"00112233-4455-6677-8899-aabbccddeeff","Small":-7,)"
    R"("Big@odata.type":"Edm.Int64","Big":"9223372036854775807","Text":"quote \" comma , line \n end ✓","Empty":""})"
    "\n";

class Program : public ::testing::Test {
 protected:
  static ProgramResult varve(const Words& arguments) { return run_program(arguments); }
  ProgramResult import_text(const std::string& format, const std::string& text, const Words& more = {}) const {
    Words arguments{"import", store_, "Rows", "-", "--format", format};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments, text);
  }
  void make_store() const { ASSERT_EQ(varve({"put", store_, "Rows", "p", "1", "V=1"}).exit_code, 0); }
  std::string exported(const std::string& format) const {
    const ProgramResult result = varve({"export", store_, "Rows", "--format", format});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  }
  json row(const std::string& row_key) const {
    const ProgramResult result = varve({"get", store_, "Rows", "p", row_key, "--json"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out, nullptr, false);
  }
  std::map<std::string, std::string> bytes_of_store() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(store_))
      files[entry.path().filename().string()] = test::content_of(entry.path());
    return files;
  }

  test::ScratchDirectory scratch_;
  std::string store_ = scratch_.path("store");
};

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// -- Round trips ------------------------------------------------------------------------------------------------------

TEST_F(Program, JsonLinesBringEveryTypeBackAsItWas) {
  const ProgramResult imported = import_text("jsonl", kAllTypes);
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("imported 1 of 1 rows"));
  const std::string first = exported("jsonl");
  EXPECT_EQ(first, kAllTypes);

  const std::string file = scratch_.file("rows.jsonl", first);
  ASSERT_EQ(varve({"import", store_, "Copy", file}).exit_code, 0);
  EXPECT_EQ(varve({"export", store_, "Copy"}).out, kAllTypes);
}

TEST_F(Program, CsvKeepsQuotesLineBreaksAndBlanksAtTheEnds) {
  const std::string text =
      "PartitionKey,RowKey,Code,Note,Price\r\n"
      "p,1,007,\"a \"\"quote\"\", a comma\",2.5\r\n"
      "p,2,5,\"two\r\nlines\",-1\r\n"
      "q,3,,\"\ttabs and spaces \",\r\n";
  const ProgramResult imported = import_text("csv", text, {"--type", "Code=Edm.String"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(exported("csv"), text);
  const json second = row("2");
  EXPECT_EQ(second["Code"], "5");
  EXPECT_EQ(second["Note"], "two\r\nlines");
  EXPECT_EQ(second["Price"], -1);
}

TEST_F(Program, CsvWithByteOrderMarkAndCarriageReturnsIsReadAsAnyOther) {
  const ProgramResult imported = import_text("csv", "\xEF\xBB\xBF\"PartitionKey\",RowKey,V\r\np,1,x\r\n\r\np,2,y");
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(exported("csv"), "PartitionKey,RowKey,V\r\np,1,x\r\np,2,y\r\n");
}

TEST_F(Program, FilesWithoutRowsAreImported) {
  EXPECT_EQ(import_text("jsonl", "").exit_code, 0);
  EXPECT_EQ(import_text("jsonl", "\xEF\xBB\xBF\n\n").exit_code, 0);
  EXPECT_EQ(import_text("csv", "PartitionKey,RowKey\n").exit_code, 0);
  const ProgramResult no_header = import_text("csv", "");
  EXPECT_EQ(no_header.exit_code, 1);
  EXPECT_THAT(no_header.err, HasSubstr("the header row is missing"));
}

TEST_F(Program, AllOfALargeImportIsThere) {
  std::string text = "PartitionKey,RowKey,N\n";
  for (int i = 0; i < 25'000; ++i)
    text += "p" + std::to_string(i % 7) + "," + std::to_string(i) + "," + std::to_string(i % 1000) + "\n";
  const ProgramResult imported = import_text("csv", text, {"--json"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(json::parse(imported.out)["imported"], 25'000);
  EXPECT_GT(json::parse(imported.out)["write_amplification"], 1.0);
  EXPECT_EQ(lines_of(exported("jsonl")), 25'000u);
}

// -- Loading ----------------------------------------------------------------------------------------------------------

TEST_F(Program, ALoadFillsANewTableInAnyOrder) {
  std::string text = "PartitionKey,RowKey,N\n";
  for (int i = 0; i < 25'000; ++i)
    text += "p" + std::to_string(i % 7) + "," + std::to_string(i) + "," + std::to_string(i % 1000) + "\n";
  const ProgramResult loaded = import_text("csv", text, {"--load", "--json"});
  ASSERT_EQ(loaded.exit_code, 0) << loaded.err;
  EXPECT_EQ(json::parse(loaded.out)["imported"], 25'000);
  EXPECT_EQ(lines_of(exported("jsonl")), 25'000u);
  EXPECT_EQ(varve({"verify", store_}).exit_code, 0);
}

TEST_F(Program, ALoadReportsRefusedRowsAndTakesTheOthers) {
  const ProgramResult loaded = import_text("csv", "PartitionKey,RowKey,N\np,1,1\na/b,2,2\np,3,3\n", {"--load"});
  EXPECT_EQ(loaded.exit_code, 1);
  EXPECT_THAT(loaded.err, HasSubstr("line 3: "));
  EXPECT_THAT(loaded.out, HasSubstr("imported 2 of 3 rows"));
  EXPECT_EQ(lines_of(exported("jsonl")), 2u);
}

TEST_F(Program, ALoadRefusesATableThatHoldsEntities) {
  make_store();
  const ProgramResult loaded = import_text("csv", "PartitionKey,RowKey,N\np,2,1\n", {"--load"});
  EXPECT_EQ(loaded.exit_code, 1);
  EXPECT_THAT(loaded.err, HasSubstr("contains entities; load into a new or an empty table"));
  EXPECT_EQ(lines_of(exported("jsonl")), 1u);
}

TEST_F(Program, ALoadWithAKeyTwiceImportsNothing) {
  const ProgramResult loaded = import_text("csv", "PartitionKey,RowKey,N\np,1,1\np,0,2\np,1,3\n", {"--load"});
  EXPECT_EQ(loaded.exit_code, 1);
  EXPECT_THAT(loaded.err, HasSubstr("'p', '1' was given twice"));
  EXPECT_THAT(loaded.err, HasSubstr("nothing was imported"));
  EXPECT_THAT(loaded.out, HasSubstr("imported 0 of 3 rows"));
  EXPECT_EQ(varve({"get", store_, "Rows", "p", "1"}).exit_code, 1);
}

TEST_F(Program, ALoadReportsTheIndexThatItCouldNotBuild) {
  ASSERT_EQ(varve({"table", "create", store_, "Rows"}).exit_code, 0);
  ASSERT_EQ(varve({"index", "create", store_, "Rows", "ByV", "--on", "V:desc", "--carry", "V"}).exit_code, 0);
  std::mt19937 random(1);
  std::string text = "PartitionKey,RowKey,V\n";
  for (int i = 10'000; i < 17'000; ++i) {
    text += "p," + std::to_string(i) + ",";
    for (int k = 0; k < 250; ++k) text += static_cast<char>('A' + random() % 58);  // compresses little
    text += "\n";
  }
  // An entry has the value twice, and so its file needs more room.
  const ProgramResult loaded = run_program({"import", store_, "Rows", "-", "--format", "csv", "--load"}, text,
                                           {.file_bytes_max = std::uint64_t{2} << 20});
  EXPECT_EQ(loaded.exit_code, 4) << loaded.err;
  EXPECT_THAT(loaded.out, HasSubstr("imported 7,000 of 7,000 rows"));
  EXPECT_THAT(loaded.err, HasSubstr("the rows were imported, but the index ByV is not built: NoSpace"));
  EXPECT_THAT(loaded.err, HasSubstr("hint: `varve index create`"));
  EXPECT_EQ(lines_of(exported("jsonl")), 7'000U);
  EXPECT_EQ(varve({"index", "create", store_, "Rows", "ByV", "--on", "V:desc", "--carry", "V"}).exit_code, 0);
  EXPECT_EQ(varve({"verify", store_}).exit_code, 0);
}

TEST_F(Program, ALoadKnowsNeitherModeNorDurability) {
  EXPECT_EQ(import_text("csv", "PartitionKey,RowKey\n", {"--load", "--mode", "merge"}).exit_code, 2);
  EXPECT_EQ(import_text("csv", "PartitionKey,RowKey\n", {"--load", "--durability", "sync"}).exit_code, 2);
}

// -- Hostile rows -----------------------------------------------------------------------------------------------------

TEST_F(Program, EveryBadJsonLineIsReportedByItsNumberAndTheOthersAreImported) {
  const std::string good = R"({"PartitionKey":"p","RowKey":")";
  const Words lines{
      good + "1\"}",
      good + "2\",\"a\":[1]}",
      good + "3\",\"a\":{\"b\":1}}",
      good + "4\",\"a\":1,\"a\":2}",
      R"({"PartitionKey":"p"})",
      "",
      good + "\xff\"}",
      good + "8\",\"a@odata.type\":\"Edm.Int32\",\"a\":\"x\"}",
      good + "9\",\"a@odata.type\":\"Edm.Colour\",\"a\":\"x\"}",
      good + "10\",\"a\":\"" + std::string(32'769, 'x') + "\"}",
      "nonsense",
      "[1]",
      good + "1/3\"}",
      good + "14\",\"bad-name\":1}",
      good + "15\",\"a\":18446744073709551615}",
      good + "16\"",
      good + "17\"}",
  };
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  const ProgramResult result = import_text("jsonl", text);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, HasSubstr("imported 2 of 16 rows"));
  for (const int line : {2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
    EXPECT_THAT(result.err, HasSubstr("line " + std::to_string(line) + ": "));
  for (const int line : {1, 6, 17}) EXPECT_THAT(result.err, Not(HasSubstr("line " + std::to_string(line) + ": ")));
  EXPECT_THAT(result.err, HasSubstr("line 2: InvalidArgument: \"a\": an object or array"));
  EXPECT_THAT(result.err, HasSubstr("line 4: InvalidArgument: the member \"a\" is given twice"));
  EXPECT_THAT(result.err, HasSubstr("line 7: InvalidArgument: not UTF-8 at byte"));
  EXPECT_THAT(result.err, HasSubstr("line 11: InvalidArgument: not JSON at byte"));
  EXPECT_EQ(exported("csv"), "PartitionKey,RowKey\r\np,1\r\np,17\r\n");
}

TEST_F(Program, EveryBadCsvRowIsReportedByItsFirstLineAndTheOthersAreImported) {
  const std::string text =
      "PartitionKey,RowKey,V\n"
      "p,1,x\n"
      "\n"
      "p,2\n"                 // 4: a field is missing
      "p,3,\"two\nlines\"\n"  // 5 and 6
      "p,4,a\"b\n"            // 7: a quote inside
      "p,5,\xff\xfe\n"        // 8: not UTF-8
      "p,6,1,2\n"             // 9: one field more
      "p,7,ok\n"
      "p,8,\"never closed\n"  // 11
      "p,9,ok\n"
      "p,10,ok";
  const ProgramResult result = import_text("csv", text, {"--json"});
  EXPECT_EQ(result.exit_code, 1);
  const json report = json::parse(result.out);
  EXPECT_EQ(report["read"], 10);
  EXPECT_EQ(report["imported"], 5);
  EXPECT_EQ(report["refused"], 5);
  for (const int line : {4, 7, 8, 9, 11}) EXPECT_THAT(result.err, HasSubstr("line " + std::to_string(line) + ": "));
  EXPECT_EQ(exported("csv"), "PartitionKey,RowKey,V\r\np,1,x\r\np,10,ok\r\np,3,\"two\nlines\"\r\np,7,ok\r\np,9,ok\r\n");
}

TEST_F(Program, LinesWithoutEndAreRefusedWithoutBeingKept) {
  const std::string endless(std::size_t{17} << 20, 'x');
  const ProgramResult result = import_text("jsonl", endless + "\n" + R"({"PartitionKey":"p","RowKey":"1"})" + "\n");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("line 1: TooLarge"));
  EXPECT_THAT(result.out, HasSubstr("imported 1 of 2"));
}

// Quadratic work in the number of members would take hours, and exceed the test's time limit.
TEST_F(Program, AMillionMembersOrLevelsAreRefused) {
  std::string members = R"({"PartitionKey":"p","RowKey":"1")";
  for (int i = 0; i < 1'000'000; ++i) members += ",\"m" + std::to_string(i) + "\":1";
  const std::string levels = R"({"PartitionKey":"p","RowKey":"2","a":)" + std::string(1'000'000, '[') + "\n";
  const ProgramResult result = import_text("jsonl", members + "}\n" + levels);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("line 1: TooLarge: more than 1024 members"));
  EXPECT_THAT(result.err, HasSubstr("line 2: InvalidArgument: not JSON at byte"));
}

TEST_F(Program, WhatIsWrongWithEveryRowIsSaidOnceAndMakesNoStore) {
  const auto refused = [&](const std::string& header, const std::string& word, const Words& more = {}) {
    SCOPED_TRACE(header);
    const ProgramResult result = import_text("csv", header + "\na,b,c,d\n", more);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr(word));
    EXPECT_FALSE(std::filesystem::exists(store_));
  };
  refused("PartitionKey,Row,V,W", "no column \"RowKey\"");
  refused("PartitionKey,RowKey,V,V", "\"V\" is given twice");
  refused("PartitionKey,RowKey,V,bad-name", "bad-name");
  refused("A,B,PartitionKey,V", "PartitionKey", {"--partition-key", "A", "--row-key", "B"});
  refused("PartitionKey,RowKey,V,W", "\"X\"", {"--type", "X=Edm.Int32"});
}

TEST_F(Program, RefusedRowsBeyondTheLimitAreCounted) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "nonsense\n";
  const ProgramResult result = import_text("jsonl", text, {"--max-errors", "3"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("line 3: "));
  EXPECT_THAT(result.err, Not(HasSubstr("line 4: ")));
  EXPECT_THAT(result.err, HasSubstr("20 rows were refused"));
}

// -- Places -----------------------------------------------------------------------------------------------------------

TEST_F(Program, PlacesThatAreNotWhatTheyShouldBeAreNamed) {
  make_store();
  const auto ends = [&](int exit_code, const std::string& word, const Words& arguments) {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    const ProgramResult result = varve(arguments);
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_THAT(result.err, HasSubstr(word));
    EXPECT_EQ(result.out, "");
  };
  const std::string other = scratch_.path("other");
  const std::string absent = scratch_.path("absent");
  std::filesystem::create_directory(other);
  scratch_.file("other/notes.txt", "hello");
  ends(4, "No such file", {"import", store_, "Rows", scratch_.path("absent.csv")});
  ends(4, "is a directory", {"import", store_, "Rows", other});
  ends(4, "is a directory", {"import", store_, "Rows", other, "--format", "csv"});
  ends(1, "no store here", {"get", absent, "Rows", "p", "1"});
  ends(1, "not a Varve store", {"get", other, "Rows", "p", "1"});
  ends(1, "not a Varve store", {"put", other, "Rows", "p", "1", "V=1"});
  ends(1, "Not a directory", {"get", other + "/notes.txt", "Rows", "p", "1"});
  ends(1, "TableNotFound", {"get", store_, "Unknown", "p", "1"});
  ends(1, "TableNotFound", {"export", store_, "Unknown"});
  ends(1, "TableNotFound", {"put", store_, "Unknown", "p", "1", "V=1", "--mode", "replace"});
  ends(1, "ResourceNotFound", {"table", "drop", store_, "Unknown"});
  ends(1, "no entity", {"get", store_, "Rows", "p", "absent"});
  ends(1, "InvalidResourceName", {"put", absent, "1bad", "p", "1", "V=1"});
  ends(1, "no store here", {"put", absent, "Rows", "p", "1", "V=1", "--mode", "merge"});
  EXPECT_FALSE(std::filesystem::exists(absent));
}

TEST_F(Program, AStoreThatIsOpenElsewhereIsLeftAlone) {
  make_store();
  Result<std::unique_ptr<Store>> holder = Store::open(store_);
  ASSERT_TRUE(holder.ok()) << holder.status().to_string();
  for (const Words& arguments :
       {Words{"put", store_, "Rows", "p", "2", "V=2"}, Words{"table", "drop", store_, "Rows"}}) {
    const ProgramResult result = varve(arguments);
    EXPECT_EQ(result.exit_code, 4);
    EXPECT_THAT(result.err, HasSubstr("Locked"));
    EXPECT_THAT(result.err, HasSubstr("hint: close the program"));
  }
  ASSERT_TRUE((*holder)->close().ok());
  EXPECT_EQ(varve({"put", store_, "Rows", "p", "2", "V=2"}).exit_code, 0);
}

// -- Entities and tables ----------------------------------------------------------------------------------------------

TEST_F(Program, ETagConditionsHold) {
  make_store();
  const std::string stale = row("1")["odata.etag"];
  const ProgramResult replaced =
      varve({"put", store_, "Rows", "p", "1", "V=2", "--mode", "replace", "--if-match", stale});
  ASSERT_EQ(replaced.exit_code, 0) << replaced.err;
  const std::string fresh = replaced.out.substr(0, replaced.out.find('\n'));
  EXPECT_NE(fresh, stale);
  for (const char* mode : {"replace", "merge"}) {
    const ProgramResult refused = varve({"put", store_, "Rows", "p", "1", "V=3", "--mode", mode, "--if-match", stale});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("UpdateConditionNotSatisfied"));
  }
  EXPECT_EQ(varve({"delete", store_, "Rows", "p", "1", "--if-match", stale}).exit_code, 1);
  EXPECT_EQ(row("1")["V"], 2);
  // An ETag that would be ignored is a mistake of the caller.
  EXPECT_EQ(varve({"put", store_, "Rows", "p", "1", "V=3", "--if-match", stale}).exit_code, 2);
  EXPECT_EQ(varve({"put", store_, "Rows", "p", "1", "V=3", "--mode", "insert"}).exit_code, 1);
  EXPECT_EQ(varve({"delete", store_, "Rows", "p", "1", "--if-match", fresh}).exit_code, 0);
  EXPECT_EQ(varve({"delete", store_, "Rows", "p", "1"}).exit_code, 1);
}

TEST_F(Program, TablesAreListedInOrderWithoutRegardToCase) {
  for (const char* name : {"beta", "Alpha", "alpha2", "ALPHA10", "Zulu"})
    ASSERT_EQ(varve({"table", "create", store_, name}).exit_code, 0);
  EXPECT_EQ(varve({"table", "list", store_}).out, "Alpha\nALPHA10\nalpha2\nbeta\nZulu\n");
  EXPECT_EQ(varve({"table", "list", store_, "--prefix", "aL"}).out, "Alpha\nALPHA10\nalpha2\n");
  const ProgramResult again = varve({"table", "create", store_, "BETA"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("TableAlreadyExists"));
  EXPECT_EQ(varve({"table", "drop", store_, "ZULU"}).exit_code, 0);
  EXPECT_EQ(varve({"table", "list", store_}).out, "Alpha\nALPHA10\nalpha2\nbeta\n");
  EXPECT_EQ(varve({"table", "list", store_, "--account", "nobody1"}).exit_code, 1);
}

TEST_F(Program, WhatAMachineReadsIsJson) {
  make_store();
  for (const Words& arguments :
       {Words{"get", store_, "Rows", "p", "1", "--json"}, Words{"query", store_, "Rows"},
        Words{"verify", store_, "--json"}, Words{"stats", store_, "--json"}, Words{"table", "list", store_, "--json"},
        Words{"account", "list", store_, "--json"}}) {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    const ProgramResult result = varve(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(json::accept(result.out)) << result.out;
    EXPECT_EQ(result.err, "");
  }
}

// -- The command line -------------------------------------------------------------------------------------------------

TEST_F(Program, EveryVerbExplainsItself) {
  for (const Words& verb : {Words{},
                            Words{"import"},
                            Words{"export"},
                            Words{"get"},
                            Words{"put"},
                            Words{"delete"},
                            Words{"query"},
                            Words{"shell"},
                            Words{"verify"},
                            Words{"stats"},
                            Words{"compact"},
                            Words{"inspect"},
                            Words{"table"},
                            Words{"table", "create"},
                            Words{"table", "drop"},
                            Words{"table", "list"},
                            Words{"account"},
                            Words{"account", "create"},
                            Words{"account", "drop"},
                            Words{"account", "list"}}) {
    SCOPED_TRACE(::testing::PrintToString(verb));
    Words arguments = verb;
    arguments.emplace_back("--help");
    const ProgramResult result = varve(arguments);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, HasSubstr("Usage"));
    EXPECT_EQ(result.err, "");
  }
  EXPECT_THAT(varve({"--version"}).out, HasSubstr("varve 0."));
}

TEST_F(Program, ACommandLineThatIsNotUnderstoodEndsWithTwo) {
  for (const Words& arguments :
       {Words{}, Words{"dance"}, Words{"get", store_}, Words{"get", store_, "Rows", "p", "1", "--colour"},
        Words{"query", store_, "Rows", "--top", "-1"}, Words{"export", store_, "Rows", "--format", "xml"},
        Words{"import", store_, "Rows", "-"},
        Words{"import", store_, "Rows", "-", "--format", "csv", "--type", "V=Colour"},
        Words{"import", store_, "Rows", "-", "--format", "csv", "--row-key", "PartitionKey"},
        Words{"put", store_, "Rows", "p", "1", "--mode", "burn"}}) {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    const ProgramResult result = varve(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err, "");
    EXPECT_FALSE(std::filesystem::exists(store_));
  }
}

TEST_F(Program, AVerbThatIsNotThereIsNamed) {
  EXPECT_THAT(varve({"dance", "--fast"}).err, HasSubstr("there is no verb 'dance'"));
  EXPECT_THAT(varve({""}).err, HasSubstr("there is no verb ''"));
}

// -- Nothing lost -----------------------------------------------------------------------------------------------------

TEST_F(Program, VerbsThatReadChangeNoByte) {
  make_store();
  const std::map<std::string, std::string> before = bytes_of_store();
  for (const Words& arguments : {Words{"get", store_, "Rows", "p", "1"}, Words{"query", store_, "Rows"},
                                 Words{"export", store_, "Rows"}, Words{"verify", store_}, Words{"stats", store_},
                                 Words{"table", "list", store_}, Words{"account", "list", store_}}) {
    EXPECT_EQ(varve(arguments).exit_code, 0);
    EXPECT_TRUE(bytes_of_store() == before) << ::testing::PrintToString(arguments);
  }
}

TEST_F(Program, VerifyNamesFileAndOffsetOfDamage) {
  ASSERT_EQ(varve({"put", store_, "Rows", "p", "1", "V=a text that can be found in the log"}).exit_code, 0);
  std::string damaged;
  for (const auto& [name, bytes] : bytes_of_store()) {
    const std::size_t at = bytes.find("a text that can be found");
    if (!name.ends_with(".wal") || at == std::string::npos) continue;
    damaged = name;
    std::fstream file(std::filesystem::path(store_) / name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.put('A');
  }
  ASSERT_NE(damaged, "");
  const ProgramResult verified = varve({"verify", store_});
  EXPECT_EQ(verified.exit_code, 3) << verified.out;
  EXPECT_THAT(verified.out + verified.err, HasSubstr(damaged));
  EXPECT_THAT(verified.out + verified.err, HasSubstr("offset"));
  EXPECT_THAT(verified.err, HasSubstr("hint: keep the files as they are; `varve repair"));
  const ProgramResult refused = varve({"get", store_, "Rows", "p", "1"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, HasSubstr("hint: keep the files as they are; `varve verify"));
}

TEST_F(Program, AFullDeviceEndsWithFourAndLosesNothing) {
  make_store();
  std::uintmax_t largest = 256 << 10;
  for (const auto& entry : std::filesystem::directory_iterator(store_)) largest = std::max(largest, entry.file_size());
  std::string text = "PartitionKey,RowKey,V\n";
  for (int i = 0; i < 20'000; ++i) text += "p," + std::to_string(i + 100) + "," + std::string(200, 'x') + "\n";
  const std::string file = scratch_.file("rows.csv", text);
  const ProgramResult full = run_program({"import", store_, "Rows", file, "--json"}, "", {.file_bytes_max = largest});
  EXPECT_EQ(full.exit_code, 4) << full.err;
  EXPECT_THAT(full.err, HasSubstr("NoSpace"));
  EXPECT_EQ(varve({"verify", store_}).exit_code, 0);
  EXPECT_EQ(row("1")["V"], 1);

  EXPECT_EQ(varve({"import", store_, "Rows", file}).exit_code, 0);
  EXPECT_EQ(lines_of(exported("jsonl")), 20'001u);
}

TEST_F(Program, AnExportThatCannotBeWrittenIsNoSuccess) {
  make_store();
  EXPECT_EQ(varve({"export", store_, "Rows", "--output", "/dev/full"}).exit_code, 4);
  EXPECT_EQ(varve({"export", store_, "Rows", "--output", scratch_.path("absent/rows.csv")}).exit_code, 4);
}

TEST_F(Program, AClosedStandardOutputIsNeverTakenForAFileOfTheStore) {
  const ProgramResult put = run_program({"put", store_, "Rows", "p", "1", "V=1"}, "", {.closed_output = true});
  EXPECT_EQ(put.exit_code, 4);
  EXPECT_THAT(put.err, HasSubstr("standard output"));
  for (const auto& [name, bytes] : bytes_of_store()) EXPECT_EQ(bytes.find("W/\"datetime"), std::string::npos) << name;
  EXPECT_EQ(varve({"verify", store_}).exit_code, 0);
  EXPECT_EQ(varve({"get", store_, "Rows", "p", "1"}).exit_code, 0);
}

TEST_F(Program, AnImportThatIsInterruptedKeepsWhatItReadAndSaysSo) {
  const std::string pipe = scratch_.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  test::RunningProgram program({"import", store_, "Rows", pipe, "--format", "jsonl", "--json"});
  // The open waits until the program reads, which is after it has set its signal handlers.
  const int writer = ::open(pipe.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(writer, 0);
  const std::string rows =
      "{\"PartitionKey\":\"p\",\"RowKey\":\"1\"}\n{\"PartitionKey\":\"p\",\"RowKey\":\"2\"}\n{\"Part";
  ASSERT_EQ(::write(writer, rows.data(), rows.size()), static_cast<ssize_t>(rows.size()));
  ASSERT_EQ(::kill(program.process(), SIGINT), 0);
  const ProgramResult result = program.finish();
  ::close(writer);
  EXPECT_EQ(result.exit_code, 128 + SIGINT) << result.err;
  EXPECT_THAT(result.err, HasSubstr("stopped by a signal after line"));
  // The half line is no row. It is open whether the whole lines were read before the signal, but the report must be
  // true.
  const json report = json::parse(result.out);
  EXPECT_EQ(report["refused"], 0);
  // Without a row, nothing is created.
  EXPECT_EQ(std::filesystem::exists(store_), report["imported"] > 0);
  if (report["imported"] > 0) {
    EXPECT_EQ(lines_of(exported("jsonl")), report["imported"].get<std::size_t>());
    EXPECT_EQ(varve({"verify", store_}).exit_code, 0);
  }
}

}  // namespace
}  // namespace varve::program_test
