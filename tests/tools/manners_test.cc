// Goal: the program says what a wrong word probably meant, takes the store of VARVE_STORE by one clear rule, shows
// colours and pages to people alone, and explains what a query really read.
// Method: it runs as a process. Wrong words are made of right ones by each edit of one character.
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/run_on_terminal.h"
#include "tests/tools/run_program.h"
#include "tests/tools/talk_on_terminal.h"

namespace varve::manners_test {
namespace {

using nlohmann::json;
using test::ProgramResult;
using test::run_program;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

/// Sets a variable of the environment while it is alive.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

class Manners : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run_program({"put", store_, "Orders", "eu", "1", "Customer=Ann", "Lines=3"}).exit_code, 0);
  }
  test::ScratchDirectory scratch_;
  const std::string store_ = scratch_.path("store");
};

// -- Did you mean -----------------------------------------------------------------------------------------------------

/// Returns the word without one character, with one doubled, and with two neighbours swapped.
Words slips_of(const std::string& word) {
  Words slips;
  const std::size_t begin = word.starts_with("--") ? 3 : 1;
  for (std::size_t i = begin; i < word.size(); ++i) {
    slips.push_back(word.substr(0, i) + word.substr(i + 1));
    slips.push_back(word.substr(0, i) + word[i] + word.substr(i));
    if (word[i] != word[i - 1]) {
      slips.push_back(word);
      std::swap(slips.back()[i], slips.back()[i - 1]);
    }
  }
  return slips;
}

TEST_F(Manners, NameTheVerbThatWasMeant) {
  for (const std::string verb : {"query", "import", "inspect", "checkpoint"}) {
    for (const std::string& slip : slips_of(verb)) {
      const ProgramResult result = run_program({slip, store_});
      EXPECT_EQ(result.exit_code, 2) << slip;
      EXPECT_THAT(result.err, HasSubstr("did you mean `varve " + verb + "`?")) << slip;
    }
  }
  EXPECT_THAT(run_program({"table", "drpo", store_, "Orders"}).err, HasSubstr("did you mean `varve table drop`?"));
  EXPECT_THAT(run_program({"help", "table", "copi"}).err, HasSubstr("did you mean `varve table copy`?"));
  EXPECT_THAT(run_program({"dance"}).err, Not(HasSubstr("did you mean")));
}

TEST_F(Manners, NameTheOptionThatWasMeant) {
  for (const std::string option : {"--filter", "--partition", "--continuation"}) {
    for (const std::string& slip : slips_of(option)) {
      const ProgramResult result = run_program({"query", store_, "Orders", slip, "x"});
      EXPECT_EQ(result.exit_code, 2) << slip;
      EXPECT_THAT(result.err, HasSubstr("did you mean `" + option + "`?")) << slip;
    }
  }
}

TEST_F(Manners, NameTheTableAccountAndPropertyThatWereMeant) {
  for (const std::string& slip : slips_of("Orders")) {
    const bool is_a_name = slip != "Orders";
    if (!is_a_name) continue;
    for (const Words& verb : {Words{"query", store_, slip}, Words{"get", store_, slip, "eu", "1"},
                              Words{"table", "drop", store_, slip}, Words{"export", store_, slip}}) {
      const ProgramResult result = run_program(verb);
      EXPECT_EQ(result.exit_code, 1) << slip;
      EXPECT_THAT(result.err, HasSubstr("did you mean table `Orders`?")) << slip;
    }
  }
  EXPECT_THAT(run_program({"query", store_, "Orders", "--account", "devstoreacount1"}).err,
              HasSubstr("did you mean account `devstoreaccount1`?"));
  const ProgramResult empty = run_program({"query", store_, "Orders", "--filter", "costumer eq 'Costumer'"});
  EXPECT_EQ(empty.exit_code, 0);
  EXPECT_THAT(empty.err, HasSubstr("no entity of the table has a property `costumer`; did you mean `Customer`?"));
  EXPECT_EQ(run_program({"query", store_, "Orders", "--filter", "Customer eq 'Bob'"}).err, "");
  EXPECT_THAT(run_program({"query", store_, "Orders", "--filter", "contains(costumer,'x')"}).err,
              HasSubstr("did you mean `Customer`?"));
  EXPECT_EQ(run_program({"query", store_, "Orders", "--filter", "startswith( Customer,'?') and Customer in ('?')"}).err,
            "");
}

