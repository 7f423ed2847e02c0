// Goal: no stored text and no argument reaches a terminal as a command, or changes the order of shown text. Files and
// pipes get every byte.
// Method: each control character and direction mark, in keys and values, through each verb that prints, on a terminal
// and into a pipe.
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/run_on_terminal.h"
#include "tests/tools/run_program.h"
#include "tests/tools/talk_on_terminal.h"

namespace varve::terminal_output_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

std::string utf8(std::uint32_t code_point) {
  if (code_point < 0x80) return std::string(1, static_cast<char>(code_point));
  if (code_point < 0x800)
    return {static_cast<char>(0xC0 | code_point >> 6), static_cast<char>(0x80 | (code_point & 0x3F))};
  return {static_cast<char>(0xE0 | code_point >> 12), static_cast<char>(0x80 | (code_point >> 6 & 0x3F)),
          static_cast<char>(0x80 | (code_point & 0x3F))};
}

std::vector<std::uint32_t> commands() {
  std::vector<std::uint32_t> all;
  for (std::uint32_t c = 1; c < 0x20; ++c) all.push_back(c);
  for (std::uint32_t c = 0x7F; c < 0xA0; ++c) all.push_back(c);
  for (std::uint32_t c : {0x061Cu, 0x200Eu, 0x200Fu, 0x2028u, 0x2029u}) all.push_back(c);
  for (std::uint32_t c = 0x202A; c <= 0x202E; ++c) all.push_back(c);
  for (std::uint32_t c = 0x2066; c <= 0x2069; ++c) all.push_back(c);
  return all;
}

/// The allowed control characters on a terminal: CR LF at line ends, colours, and those that erase the progress line.
void expect_harmless(std::string shown, const Words& verb) {
  SCOPED_TRACE(::testing::PrintToString(verb));
  for (const std::string ours : {"\r\033[K", "\r\n", "\033[0m", "\033[1;31m", "\033[36m", "\033[1;34m", "\033[2m"}) {
    for (std::size_t at = 0; (at = shown.find(ours, at)) != std::string::npos;) shown.replace(at, ours.size(), " ");
  }
  for (const std::uint32_t command : commands()) {
    EXPECT_EQ(shown.find(utf8(command)), std::string::npos) << "U+" << std::hex << command;
  }
}

class TerminalOutput : public ::testing::Test {
 protected:
  /// Stores a value with every command, and a key with those that a key may contain.
  void SetUp() override {
    for (const std::uint32_t command : commands()) value_ += "v" + utf8(command);
    const std::string marks = utf8(0x202E) + utf8(0x200F) + utf8(0x061C) + utf8(0x2066);
    key_ = "k" + marks;
    const test::ProgramResult put = test::run_program({"put", store_, "Rows", "p", key_, "V=" + value_});
    ASSERT_EQ(put.exit_code, 0) << put.err;
  }

  test::ScratchDirectory scratch_;
  const std::string store_ = scratch_.path("store");
  std::string value_;
  std::string key_;
};

