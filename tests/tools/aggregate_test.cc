// Goal: `varve aggregate` prints the figures of exactly the requested entities, in each format, and refuses figures
// without a meaning.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/run_on_terminal.h"
#include "tests/tools/run_program.h"

namespace varve::test::aggregate_test {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class AggregateVerb : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string lines =
        R"({"PartitionKey":"eu","RowKey":"2026-01-30","Total":1.5,"Lines":2,"Paid":true})"
        "\n"
        R"({"PartitionKey":"eu","RowKey":"2026-01-31","Total":2,"Lines":3})"
        "\n"
        R"({"PartitionKey":"us","RowKey":"2026-02-01","Lines@odata.type":"Edm.Int64","Lines":"9007199254740993"})"
        "\n";
    const ProgramResult result = run_program({"import", store_, "Orders", "-", "--format", "jsonl"}, lines);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  ProgramResult aggregate(const Words& more) const {
    Words words{"aggregate", store_, "Orders"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

  ScratchDirectory scratch_;
  std::string store_ = scratch_.path("store");
};

TEST_F(AggregateVerb, PrintsFiguresByGroupsAsJsonLines) {
  EXPECT_EQ(aggregate({"--count", "--sum", "Total", "--count-of", "Total"}).out,
            "{\"count()\":3,\"count(Total)\":2,\"sum(Total)\":3.5}\n");
  EXPECT_EQ(aggregate({"--sum", "Lines", "--average", "Total", "--group-by", "PartitionKey"}).out,
            "{\"PartitionKey\":\"eu\",\"sum(Lines)\":5,\"average(Total)\":1.75}\n"
            "{\"PartitionKey\":\"us\",\"sum(Lines)\":9007199254740993,\"average(Total)\":null}\n");
  EXPECT_EQ(aggregate({"--count", "--group-by", "RowKey:7", "--group-by", "Paid"}).out,
            "{\"RowKey:7\":\"2026-01\",\"Paid\":null,\"count()\":1}\n"
            "{\"RowKey:7\":\"2026-01\",\"Paid\":true,\"count()\":1}\n"
            "{\"RowKey:7\":\"2026-02\",\"Paid\":null,\"count()\":1}\n");
  EXPECT_EQ(aggregate({"--count", "--group-by", "RowKey:-"}).out, "{\"RowKey:-\":\"2026-\",\"count()\":3}\n");
}

TEST_F(AggregateVerb, ReadsOnlyTheRequestedEntities) {
  EXPECT_EQ(aggregate({"--count", "--partition", "eu"}).out, "{\"count()\":2}\n");
  EXPECT_EQ(aggregate({"--count", "--filter", "Lines gt 2"}).out, "{\"count()\":2}\n");
  EXPECT_EQ(aggregate({"--max", "RowKey", "--partition", "eu", "--to", "2026-01-31"}).out,
            "{\"max(RowKey)\":\"2026-01-30\"}\n");
}

TEST_F(AggregateVerb, PrintsCsvAndTables) {
  EXPECT_EQ(aggregate({"--count", "--min", "Total", "--group-by", "PartitionKey", "--format", "csv"}).out,
            "PartitionKey,count(),min(Total)\r\neu,2,1.5\r\nus,1,\r\n");
  const ProgramResult table =
      aggregate({"--count", "--min", "Total", "--group-by", "PartitionKey", "--format", "table"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("PartitionKey  count()  min(Total)\n"));
  EXPECT_THAT(table.out, HasSubstr("eu                  2         1.5\n"));
  EXPECT_THAT(table.out, HasSubstr("us                  1\n"));
}

TEST_F(AggregateVerb, RefusesWhatHasNoMeaning) {
  EXPECT_EQ(aggregate({}).exit_code, 2);
  EXPECT_EQ(aggregate({"--count", "--prefix", "a"}).exit_code, 2);
  const ProgramResult text = aggregate({"--sum", "RowKey"});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.err, HasSubstr("RowKey"));
  EXPECT_EQ(text.out, "");
  EXPECT_EQ(aggregate({"--count", "--group-by", "Total:3"}).exit_code, 1);
  for (const std::string number : {"0", "4294967296"}) {  // digits are no delimiter
    const ProgramResult refused = aggregate({"--count", "--group-by", "RowKey:" + number});
    EXPECT_EQ(refused.exit_code, 1) << number;
    EXPECT_THAT(refused.err, HasSubstr("number of characters")) << number;
    EXPECT_EQ(refused.out, "") << number;
  }
}

}  // namespace
}  // namespace varve::test::aggregate_test