TEST_F(Manners, SayThatALiteralHasATypeThatNoValueHas) {
  const auto hint_for = [this](const std::string& filter) {
    return run_program({"query", store_, "Orders", "--filter", filter}).err;
  };
  EXPECT_THAT(hint_for("Lines gt 1.5"), HasSubstr("`Lines` is Edm.Int32"));
  EXPECT_THAT(hint_for("Lines gt 1.5"), HasSubstr("the Edm.Double `1.5`; write a literal such as `5`"));
  EXPECT_THAT(hint_for("(Customer eq 5)"), HasSubstr("the Edm.Int32 `5`; write a literal such as `'text'`"));
  EXPECT_THAT(hint_for("Customer eq datetime'2026-01-31T00:00:00Z'"), HasSubstr("the Edm.DateTime `datetime'2026-"));
  EXPECT_EQ(hint_for("Lines gt 5000 and Customer eq 'it''s'"), "");
}

TEST_F(Manners, SayWhatAFilterHasInsteadOfASymbol) {
  const ProgramResult result = run_program({"query", store_, "Orders", "--filter", "Lines > 54"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("hint: write `gt` instead of `>`"));
}

// -- VARVE_STORE ------------------------------------------------------------------------------------------------------

TEST_F(Manners, TakeTheStoreOfTheEnvironmentWhereNoneIsGiven) {
  const std::string other = scratch_.path("other");
  ASSERT_EQ(run_program({"put", other, "Orders", "us", "2"}).exit_code, 0);
  const Variable variable("VARVE_STORE", store_);
  EXPECT_THAT(run_program({"query", "Orders"}).out, HasSubstr("\"eu\""));
  EXPECT_THAT(run_program({"query", "Orders", "--top", "1", "--filter", "Lines eq 3"}).out, HasSubstr("\"eu\""));
  EXPECT_THAT(run_program({"query", other, "Orders"}).out, HasSubstr("\"us\""));
  EXPECT_THAT(run_program({"get", "Orders", "eu", "1"}).out, HasSubstr("Ann"));
  EXPECT_EQ(run_program({"put", "Orders", "eu", "2", "Lines=4"}).exit_code, 0);
  EXPECT_EQ(run_program({"put", other, "Orders", "us", "3", "Lines=4"}).exit_code, 0);
  EXPECT_THAT(run_program({"verify"}).out, HasSubstr("entities  2"));
  EXPECT_THAT(run_program({"verify", other}).out, HasSubstr("entities  2"));
  EXPECT_EQ(run_program({"table", "list"}).out, "Orders\n");
  EXPECT_EQ(run_program({"checkpoint", scratch_.path("copy")}).exit_code, 0);
  EXPECT_EQ(run_program({"delete", "Orders", "eu", "2"}).exit_code, 0);
  EXPECT_EQ(run_program({"count", store_, "Orders"}).out, "1\n");
}

TEST_F(Manners, RefuseALineThatCanMeanTwoStores) {
  const Variable variable("VARVE_STORE", store_);
  const std::string here = std::filesystem::current_path();
  std::filesystem::current_path(scratch_.path("."));
  const ProgramResult two = run_program({"put", "store", "Orders", "eu", "9"});
  const ProgramResult written = run_program({"put", "./store", "Orders", "eu", "9"});
  const ProgramResult both = run_program({"query", "store", "Orders", "--count"});
  std::filesystem::current_path(here);
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.err, HasSubstr("write ./store for the store"));
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_EQ(both.out, "2\n") << "all words are given, so the first is the store";
}

