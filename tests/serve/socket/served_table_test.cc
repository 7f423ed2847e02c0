// Goal: patches, conditions, changes by filter and rules of expiry do the same beside a server that has the store open as
// without one. A signal ends a change, and the server does not go on.
// Method: the same lines run on a served store and on a store of their own. Exit codes, outputs and errors are compared.
#include <chrono>
#include <csignal>
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/socket/served_program.h"
#include "tests/tools/run_on_terminal.h"
#include "tests/tools/run_program.h"

namespace varve::serve::served_table_test {
namespace {

using test::ProgramOptions;
using test::ServedProgram;
using ::testing::HasSubstr;
using varve::test::ProgramResult;
using varve::test::run_program;
using varve::test::RunningProgram;
using varve::test::ScratchDirectory;
using Words = std::vector<std::string>;

/// Puts the path of a store in front of the table.
Words at_store(const std::string& store, Words words) {
  for (std::string& word : words) {
    if (word == "STORE") word = store;
  }
  return words;
}

/// Replaces texts that differ between two runs: times, tokens, figures of a device, and the path of the store.
std::string comparable(std::string text, const std::string& store) {
  for (std::size_t at = text.find(store); at != std::string::npos; at = text.find(store)) {
    text.replace(at, store.size(), "STORE");
  }
  text = std::regex_replace(text, std::regex("\"(seconds|write_amplification)\":[0-9.e+-]+"), "FIGURE");
  text = std::regex_replace(text, std::regex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.%A]+Z"), "TIME");
  return std::regex_replace(text, std::regex("[0-9a-f]{16}\\.[^'\"]+"), "TOKEN");
}

class ServedTables : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(server_.is_ready()) << server_.err(); }

  /// Runs the line on both stores. Returns the result of the served one.
  ProgramResult both(const Words& words, const std::string& input = "") {
    const ProgramResult served = run_program(at_store(server_.data(), words), input);
    const ProgramResult local = run_program(at_store(local_, words), input);
    EXPECT_EQ(served.exit_code, local.exit_code) << words[0] << ": " << served.err << local.err;
    EXPECT_EQ(comparable(served.out, server_.data()), comparable(local.out, local_)) << words[0];
    EXPECT_EQ(comparable(served.err, server_.data()), comparable(local.err, local_)) << words[0];
    return served;
  }
  void expect_both(int exit_code, const std::string& text, const Words& words) {
    const ProgramResult result = both(words);
    EXPECT_EQ(result.exit_code, exit_code) << words[0] << ": " << result.err;
    EXPECT_THAT(result.out + result.err, HasSubstr(text)) << words[0];
  }

  /// Puts entities with the rows from `count` on into the table Orders of the served store.
  void fill(int count) {
    std::string rows = "PartitionKey,RowKey\n";
    for (int i = 0; i < count; ++i) rows += "eu," + std::to_string(count + i) + "\n";
    ASSERT_EQ(run_program({"import", server_.data(), "Orders", "-", "--format", "csv"}, rows).exit_code, 0);
  }
  /// Waits until a change of these has deleted the first one, or for a while.
  void await_begin(int count) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (run_program({"get", server_.data(), "Orders", "eu", std::to_string(count)}).exit_code == 0 &&
           std::chrono::steady_clock::now() < deadline) {
    }
  }

  const ServedProgram server_{ProgramOptions{}};
  ScratchDirectory scratch_;
  const std::string local_ = scratch_.path("store");
};

