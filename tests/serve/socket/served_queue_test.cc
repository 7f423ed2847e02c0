// Goal: `varve queue` does the same beside a server that has the store open as without one.
// Method: the same lines run on a served store and on a store of their own. Exit codes, outputs and errors are compared,
// with ids, receipts and times as placeholders.
#include <regex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/serve/socket/served_program.h"
#include "tests/tools/run_program.h"

namespace varve::serve::served_queue_test {
namespace {

using nlohmann::json;
using test::ProgramOptions;
using test::ServedProgram;
using ::testing::HasSubstr;
using varve::test::ProgramResult;
using varve::test::run_program;
using varve::test::RunningProgram;
using varve::test::ScratchDirectory;
using Words = std::vector<std::string>;

Words queue_words(const std::string& store, Words words) {
  words.insert(words.begin(), "queue");
  words.insert(words.begin() + 2, store);
  return words;
}

/// Replaces what differs between two runs: ids, receipts, times, and the path of the store.
std::string compared(std::string text, const std::string& store) {
  for (std::size_t at = text.find(store); at != std::string::npos; at = text.find(store)) {
    text.replace(at, store.size(), "STORE");
  }
  text = std::regex_replace(text, std::regex("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "ID");
  text = std::regex_replace(text, std::regex("[A-Za-z0-9+/]{32}"), "RECEIPT");
  return std::regex_replace(text, std::regex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z"), "TIME");
}

class ServedQueues : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(server_.is_ready()) << server_.err(); }

  /// Runs the line on both stores. Returns the result of the served one.
  ProgramResult both(const Words& words, const std::string& input = "") {
    const ProgramResult served = run_program(queue_words(server_.data(), words), input);
    const ProgramResult local = run_program(queue_words(local_, words), input);
    EXPECT_EQ(served.exit_code, local.exit_code) << words.front() << ": " << served.err << local.err;
    EXPECT_EQ(compared(served.out, server_.data()), compared(local.out, local_)) << words.front();
    EXPECT_EQ(compared(served.err, server_.data()), compared(local.err, local_)) << words.front();
    return served;
  }
  std::string get(const std::string& store) {
    return run_program(queue_words(store, {"get", "orders", "--hold", "1h", "--json"})).out;
  }

  const ServedProgram server_{ProgramOptions{}};
  ScratchDirectory scratch_;
  const std::string local_ = scratch_.path("store");
};

TEST_F(ServedQueues, AreWrittenAsWithoutAServer) {
  EXPECT_EQ(both({"create", "orders", "--metadata", "Owner=Ann", "--message-bytes", "100000"}).exit_code, 0);
  EXPECT_EQ(both({"create", "orders"}).exit_code, 1);
  EXPECT_EQ(both({"create", "dead", "--account", "devstoreaccount1"}).exit_code, 0);
  EXPECT_EQ(both({"metadata", "orders"}).out, "Owner=Ann\n");
  EXPECT_EQ(both({"metadata", "orders", "a=1", "b=", "--json"}).exit_code, 0);
  EXPECT_EQ(both({"metadata", "orders"}).out, "a=1\nb=\n");
  EXPECT_EQ(both({"policies", "orders", "--set", "a&b", "--permissions", "ap", "--expiry", "2027-01-01"}).exit_code, 0);
  EXPECT_EQ(both({"policies", "orders", "--set", "id alone", "--json"}).exit_code, 0);
  EXPECT_THAT(both({"policies", "orders"}).out, HasSubstr("a&b  ap  -  2027-01-01T00:00:00.0000000Z\nid alone"));
  EXPECT_EQ(both({"policies", "orders", "--set", "a", "--permissions", "d"}).exit_code, 1);
  EXPECT_EQ(both({"policies", "orders", "--set", std::string(65, 'a')}).exit_code, 1);
  EXPECT_EQ(both({"policies", "orders", "--remove", "id alone"}).exit_code, 0);
  EXPECT_EQ(both({"policies", "orders", "--json"}).exit_code, 0);
  EXPECT_EQ(both({"put", "orders", "\xC3\xA4 \"&<"}).exit_code, 0);
  EXPECT_EQ(both({"put", "orders", ""}).exit_code, 0);
  EXPECT_EQ(both({"put", "orders", "--file", "-"}, std::string(99'999, 'x')).exit_code, 0);
  EXPECT_EQ(both({"put", "orders", "--file", "-", "--lines", "--json"}, "1\n2\n").exit_code, 0);
  EXPECT_EQ(both({"put", "orders", "late", "--delay", "1h", "--ttl", "never", "--durability", "sync"}).exit_code, 0);
  EXPECT_EQ(both({"put", "orders", "once", "--key", "k", "--json"}).exit_code, 0);
  EXPECT_THAT(both({"put", "orders", "once", "--key", "k", "--json"}).out, HasSubstr("\"is_duplicate\":true"));
  EXPECT_THAT(both({"show", "orders"}).out, HasSubstr("messages    7, "));
  EXPECT_EQ(both({"peek", "orders", "--count", "3", "--json"}).exit_code, 0);
  EXPECT_EQ(both({"get", "orders", "--count", "2"}).exit_code, 0);
  EXPECT_EQ(both({"get", "orders", "--count", "32", "--text", "--delete"}).exit_code, 0);
  EXPECT_EQ(both({"get", "orders"}).exit_code, 1);
  EXPECT_THAT(both({"show", "orders", "--json"}).out, HasSubstr("\"messages\":3,"));
  EXPECT_EQ(both({"clear", "orders", "--yes", "--json"}).exit_code, 0);
  EXPECT_EQ(both({"drop", "orders", "--yes"}).exit_code, 0);
  EXPECT_EQ(both({"list"}).out, "dead\n");
  EXPECT_EQ(both({"list", "--json", "--prefix", "d"}).exit_code, 0);
}

TEST(ServedQueueOptions, AQueueThatReleasesIsMadeThroughTheServer) {
  ServedProgram server{ProgramOptions{}};
  ASSERT_TRUE(server.is_ready()) << server.err();
  const std::string store = server.data();
  for (const Words& create : {Words{"create", "jobs", "--release-on-open"}, Words{"create", "orders"}}) {
    EXPECT_EQ(run_program(queue_words(store, create)).exit_code, 0);
    EXPECT_EQ(run_program(queue_words(store, {"put", create[1], "1"})).exit_code, 0);
    EXPECT_EQ(run_program(queue_words(store, {"get", create[1], "--hold", "1h"})).exit_code, 0);
    EXPECT_EQ(run_program(queue_words(store, {"get", create[1]})).exit_code, 1);
  }
  server.signal(SIGTERM);
  EXPECT_EQ(server.finish(), 0);
  EXPECT_EQ(run_program(queue_words(store, {"get", "jobs"})).exit_code, 0);
  EXPECT_EQ(run_program(queue_words(store, {"get", "orders"})).exit_code, 1);
}

TEST_F(ServedQueues, AreListedByPages) {
  for (int number = 1; number <= 3; ++number) both({"create", "queue" + std::to_string(number), "--metadata", "N=1"});
  both({"put", "queue2", "x"});
  EXPECT_EQ(both({"list", "--long"}).out, "queue1  0\nqueue2  1\nqueue3  0\n");
  EXPECT_THAT(both({"list", "--json"}).out, HasSubstr("\"metadata\":{\"N\":\"1\"}"));
  EXPECT_EQ(both({"peek", "queue2", "--json"}).exit_code, 0);
  EXPECT_EQ(both({"peek", "queue1"}).exit_code, 1);
}

TEST_F(ServedQueues, ReceiptsOfTheServerDeleteAndUpdate) {
  both({"create", "orders"});
  both({"create", "dead"});
  both({"put", "orders", "work"});
  for (const std::string& store : {server_.data(), local_}) {
    const json got = json::parse(get(store), nullptr, false);
    ASSERT_TRUE(got.contains("receipt"));
    const std::string id = got["id"];
    const ProgramResult updated =
        run_program(queue_words(store, {"update", "orders", id, got["receipt"], "--text", "new", "--json"}));
    EXPECT_EQ(updated.exit_code, 0) << updated.err;
    const ProgramResult late = run_program(queue_words(store, {"delete", "orders", id, got["receipt"]}));
    EXPECT_EQ(late.exit_code, 1);
    EXPECT_THAT(late.err, HasSubstr("MessageNotFound"));
    const ProgramResult again =
        run_program(queue_words(store, {"get", "orders", "--deliveries-max", "1", "--dead-letter", "dead"}));
    EXPECT_EQ(again.exit_code, 1);
    const json dead = json::parse(run_program(queue_words(store, {"get", "dead", "--json"})).out, nullptr, false);
    EXPECT_EQ(dead["text"], "new");
    EXPECT_EQ(dead["origin"], "orders");
    EXPECT_EQ(run_program(queue_words(store, {"delete", "dead", id, dead["receipt"]})).exit_code, 0);
  }
}

TEST_F(ServedQueues, RefuseAsWithoutAServer) {
  both({"create", "orders"});
  const std::string id = "01234567-89ab-cdef-0123-456789abcdef";
  const std::string receipt(32, 'A');
  for (const Words& words : std::vector<Words>{{"create", "Orders"},
                                               {"create", "large", "--message-bytes", "4294967297"},
                                               {"create", "large", "--message-bytes", "1048577"},
                                               {"put", "none", "x"},
                                               {"put", "orders", std::string(65'537, 'x')},
                                               {"put", "orders", "\x01"},
                                               {"put", "orders", "x", "--delay", "8d"},
                                               {"put", "orders", "x", "--ttl", "1s", "--delay", "1m"},
                                               {"put", "orders", "x", "--key", std::string(129, 'k')},
                                               {"get", "orders", "--count", "33"},
                                               {"get", "orders", "--count", "4294967297"},
                                               {"get", "orders", "--hold", "0s"},
                                               {"get", "orders", "--hold", "9999d"},
                                               {"get", "orders", "--deliveries-max", "1", "--dead-letter", "none"},
                                               {"delete", "orders", id, receipt},
                                               {"update", "orders", id, receipt, "--hold", "8d"},
                                               {"clear", "none", "--yes"},
                                               {"drop", "none", "--yes"},
                                               {"metadata", "none", "a=1"},
                                               {"metadata", "none"},
                                               {"show", "order"},
                                               {"peek", "none"},
                                               {"peek", "orders", "--count", "33"}}) {
    EXPECT_NE(both(words).exit_code, 0) << words.front();
  }
  EXPECT_THAT(both({"show", "orders", "--json"}).out, HasSubstr("\"messages\":0,"));
}

/// The wait is longer than one request's, so the program asks twice at least.
TEST_F(ServedQueues, AWaitEndsWithTheMessageOfAnotherProgram) {
  both({"create", "orders"});
  RunningProgram waiting(queue_words(server_.data(), {"get", "orders", "--wait", "1h", "--text", "--delete"}));
  EXPECT_EQ(run_program(queue_words(server_.data(), {"get", "orders", "--wait", "2100ms"})).exit_code, 1);
  EXPECT_EQ(run_program(queue_words(server_.data(), {"put", "orders", "wake"})).exit_code, 0);
  const ProgramResult woken = waiting.finish();
  EXPECT_EQ(woken.exit_code, 0) << woken.err;
  EXPECT_EQ(woken.out, "wake\n");
}

}  // namespace
}  // namespace varve::serve::served_queue_test