TEST_F(Manners, TakeNoStoreOfTheEnvironmentForWhatRemovesMuch) {
  const Variable variable("VARVE_STORE", store_);
  EXPECT_EQ(run_program({"account", "drop", "devstoreaccount1", "--yes"}).exit_code, 2);
  EXPECT_EQ(run_program({"restore", scratch_.path("backups")}).exit_code, 2);
  EXPECT_EQ(run_program({"count", "Orders"}).out, "1\n");
}

// -- Colour and pager -------------------------------------------------------------------------------------------------

TEST_F(Manners, ShowColoursOnlyToATerminalThatWantsThem) {
  const Variable terminal("TERM", "xterm");
  const Words wrong{"query", store_, "Absent"};
  const std::string red = "\033[1;31m";
  EXPECT_THAT(test::run_on_terminal(wrong, 80).shown, HasSubstr(red));
  EXPECT_THAT(test::run_on_terminal({"query", store_, "Orders"}, 80).shown, HasSubstr("\033[1;34mPartitionKey"));
  EXPECT_THAT(run_program(wrong).err, Not(HasSubstr("\033")));
  EXPECT_THAT(run_program({"query", store_, "Absent", "--color", "always"}).err, HasSubstr(red));
  EXPECT_THAT(test::run_on_terminal({"query", store_, "Absent", "--color=never"}, 80).shown, Not(HasSubstr("\033")));
  {
    const Variable none("NO_COLOR", "1");
    EXPECT_THAT(test::run_on_terminal(wrong, 80).shown, Not(HasSubstr("\033")));
  }
  const Variable dumb("TERM", "dumb");
  EXPECT_THAT(test::run_on_terminal(wrong, 80).shown, Not(HasSubstr("\033")));
}

TEST_F(Manners, PageOnlyWhatIsLongerThanTheScreen) {
  std::string rows = "PartitionKey,RowKey,V\n";
  for (int i = 0; i < 60; ++i) rows += "p," + std::to_string(100 + i) + ",1\n";
  ASSERT_EQ(run_program({"import", store_, "Long", "-", "--format", "csv"}, rows).exit_code, 0);
  const Variable terminal("TERM", "xterm");
  const Variable pager("VARVE_PAGER", "sed 's/^/paged /'");
  const test::TerminalResult longer = test::run_on_terminal({"query", store_, "Long"}, 80);
  EXPECT_EQ(longer.exit_code, 0);
  EXPECT_EQ(test::count_of(longer.shown, "paged "), 61U) << longer.shown;
  EXPECT_THAT(longer.shown, HasSubstr("60 entities"));
  EXPECT_THAT(test::run_on_terminal({"query", store_, "Orders"}, 80).shown, Not(HasSubstr("paged")));
  EXPECT_THAT(test::run_on_terminal({"query", store_, "Long", "--no-pager"}, 80).shown, Not(HasSubstr("paged")));
  EXPECT_THAT(run_program({"query", store_, "Long"}).out, Not(HasSubstr("paged")));
}

TEST_F(Manners, EndWithSuccessWhenAPersonLeavesThePager) {
  std::string rows = "PartitionKey,RowKey,V\n";
  for (int i = 0; i < 20000; ++i) rows += "p," + std::to_string(100000 + i) + ",1\n";
  ASSERT_EQ(run_program({"import", store_, "Long", "-", "--format", "csv"}, rows).exit_code, 0);
  const Variable terminal("TERM", "xterm");
  const Variable pager("VARVE_PAGER", "head -1");
  const test::TerminalResult left = test::run_on_terminal({"query", store_, "Long"}, 80);
  EXPECT_EQ(left.exit_code, 0) << left.shown;
  EXPECT_THAT(left.shown, Not(HasSubstr("could not be written")));
}

// -- Dry runs ---------------------------------------------------------------------------------------------------------

