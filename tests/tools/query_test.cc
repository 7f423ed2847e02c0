// Goal: `varve query` reads exactly the requested keys, shows them completely or marks cuts, and reports its work.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/run_on_terminal.h"
#include "tests/tools/run_program.h"

namespace varve::query_test {
namespace {

using nlohmann::json;
using test::ProgramResult;
using test::run_program;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

class Query : public ::testing::Test {
 protected:
  void import_lines(const std::string& lines) const {
    const ProgramResult result = run_program({"import", store_, "Rows", "-", "--format", "jsonl"}, lines);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  /// Imports partitions a to c, each with rows 00 to 19.
  void import_grid() const {
    std::string lines;
    for (const char* partition : {"a", "b", "c"}) {
      for (int row = 0; row < 20; ++row) {
        const std::string text = std::to_string(100 + row).substr(1);
        lines += json{{"PartitionKey", partition}, {"RowKey", text}, {"N", row}}.dump() + "\n";
      }
    }
    import_lines(lines);
  }
  ProgramResult query(const Words& more, const test::ProgramLimits& limits = {}) const {
    Words arguments{"query", store_, "Rows"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments, "", limits);
  }
  /// Returns "a/00 a/01 ..." from output in JSON Lines.
  std::string keys(const Words& more) const {
    const ProgramResult result = query(more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::istringstream lines(result.out);
    std::string text;
    for (std::string line; std::getline(lines, line);) {
      const json entity = json::parse(line);
      text += (text.empty() ? "" : " ") + entity["PartitionKey"].get<std::string>() + "/" +
              entity["RowKey"].get<std::string>();
    }
    return text;
  }

  test::ScratchDirectory scratch_;
  std::string store_ = scratch_.path("store");
};

TEST_F(Query, ReadsTheKeysThatAreAskedFor) {
  import_grid();
  EXPECT_EQ(keys({"--partition", "b", "--row", "07"}), "b/07");
  EXPECT_EQ(keys({"--partition", "b", "--row", "absent"}), "");
  EXPECT_EQ(keys({"--key", "c", "03", "--key", "a", "19", "--key", "c", "03", "--key", "x", "y"}), "c/03 a/19");
  EXPECT_EQ(keys({"--partition", "a", "--from", "05", "--to", "08"}), "a/05 a/06 a/07");
  EXPECT_EQ(keys({"--partition", "a", "--from", "18"}), "a/18 a/19");
  EXPECT_EQ(keys({"--partition", "c", "--prefix", "1", "--top", "2"}), "c/10 c/11");
  EXPECT_EQ(keys({"--from", "b", "--to", "c", "--top", "1"}), "b/00");
  EXPECT_EQ(query({"--partition", "b", "--count"}).out, "20\n");
  EXPECT_EQ(query({"--count"}).out, "60\n");
  EXPECT_EQ(query({"--count", "--top", "7"}).out, "7\n");
}

TEST_F(Query, AFilterChoosesAmongTheRangeAndBoundsWhatIsRead) {
  import_grid();
  EXPECT_EQ(keys({"--filter", "N eq 7"}), "a/07 b/07 c/07");
  EXPECT_EQ(keys({"--filter", "N lt 2 or N gt 18", "--partition", "b"}), "b/00 b/01 b/19");
  EXPECT_EQ(query({"--filter", "PartitionKey ge 'b' and N ge 10", "--count"}).out, "20\n");
  const ProgramResult result =
      query({"--filter", "PartitionKey eq 'b' and RowKey ge '05' and RowKey lt '08'", "--explain"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("judged  3 entities in 1 range of keys"));
}

TEST_F(Query, AFilterMayHaveFunctionsAndLists) {
  import_grid();
  EXPECT_EQ(keys({"--filter", "startswith(RowKey,'1') and N in (7, 13, '12') and PartitionKey in ('c','a')"}),
            "a/13 c/13");
  EXPECT_EQ(keys({"--filter", "endswith(RowKey,'9') and contains(RowKey,'1') and exists(N)", "--top", "1"}), "a/19");
  EXPECT_EQ(query({"--filter", "PartitionKey gt RowKey and N eq N", "--count"}).out, "60\n");
  EXPECT_EQ(keys({"--filter", "equals_ignoring_case(PartitionKey,'B') and N lt 1"}), "b/00");
}

TEST_F(Query, BackwardTurnsTheOrderRoundAndGoesOnByItsToken) {
  import_grid();
  EXPECT_EQ(keys({"--partition", "b", "--backward", "--top", "3"}), "b/19 b/18 b/17");
  EXPECT_EQ(keys({"--filter", "N ge 19", "--backward", "--all"}), "c/19 b/19 a/19");
  const ProgramResult first = query({"--backward", "--top", "58", "--json"});
  const std::size_t begin = first.err.find('\'');
  ASSERT_NE(begin, std::string::npos) << first.err;
  const std::string token = first.err.substr(begin + 1, first.err.rfind('\'') - begin - 1);
  EXPECT_EQ(keys({"--backward", "--continuation", token}), "a/01 a/00");
  EXPECT_EQ(query({"--continuation", token}).exit_code, 1) << "forward";
  EXPECT_EQ(query({"--filter", "N ge 18", "--count", "--top", "5"}).out, "5\n");
}

TEST_F(Query, OrderByFindsTheFirstOfTheRangeAndGoesOnByItsToken) {
  import_grid();
  EXPECT_EQ(keys({"--order-by", "N desc,PartitionKey desc", "--top", "4"}), "c/19 b/19 a/19 c/18");
  EXPECT_EQ(keys({"--order-by", "RowKey", "--top", "2", "--filter", "N ge 7", "--partition", "b"}), "b/07 b/08");
  const ProgramResult first = query({"--order-by", "N", "--top", "58", "--json"});
  const std::size_t begin = first.err.find('\'');
  ASSERT_NE(begin, std::string::npos) << first.err;
  const std::string token = first.err.substr(begin + 1, first.err.rfind('\'') - begin - 1);
  EXPECT_EQ(keys({"--order-by", "N", "--top", "9", "--continuation", token}), "b/19 c/19");
  EXPECT_EQ(query({"--order-by", "N up", "--top", "1"}).exit_code, 1);
  EXPECT_THAT(query({"--order-by", "N:desc", "--top", "1"}).err, HasSubstr("then a space and asc or desc"));
}

TEST_F(Query, ExplainTellsThePlanAndWhatIsLeftToJudge) {
  import_grid();
  const ProgramResult row = query({"--filter", "PartitionKey eq 'b' and RowKey ge '05' and N lt 7", "--explain"});
  EXPECT_THAT(row.err, HasSubstr("plan    row range\n        rows from '05' of partition 'b'\njudges  N lt 7\n"));
  EXPECT_THAT(row.err, HasSubstr("blocks  0 read, 0 from the cache, 0 skipped\n"));
  ASSERT_EQ(run_program({"compact", store_}).exit_code, 0);
  const ProgramResult points =
      query({"--filter", "PartitionKey eq 'b' and (RowKey eq '01' or RowKey eq '02')", "--explain", "--count"});
  EXPECT_EQ(points.out, "2\n");
  EXPECT_THAT(points.err, HasSubstr("plan    points\n"));
  EXPECT_THAT(points.err, HasSubstr("judges  nothing\n"));
  EXPECT_THAT(points.err, Not(HasSubstr("blocks  0 read, 0")));
}

TEST_F(Query, ExplainNamesTheIndexThatHasTheOrder) {
  import_grid();
  const Words first{"--order-by", "N desc", "--top", "2", "--explain"};
  EXPECT_THAT(query(first).err, Not(HasSubstr("order   from")));
  ASSERT_EQ(run_program({"index", "create", store_, "Rows", "ByN", "--on", "N"}).exit_code, 0);
  const ProgramResult lines = query(first);
  EXPECT_THAT(lines.err, HasSubstr("plan    table, by index ByN\n"));
  EXPECT_THAT(lines.err, HasSubstr("order   from index ByN\n"));
  EXPECT_THAT(lines.err, Not(HasSubstr("judged  60 entities")));
  Words as_json = first;
  as_json.emplace_back("--json");
  EXPECT_THAT(query(as_json).err, HasSubstr("\"order_index\":\"ByN\",\"order_components\":1,"));
  EXPECT_THAT(query({"--explain", "--json"}).err, HasSubstr("\"order_index\":null"));
}

TEST_F(Query, ExplainMarksAnIndexThatAnswersAlone) {
  import_grid();
  ASSERT_EQ(run_program({"index", "create", store_, "Rows", "ByN", "--on", "N,Timestamp"}).exit_code, 0);
  const Words words{"--filter", "N eq 7", "--explain"};
  EXPECT_THAT(query(words).err, HasSubstr(", taken, answers counts alone\n"));
  EXPECT_THAT(query(words).err, HasSubstr("parts   1 part of an index, which led to 3 entities\n"));
  Words narrow = words;
  narrow.insert(narrow.end(), {"--select", "N"});
  const ProgramResult lines = query(narrow);
  EXPECT_THAT(lines.err, HasSubstr(", taken, answers counts alone, answers pages alone\n"));
  EXPECT_THAT(lines.err, HasSubstr("judged  0 entities"));
  narrow.emplace_back("--json");
  EXPECT_THAT(query(narrow).err, HasSubstr("\"answers_pages\":true"));
}

TEST_F(Query, ExplainCountsThePartsInWhichAnIndexGivesManyEntities) {
  std::string lines;
  for (int row = 0; row < 1500; ++row) {
    lines += json{{"PartitionKey", "p"}, {"RowKey", std::to_string(10'000 + row)}, {"N", 7}, {"M", row}}.dump() + "\n";
  }
  import_lines(lines);
  ASSERT_EQ(run_program({"index", "create", store_, "Rows", "ByN", "--on", "N"}).exit_code, 0);
  EXPECT_THAT(query({"--filter", "N eq 7", "--explain"}).err,
              HasSubstr("parts   2 parts of an index, which led to 1,001 at first, and at last to 500 entities\n"));
  EXPECT_THAT(query({"--filter", "N eq 7 and M gt 1400", "--top", "3", "--explain", "--json"}).err,
              HasSubstr("\"index_parts\":6,\"first_part_entities\":4,\"last_part_entities\":136,"));
}

TEST_F(Query, AFilterThatDoesNotParseIsRefusedWithThePlace) {
  import_grid();
  const ProgramResult result = query({"--filter", "N eq 7 and"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("the filter, character 11"));
  EXPECT_EQ(result.out, "");
  const ProgramResult function = query({"--filter", "tolower(RowKey) eq '1'"});
  EXPECT_THAT(function.err, HasSubstr("NotImplemented"));
  EXPECT_THAT(function.err, Not(HasSubstr("newer version")));
}

TEST_F(Query, RefusesWordsThatDoNotGoTogether) {
  import_grid();
  for (const Words& words :
       {Words{"--row", "1"}, Words{"--prefix", "1"}, Words{"--partition", "a", "--prefix", "1", "--from", "1"},
        Words{"--partition", "a", "--row", "1", "--to", "2"}, Words{"--filter", "N eq 7", "--key", "a", "01"},
        Words{"--key", "a", "1", "--partition", "a"}, Words{"--key", "a"}, Words{"--count", "--format", "csv"},
        Words{"--format", "xml"}, Words{"--key", "a", "1", "--continuation", "x"}, Words{"--all", "--top", "3"},
        Words{"--json", "--format", "csv"}, Words{"--key", "a", "1", "--backward"}, Words{"--order-by", "N"},
        Words{"--order-by", "N", "--top", "1", "--backward"}, Words{"--order-by", "N", "--top", "1", "--count"},
        Words{"--order-by", "N", "--top", "1", "--key", "a", "1"}}) {
    const ProgramResult result = query(words);
    EXPECT_EQ(result.exit_code, 2) << ::testing::PrintToString(words);
    EXPECT_EQ(result.out, "");
    EXPECT_NE(result.err, "");
  }
  EXPECT_EQ(query({"--continuation", "junk"}).exit_code, 1);
}

TEST_F(Query, GoesOnWhereItStopped) {
  import_grid();
  const ProgramResult first = query({"--partition", "b", "--top", "15"});
  const std::size_t begin = first.err.find('\'');
  ASSERT_NE(begin, std::string::npos) << first.err;
  const std::string token = first.err.substr(begin + 1, first.err.rfind('\'') - begin - 1);
  const ProgramResult rest = query({"--partition", "b", "--continuation", token});
  EXPECT_EQ(rest.err, "");
  EXPECT_EQ(first.out + rest.out, query({"--partition", "b"}).out);
}

TEST_F(Query, TablesAreAlignedByWhatCharactersTakeOnTheScreen) {
  import_lines(R"({"PartitionKey":"p","RowKey":"1","Name":"né","N":5})"
               "\n"
               R"({"PartitionKey":"p","RowKey":"2","Name":"日本語","N":-12,"Late":true})"
               "\n");
  const ProgramResult table = query({"--format", "table"});
  EXPECT_EQ(table.out,
            "PartitionKey  RowKey  Name      N  Late\n"
            "p             1       né        5\n"
            "p             2       日本語  -12  true\n");
  EXPECT_EQ(table.err, "2 entities\n");
  EXPECT_EQ(query({"--format", "table", "--select", "N,Name", "--top", "1"}).out,
            "PartitionKey  RowKey  N  Name\n"
            "p             1       5  né\n");
}

TEST_F(Query, WhatWouldCommandATerminalIsWrittenAsText) {
  import_lines(R"({"PartitionKey":"p","RowKey":"1","V":"a\u001b[2Jb\nc\td\u202Ee\u009b"})"
               "\n");
  const ProgramResult table = query({"--format", "table"});
  EXPECT_THAT(table.out, HasSubstr(R"(a\u{1b}[2Jb\nc\td\u{202e}e\u{9b})"));
}

TEST_F(Query, ALineThatIsTooLongIsCutWithAnEllipsisAndColumnsThatHaveNoRoomAreNamed) {
  json row{{"PartitionKey", "p"}, {"RowKey", "1"}, {"Long", std::string(100, 'x')}, {"Z", 7}};
  import_lines(row.dump() + "\n");
  const ProgramResult cut = query({"--format", "table"}, {.columns = "50"});
  EXPECT_EQ(cut.out, "PartitionKey  RowKey  " + std::string("Long") + std::string(21, ' ') + "  Z\n" +
                         "p             1       " + std::string(24, 'x') + "…  7\n");
  const ProgramResult narrow = query({"--format", "table"}, {.columns = "26"});
  EXPECT_THAT(narrow.err, HasSubstr("no room for 1 column, from Z on"));
  EXPECT_THAT(narrow.out, Not(HasSubstr("Z")));
  EXPECT_THAT(query({"--format", "table"}).out, HasSubstr(std::string(100, 'x')));
}

TEST_F(Query, ATerminalGetsATableAsWideAsItIs) {
  json row{{"PartitionKey", "p"}, {"RowKey", "1"}, {"Long", std::string(100, 'x')}, {"Z", 7}};
  import_lines(row.dump() + "\n");
  const test::TerminalResult result = test::run_on_terminal({"query", store_, "Rows", "--color", "never"}, 50);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.shown, "PartitionKey  RowKey  " + std::string("Long") + std::string(21, ' ') + "  Z\r\n" +
                              "p             1       " + std::string(24, 'x') + "…  7\r\n1 entity\r\n");
}

// The progress line is removed before the answer is printed.
TEST_F(Query, CompactAtATerminalAnswersOnALineOfItsOwn) {
  import_grid();
  const test::TerminalResult result = test::run_on_terminal({"compact", store_}, 100);
  EXPECT_EQ(result.exit_code, 0) << result.shown;
  const std::size_t answer = result.shown.find("compacted in ");
  ASSERT_NE(answer, std::string::npos) << result.shown;
  EXPECT_TRUE(answer == 0 || result.shown.substr(0, answer).ends_with("\r\033[K")) << result.shown;
}

TEST_F(Query, ATableOfManyPagesKeepsItsColumnsUntilANewPropertyComes) {
  std::string lines;
  for (int row = 1000; row < 2500; ++row) {
    json entity{{"PartitionKey", "p"}, {"RowKey", std::to_string(row)}, {"N", row}};
    if (row == 2400) entity["New"] = "here";
    lines += entity.dump() + "\n";
  }
  import_lines(lines);
  const std::string out = query({"--format", "table"}).out;
  for (const char* part :
       {"p             1999    1999\n\nPartitionKey  RowKey     N  New\np             2000    2000\n",
        "\np             2400    2400  here\n"})
    EXPECT_NE(out.find(part), std::string::npos) << part;
}

TEST_F(Query, CsvHasEveryColumnOfTheRows) {
  import_lines(R"({"PartitionKey":"p","RowKey":"1","A":"x, y"})"
               "\n"
               R"({"PartitionKey":"p","RowKey":"2","B":2.5})"
               "\n");
  EXPECT_EQ(query({"--format", "csv"}).out, "PartitionKey,RowKey,A,B\r\np,1,\"x, y\",\r\np,2,,2.5\r\n");
  EXPECT_EQ(query({"--format", "csv", "--select", "B"}).out, "PartitionKey,RowKey,B\r\np,1,\r\np,2,2.5\r\n");
}

TEST_F(Query, ExplainTellsRangesAndCost) {
  import_grid();
  ASSERT_EQ(run_program({"compact", store_}).exit_code, 0);
  const ProgramResult range = query({"--partition", "b", "--from", "05", "--to", "07", "--explain"});
  EXPECT_EQ(range.exit_code, 0);
  EXPECT_THAT(range.err, HasSubstr("reads   rows from \"05\" up to, but not including, \"07\" of partition \"b\"\n"));
  EXPECT_THAT(range.err, HasSubstr("gave    2 entities in 1 page"));
  EXPECT_THAT(range.err, HasSubstr("device  "));
  EXPECT_THAT(range.err, Not(HasSubstr("device  0 blocks")));
  EXPECT_THAT(range.err, HasSubstr("memory  0 entries in memtables, 1 table file below\n"));
  const ProgramResult points = query({"--key", "a", "01", "--key", "a", "zz", "--explain"});
  EXPECT_THAT(points.err, HasSubstr("reads   one entity: partition \"a\", row \"zz\"\n"));
  EXPECT_THAT(points.err, HasSubstr("gave    1 entity, in"));
}

}  // namespace
}  // namespace varve::query_test