TEST_F(ServedTables, PatchesAreTheSameAsWithoutAServer) {
  const auto patch = [](Words more) {
    more.insert(more.begin(), {"patch", "STORE", "Stock", "eu", "7"});
    return more;
  };
  expect_both(0, "", {"put", "STORE", "Stock", "eu", "7", "Name=bolt", "Quantity=7", "Note=old"});
  expect_both(0, "Quantity      2  (Edm.Int32)",
              patch({"--increment", "Quantity=-5", "--set", "Name=7", "--type", "Name=Edm.String", "--remove", "Note",
                     "--increment", "Rate=0.5", "--if", "Quantity ge 5"}));
  expect_both(0, "\"Rate\":1", patch({"--increment", "Rate=0.5", "--json", "--durability", "sync"}));
  expect_both(1, "ConditionNotMet", patch({"--increment", "Quantity=-5", "--if", "Quantity ge 5"}));
  expect_both(1, "InvalidInput", patch({"--increment", "Quantity=-5", "--if", "Quantity ge"}));
  expect_both(1, "UpdateConditionNotSatisfied",
              patch({"--increment", "Quantity=1", "--if-match", "W/\"datetime'2020-01-01T00%3A00%3A00Z'\""}));
  expect_both(1, "PropertyTypeMismatch", patch({"--increment", "Name=1"}));
  expect_both(1, "IncrementOutOfRange", patch({"--increment", "Quantity=2147483647"}));
  expect_both(1, "DuplicatePropertiesSpecified", patch({"--set", "A=1", "--set", "A=2"}));
  expect_both(1, "DuplicateKeyPropertySpecified", patch({"--remove", "RowKey"}));
  expect_both(1, "ResourceNotFound", {"patch", "STORE", "Stock", "eu", "8", "--increment", "Quantity=1"});
  expect_both(0, "\"Quantity\":1",
              {"patch", "STORE", "Stock", "eu", "8", "--increment", "Quantity=1", "--insert", "--json"});
  expect_both(1, "did you mean table `Stock`?", {"patch", "STORE", "Stok", "eu", "8", "--increment", "Quantity=1"});
  expect_both(0, "Quantity", {"get", "STORE", "Stock", "eu", "7", "--json"});
}

TEST_F(ServedTables, UpdatesAndDeletesTakeAConditionAsWithoutAServer) {
  expect_both(0, "", {"put", "STORE", "Stock", "eu", "7", "Quantity=7", "Note=old"});
  expect_both(1, "ConditionNotMet", {"update", "STORE", "Stock", "eu", "7", "Quantity=1", "--if", "Quantity lt 7"});
  expect_both(0, "", {"update", "STORE", "Stock", "eu", "7", "Quantity=1", "--if", "Quantity eq 7"});
  expect_both(0, "", {"update", "STORE", "Stock", "eu", "7", "Quantity=2", "--mode", "replace", "--if", "true"});
  expect_both(1, "ConditionNotMet", {"delete", "STORE", "Stock", "eu", "7", "--if", "Quantity eq 1"});
  EXPECT_THAT(run_program({"get", server_.data(), "Stock", "eu", "7", "--json"}).out, HasSubstr("\"Quantity\":2}"));
  expect_both(0, "{\"deleted\":true}", {"delete", "STORE", "Stock", "eu", "7", "--if", "Quantity eq 2", "--json"});
  expect_both(1, "ResourceNotFound", {"delete", "STORE", "Stock", "eu", "7", "--if", "Quantity eq 2"});
}