TEST_F(Manners, WriteNothingInADryRun) {
  for (const char* const verb : {"push", "pull"}) {
    const std::string target = scratch_.path("target");
    const ProgramResult counted = run_program({verb, store_, target, "--dry-run", "--json"});
    ASSERT_EQ(counted.exit_code, 0) << counted.err;
    EXPECT_EQ(json::parse(counted.out)["written"], 1);
    EXPECT_FALSE(std::filesystem::exists(target)) << verb;
  }
}

// -- Drops ------------------------------------------------------------------------------------------------------------

TEST_F(Manners, AskBeforeATableIsDroppedAtATerminalOnly) {
  const auto drop = [&](const std::string& answer) {
    return test::talk_on_terminal({"table", "drop", store_, "Orders"}, scratch_.path("."), "[y/N] ", {answer});
  };
  EXPECT_EQ(drop("n\n").exit_code, 1);
  EXPECT_EQ(drop("\n").exit_code, 1);
  EXPECT_EQ(run_program({"count", store_, "Orders"}).out, "1\n");
  EXPECT_EQ(drop("y\n").exit_code, 0);
  EXPECT_EQ(run_program({"count", store_, "Orders"}).exit_code, 1);
}

TEST_F(Manners, DropATableAndWaitUntilItsSpaceIsBack) {
  std::string rows = "PartitionKey,RowKey,V\n";
  for (int i = 0; i < 20000; ++i) rows += "p," + std::to_string(100000 + i) + "," + std::string(50, 'x') + "\n";
  for (const char* const table : {"Gone", "Kept"})
    ASSERT_EQ(run_program({"import", store_, table, "-", "--format", "csv"}, rows).exit_code, 0);
  const ProgramResult dropped = run_program({"table", "drop", store_, "Gone", "--json"});
  ASSERT_EQ(dropped.exit_code, 0) << dropped.err;
  const json report = json::parse(dropped.out);
  EXPECT_EQ(report["space_is_back"], true) << dropped.out;
  EXPECT_EQ(report["bytes_left"], 0);
  const json after = json::parse(run_program({"stats", store_, "--json"}).out);
  EXPECT_LE(after["levels"].back()["entries"], 20100) << "only the other tables' entities are left";
  EXPECT_EQ(after["dead_log_bytes"].get<int>() + after["dead_table_bytes"].get<int>(), 0);
  EXPECT_EQ(run_program({"count", store_, "Kept"}).out, "20000\n");
}

TEST_F(Manners, ReportThatTheSpaceIsNotBackWhenTheTimeIsOver) {
  const ProgramResult dropped = run_program({"table", "drop", store_, "Orders", "--wait-seconds", "0"});
  EXPECT_EQ(dropped.exit_code, 0);
  EXPECT_THAT(dropped.out, HasSubstr("not back yet"));
  EXPECT_THAT(dropped.err, HasSubstr("hint: a store that stays open"));
}

TEST_F(Manners, DropATableWithoutWaiting) {
  const ProgramResult dropped = run_program({"table", "drop", store_, "Orders", "--no-wait", "--json"});
  EXPECT_EQ(dropped.exit_code, 0);
  EXPECT_TRUE(json::parse(dropped.out)["space_is_back"].is_null()) << dropped.out;
}

// -- Explain ----------------------------------------------------------------------------------------------------------

bool is_inside(const json& range, const std::string& partition, const std::string& row) {
  if (!range["partition_key"].is_null() && range["partition_key"] != partition) return false;
  const std::string& key = range["partition_key"].is_null() ? partition : row;
  if (range["path"] == "row prefix") return key.starts_with(range["lower"]["text"].get<std::string>());
  if (!range["lower"].is_null()) {
    const std::string bound = range["lower"]["text"];
    if (key < bound || (key == bound && range["lower"]["inclusive"] == false)) return false;
  }
  if (range["upper"].is_null()) return true;
  const std::string bound = range["upper"]["text"];
  return key < bound || (key == bound && range["upper"]["inclusive"] == true);
}