TEST_F(TerminalOutput, HoldsNoCommandWhateverVerbPrints) {
  const Words bad_name{"put", store_, "Rows", "p", "r", "bad\x1B[31m-name=1"};
  const std::vector<Words> verbs = {
      {"get", store_, "Rows", "p", key_},
      {"get", store_, "Rows", "p", key_, "--json"},
      {"get", store_, "Rows", "p", "absent\x1B[2J" + key_},
      {"query", store_, "Rows"},
      {"query", store_, "Rows", "--format", "csv"},
      {"query", store_, "Rows", "--format", "jsonl"},
      {"query", store_, "Rows", "--filter", "RowKey eq '" + key_ + "'", "--explain"},
      {"query", store_, "Rows", "--key", "p", key_, "--explain"},
      {"query", store_, "Rows", "--from", key_, "--explain"},
      {"query", store_, "Rows", "--filter", "A eq " + key_},
      {"export", store_, "Rows"},
      {"export", store_, "Rows", "--format", "csv"},
      {"table", "list", store_, "--prefix", "\x1B]0;x\x07"},
      {"table", "drop", store_, "ab\x1B[1mc"},
      {"verify", scratch_.path("no\x1B[7mstore")},
      {"import", store_, "Rows", scratch_.path("no\x1B[7mfile.csv")},
      {"import", store_, "Rows", scratch_.file("rows.csv", "PartitionKey,RowKey,bad\x1B[31m\np,r,x\n")},
      {"import", store_, "Rows",
       scratch_.file("rows.jsonl", "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"bad\\u001b[31m\":1}\n")},
      {"no\x1B[31mverb"},
      {"query", store_, "Rows", "--no\x1B[31moption"},
      {"query", store_, "Rows", "--top", "\x1B[31m"},
      bad_name,
  };
  for (const Words& verb : verbs) expect_harmless(test::run_on_terminal(verb, 400).shown, verb);
}

TEST_F(TerminalOutput, ShowsEscapesInThePlaceOfCommands) {
  const std::string shown = test::run_on_terminal({"get", store_, "Rows", "p", key_}, 400).shown;
  EXPECT_THAT(shown, HasSubstr("v\\u{1b}"));
  EXPECT_THAT(shown, HasSubstr("v\\n"));
  EXPECT_THAT(shown, HasSubstr("v\\u{9b}"));
  EXPECT_THAT(shown, HasSubstr("v\\u{202e}"));
  EXPECT_THAT(shown, HasSubstr("k\\u{202e}\\u{200f}\\u{61c}\\u{2066}"));
}

TEST_F(TerminalOutput, LetsEveryByteThroughToAPipe) {
  const std::string got = test::run_program({"get", store_, "Rows", "p", key_}).out;
  EXPECT_THAT(got, HasSubstr(value_));
  EXPECT_THAT(got, HasSubstr(key_));
  EXPECT_THAT(test::run_program({"query", store_, "Rows", "--format", "csv"}).out, HasSubstr(value_));
  const std::string jsonl = test::run_program({"query", store_, "Rows"}).out;
  EXPECT_THAT(jsonl, HasSubstr(utf8(0x202E)));
}

TEST_F(TerminalOutput, HoldsNoCommandInAShell) {
  // The editor accepts only plain letters here.
  ASSERT_EQ(test::run_program({"put", store_, "Rows", "p", "plain", "V=" + value_}).exit_code, 0);
  const Words lines = {"get p plain\n", "query\n", "use a\t\n", "exit\n"};
  const test::TerminalResult talk =
      test::talk_on_terminal({"shell", store_, "Rows"}, scratch_.path("."), "Rows> ", lines);
  EXPECT_THAT(talk.shown, HasSubstr("v\\u{9b}"));
  EXPECT_THAT(talk.shown, Not(HasSubstr("v\x1B")));
  EXPECT_THAT(talk.shown, Not(HasSubstr("v" + utf8(0x9B))));
}

// -- Questions --------------------------------------------------------------------------------------------------------

class AccountDrop : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(test::run_program({"table", "create", store_, "Rows", "--account", "other"}).exit_code, 0);
  }
  bool is_there() const {
    return test::run_program({"account", "list", store_}).out.find("other") != std::string::npos;
  }
  test::TerminalResult answer(const std::string& text) const {
    return test::talk_on_terminal({"account", "drop", store_, "other"}, scratch_.path("."), "[y/N] ", {text});
  }

  test::ScratchDirectory scratch_;
  const std::string store_ = scratch_.path("store");
};

TEST_F(AccountDrop, NeedsYesAwayFromATerminal) {
  const test::ProgramResult refused = test::run_program({"account", "drop", store_, "other"}, "y\n");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--yes"));
  EXPECT_TRUE(is_there());
  EXPECT_EQ(test::run_program({"account", "drop", store_, "other", "--yes"}).exit_code, 0);
  EXPECT_FALSE(is_there());
}

TEST_F(AccountDrop, AsksAtATerminal) {
  for (const char* const no : {"\n", "n\n", "other\n", "yes please\n", "\x04"}) {
    EXPECT_EQ(answer(no).exit_code, 1);
    EXPECT_TRUE(is_there());
  }
  const test::TerminalResult yes = answer("y\n");
  EXPECT_EQ(yes.exit_code, 0) << yes.shown;
  EXPECT_THAT(yes.shown, HasSubstr("account other with all its tables"));
  EXPECT_FALSE(is_there());
}

TEST_F(AccountDrop, OfATableAsksNothing) {
  EXPECT_EQ(test::run_program({"table", "drop", store_, "Rows", "--account", "other"}).exit_code, 0);
}

}  // namespace
}  // namespace varve::terminal_output_test