TEST_F(ServedTables, ChangesByFilterAreTheSameAsWithoutAServer) {
  std::string rows = "PartitionKey,RowKey,N\n";
  for (int i = 0; i < 30; ++i) {
    rows += (i % 2 == 0 ? "eu," : "us,") + std::to_string(10 + i) + "," + std::to_string(i) + "\n";
  }
  EXPECT_EQ(both({"import", "STORE", "Orders", "-", "--format", "csv", "--json"}, rows).exit_code, 0);
  expect_both(0, "{\"matched\":10,\"dry_run\":true}",
              {"delete-where", "STORE", "Orders", "--filter", "N ge 20", "--dry-run", "--json", "--batch", "3"});
  expect_both(0, "{\"matched\":10,\"deleted\":10,\"left\":0}",
              {"delete-where", "STORE", "Orders", "--filter", "N ge 20", "--yes", "--json", "--batch", "3"});
  expect_both(0, "updated 3 entities",
              {"update-where", "STORE", "Orders", "--filter", "N lt 3", "--set", "Code=007", "--type",
               "Code=Edm.String", "--remove", "N", "--yes"});
  expect_both(0, "deleted 1 entity",
              {"delete-where", "STORE", "Orders", "--partition", "us", "--from", "13", "--to", "14", "--all", "--yes",
               "--durability", "sync"});
  expect_both(1, "InvalidInput", {"delete-where", "STORE", "Orders", "--filter", "N ge", "--yes"});
  expect_both(1, "InvalidInput", {"delete-where", "STORE", "Orders", "--filter", " ", "--yes"});
  expect_both(1, "not one of a change by filter",
              {"delete-where", "STORE", "Orders", "--all", "--yes", "--continuation", "x"});
  expect_both(1, "both sets and removes",
              {"update-where", "STORE", "Orders", "--all", "--set", "A=1", "--remove", "A", "--yes"});
  expect_both(1, "did you mean table `Orders`?", {"delete-where", "STORE", "Order", "--all", "--yes"});
  expect_both(2, "--yes", {"delete-where", "STORE", "Orders", "--all"});
  expect_both(0, "19\n", {"count", "STORE", "Orders"});
  const std::string address = "http://127.0.0.1:" + std::to_string(server_.port());
  const ProgramResult refused = run_program({"delete-where", address, "Orders", "--all", "--yes"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("needs the directory"));
}

/// The first deleted entity shows that the change has begun. The others are too many to be deleted before the signal.
TEST_F(ServedTables, ASignalEndsAChangeAndTheServerDoesNotGoOn) {
  constexpr int kEntities = 10'000;
  const std::string store = server_.data();
  ASSERT_NO_FATAL_FAILURE(fill(kEntities));
  RunningProgram change({"delete-where", store, "Orders", "--all", "--yes", "--batch", "1"});
  await_begin(kEntities);
  ::kill(change.process(), SIGTERM);
  const ProgramResult stopped = change.finish();
  EXPECT_EQ(stopped.exit_code, 128 + SIGTERM) << stopped.err;
  const std::string left = run_program({"count", store, "Orders"}).out;
  EXPECT_NE(left, "0\n");
  std::smatch deleted;
  ASSERT_TRUE(std::regex_search(stopped.out, deleted, std::regex("deleted ([0-9,]+) entit"))) << stopped.out;
  const std::string number = std::regex_replace(deleted[1].str(), std::regex(","), "");
  EXPECT_EQ(std::stoi(number) + std::stoi(left), kEntities) << "each batch that happened was acknowledged";
  std::smatch token;
  ASSERT_TRUE(std::regex_search(stopped.err, token, std::regex("--continuation '([^']+)'"))) << stopped.err;
  EXPECT_EQ(run_program({"count", store, "Orders"}).out, left) << "the server does not go on";
  EXPECT_EQ(
      run_program({"delete-where", store, "Orders", "--all", "--yes", "--continuation", token[1].str()}).exit_code, 0);
  EXPECT_EQ(run_program({"count", store, "Orders"}).out, "0\n");
}

/// The program is stopped between its batches while the table is replaced.
TEST_F(ServedTables, AChangeLeavesATableAloneThatTookTheNameMeanwhile) {
  constexpr int kEntities = 10'000;
  const std::string store = server_.data();
  ASSERT_NO_FATAL_FAILURE(fill(kEntities));
  RunningProgram change({"delete-where", store, "Orders", "--all", "--yes", "--batch", "1"});
  await_begin(kEntities);
  ::kill(change.process(), SIGSTOP);
  EXPECT_EQ(run_program({"table", "drop", store, "Orders"}).exit_code, 0);
  EXPECT_EQ(run_program({"put", store, "Orders", "eu", "new", "N=1"}).exit_code, 0);
  ::kill(change.process(), SIGCONT);
  const ProgramResult ended = change.finish();
  EXPECT_EQ(ended.exit_code, 1) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr("TableNotFound"));
  EXPECT_THAT(ended.err, ::testing::Not(HasSubstr("continu"))) << "the new table must not be emptied";
  EXPECT_EQ(run_program({"count", store, "Orders"}).out, "1\n");
}