TEST_F(Manners, ExplainWhatTheQueryReallyRead) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::string rows = "PartitionKey,RowKey,N\n";
  std::vector<std::pair<std::string, std::string>> keys;
  for (const std::string partition : {"a", "b", "c", "d"}) {
    for (int i = 0; i < 500; ++i) {
      keys.emplace_back(partition, std::to_string(1000 + i));
      rows += partition + "," + keys.back().second + "," + std::to_string(i % 7) + "\n";
    }
  }
  ASSERT_EQ(run_program({"import", store_, "Rows", "-", "--format", "csv"}, rows).exit_code, 0);
  for (int round = 0; round < 60; ++round) {
    if (round == 30) {
      ASSERT_EQ(run_program({"compact", store_}).exit_code, 0);
    }
    Words words{"query", store_, "Rows", "--explain", "--json"};
    const auto add = [&](const std::string& option, const std::string& value) {
      words.insert(words.end(), {option, value});
    };
    const std::string partition(1, static_cast<char>('a' + pick(5)));
    const bool has_partition = pick(2) == 0;
    if (has_partition) add("--partition", partition);
    const std::string low =
        has_partition ? std::to_string(1000 + pick(500)) : std::string(1, static_cast<char>('a' + pick(5)));
    if (pick(3) == 0)
      add("--from", low);
    else if (has_partition && pick(3) == 0)
      add("--prefix", low.substr(0, 3));
    if (pick(2) == 0) {
      std::string filter = "N eq " + std::to_string(pick(8));
      if (pick(2) == 0) filter += " and RowKey lt '" + std::to_string(1000 + pick(500)) + "'";
      if (pick(2) == 0) filter += " and (PartitionKey eq 'b' or PartitionKey eq '" + partition + "')";
      add("--filter", filter);
    }
    const bool has_top = pick(4) == 0;
    if (has_top) add("--top", std::to_string(1 + pick(300)));
    if (pick(3) == 0) words.emplace_back("--backward");
    const bool counts = !has_top && pick(4) == 0;
    if (counts) words.emplace_back("--count");
    SCOPED_TRACE(::testing::PrintToString(words));
    const ProgramResult result = run_program(words);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::size_t at = result.err.find("{\"plan\"");
    ASSERT_NE(at, std::string::npos) << result.err;
    const json explained = json::parse(result.err.substr(at));
    std::uint64_t planned = 0;
    for (const auto& [of, row] : keys) {
      for (const json& range : explained["ranges"]) {
        if (!is_inside(range, of, row)) continue;
        ++planned;
        break;
      }
    }
    const std::uint64_t examined = explained["entities_examined"];
    const std::uint64_t given = explained["entities"];
    EXPECT_EQ(given, counts ? std::stoull(result.out) : test::count_of(result.out, "\n"));
    EXPECT_LE(examined, planned);
    EXPECT_GE(examined, given);
    if (explained["ended_at_top"] == false && explained["blocks_skipped"] == 0) {
      EXPECT_EQ(examined, planned) << result.err;
    }
    if (explained["residual"] == "" && explained["ended_at_top"] == false) {
      EXPECT_EQ(given, planned) << result.err;
    }
    EXPECT_LE(explained["key_ranges"], explained["ranges"].size());
    EXPECT_GE(explained["device_blocks"], explained["blocks_read"]);
  }
}

TEST_F(Manners, ExplainThatCsvReadsTwice) {
  const std::string lines = run_program({"query", store_, "Orders", "--format", "csv", "--explain"}).err;
  EXPECT_THAT(lines, HasSubstr("judged  2 entities"));
  EXPECT_THAT(lines, HasSubstr("twice"));
  const std::string points =
      run_program({"query", store_, "Orders", "--key", "eu", "1", "--key", "eu", "2", "--top", "1", "--explain"}).err;
  EXPECT_EQ(test::count_of(points, "one entity"), 1U) << "the second key was not read";
}

}  // namespace
}  // namespace varve::manners_test