/// The end of the server ends the connection, as a long wait for the answer does.
TEST(ServedQuestions, MayOutlastTheConnection) {
  for (const Words& verb :
       {Words{"delete-where", "STORE", "Orders", "--all"}, Words{"table", "drop", "STORE", "Orders"}}) {
    ServedProgram server{ProgramOptions{}};
    ASSERT_TRUE(server.is_ready()) << server.err();
    ASSERT_EQ(run_program({"put", server.data(), "Orders", "eu", "1", "N=1"}).exit_code, 0);
    const auto answer = [&server] {
      server.signal(SIGTERM);
      EXPECT_EQ(server.finish(), 0) << server.err();
      return std::string("y\n");
    };
    const varve::test::TerminalResult done =
        varve::test::run_on_terminal(at_store(server.data(), verb), 200, "[y/N] ", answer);
    EXPECT_EQ(done.exit_code, 0) << done.shown;
    EXPECT_THAT(done.shown, HasSubstr("[y/N] ")) << verb[0];
    EXPECT_NE(run_program({"get", server.data(), "Orders", "eu", "1"}).exit_code, 0) << verb[0];
  }
}

TEST_F(ServedTables, RulesOfExpiryAreTheSameAsWithoutAServer) {
  expect_both(0, "", {"table", "create", "STORE", "Sessions", "--expire-after", "90m"});
  expect_both(0, "now end 90m after their Timestamp", {"table", "expiry", "STORE", "Sessions"});
  expect_both(1, "TableAlreadyExists", {"table", "create", "STORE", "Sessions", "--expire-after", "90m"});
  expect_both(0, "keep their ends", {"table", "expiry", "STORE", "Sessions", "--expire-at", "Until"});
  expect_both(0, "\"expire_at\":\"Until\",\"expire_after_ms\":null",
              {"table", "expiry", "STORE", "Sessions", "--json"});
  expect_both(0, "",
              {"put", "STORE", "Sessions", "p", "old", "Until=2020-01-01T00:00:00Z", "--type", "Until=Edm.DateTime"});
  expect_both(1, "has no entity", {"get", "STORE", "Sessions", "p", "old"});
  expect_both(0, "never end", {"table", "expiry", "STORE", "Sessions", "--never"});
  expect_both(0, "now never end", {"table", "expiry", "STORE", "Sessions"});
  expect_both(1, "InvalidInput", {"table", "expiry", "STORE", "Sessions", "--expire-after", "0s"});
  expect_both(1, "did you mean table `Sessions`?", {"table", "expiry", "STORE", "Session", "--expire-after", "1m"});
  expect_both(1, "did you mean table `Sessions`?", {"table", "expiry", "STORE", "Session"});
  expect_both(1, "InvalidInput", {"table", "create", "STORE", "Both", "--large-values", "--expire-after", "1m"});
  const std::string address = "http://127.0.0.1:" + std::to_string(server_.port());
  const Words at_address{"table", "create", address, "New", "--expire-after", "1m"};
  EXPECT_THAT(run_program(at_address).err, HasSubstr("the table service has no expiry"));
  EXPECT_THAT(run_program({"table", "expiry", address, "Sessions"}).err, HasSubstr("the table service has no expiry"));
  expect_both(0, "Sessions\n", {"table", "list", "STORE"});
}

TEST_F(ServedTables, AccessPoliciesAreTheSameAsWithoutAServer) {
  expect_both(0, "", {"table", "create", "STORE", "Guarded"});
  expect_both(0, "", {"table", "policies", "STORE", "Guarded", "--set", "a&b", "--permissions", "ru"});
  expect_both(0, "a&b  ru  -  -", {"table", "policies", "STORE", "Guarded"});
  expect_both(1, "raud", {"table", "policies", "STORE", "Guarded", "--set", "a", "--permissions", "p"});
  expect_both(1, "did you mean table `Guarded`?", {"table", "policies", "STORE", "Guarde"});
  const std::string address = "http://127.0.0.1:" + std::to_string(server_.port());
  EXPECT_EQ(run_program({"table", "policies", address, "Guarded"}).out, "a&b  ru  -  -\n");
  EXPECT_EQ(run_program({"table", "policies", address, "Guarded", "--set", "id", "--start", "2026-03-03"}).exit_code,
            0);
  EXPECT_EQ(run_program({"table", "policies", server_.data(), "Guarded"}).out,
            "a&b  ru  -  -\nid  -  2026-03-03T00:00:00.0000000Z  -\n");
  EXPECT_EQ(run_program({"table", "policies", address, "Guarded", "--clear"}).exit_code, 0);
}

}  // namespace
}  // namespace varve::serve::served_table_test
