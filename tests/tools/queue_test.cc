// Goal: `varve queue` does what the verbs of queues do, prints what a script needs, and refuses bad input by name.
// Method: the program works on a store as a user does. What one verb prints is the input of the next one.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/tools/run_program.h"
#include "varve/store.h"

namespace varve::queue_test {
namespace {

using nlohmann::json;
using test::ProgramResult;
using test::run_program;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class QueueVerbs : public ::testing::Test {
 protected:
  void SetUp() override { EXPECT_EQ(queue({"create", store_, "orders"}).exit_code, 0); }

  static ProgramResult queue(Words words, const std::string& input = "") {
    words.insert(words.begin(), "queue");
    return run_program(words, input);
  }
  /// Puts a message. Returns its id and receipt.
  Words put(const std::string& text) const {
    const ProgramResult sent = queue({"put", store_, "orders", text});
    EXPECT_EQ(sent.exit_code, 0) << sent.err;
    std::istringstream words(sent.out);
    Words both(2);
    words >> both[0] >> both[1];
    return both;
  }
  std::uint64_t messages(const std::string& name = "orders") const {
    return json::parse(queue({"show", store_, name, "--json"}).out, nullptr, false).value("messages", 999U);
  }
  static json parsed(const ProgramResult& result) { return json::parse(result.out, nullptr, false); }

  test::ScratchDirectory scratch_;
  const std::string store_ = scratch_.path("store");
};

TEST_F(QueueVerbs, AreCreatedListedShownAndDropped) {
  EXPECT_EQ(queue({"create", store_, "mail", "--metadata", "Owner=Ann", "--metadata", "Note=a=b"}).exit_code, 0);
  const ProgramResult again = queue({"create", store_, "mail"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.err, HasSubstr("exists"));
  EXPECT_EQ(queue({"list", store_}).out, "mail\norders\n");
  EXPECT_EQ(queue({"list", store_, "--prefix", "o", "--long"}).out, "orders  0\n");
  const json listed = parsed(queue({"list", store_, "--json", "--prefix", "mail"}));
  EXPECT_EQ(listed["name"], "mail");
  EXPECT_EQ(listed["metadata"], (json{{"Owner", "Ann"}, {"Note", "a=b"}}));
  EXPECT_THAT(queue({"show", store_, "mail"}).out,
              AllOf(HasSubstr("queue       mail\n"), HasSubstr("messages    0"), HasSubstr("metadata    Note=a=b\n")));
  EXPECT_EQ(queue({"metadata", store_, "mail"}).out, "Owner=Ann\nNote=a=b\n");
  EXPECT_EQ(parsed(queue({"metadata", store_, "mail", "Only=1", "--json"}))["changed"], true);
  EXPECT_EQ(queue({"metadata", store_, "mail"}).out, "Only=1\n");
  EXPECT_EQ(queue({"metadata", store_, "mail", "--clear"}).exit_code, 0);
  EXPECT_EQ(queue({"metadata", store_, "mail", "--json"}).out, "{}\n");
  EXPECT_EQ(queue({"drop", store_, "mail", "--yes"}).exit_code, 0);
  EXPECT_EQ(queue({"list", store_}).out, "orders\n");
  EXPECT_EQ(queue({"create", store_, "orders", "--account", "other"}).exit_code, 0);
  EXPECT_EQ(queue({"list", store_, "--account", "other"}).out, "orders\n");
}

TEST_F(QueueVerbs, AreCountedByTheVerbsOnAWholeStore) {
  put("456");
  ASSERT_EQ(queue({"create", store_, "mail", "--account", "other"}).exit_code, 0);
  EXPECT_THAT(run_program({"verify", store_}).out, HasSubstr("queues    2, 1 message\n"));
  EXPECT_EQ(parsed(run_program({"verify", store_, "--json"}))["messages"], 1);
  EXPECT_THAT(run_program({"stats", store_}).out, HasSubstr("2 accounts, 0 tables, 2 queues\n"));
  EXPECT_EQ(parsed(run_program({"stats", store_, "--json"}))["queues"], 2);
  EXPECT_EQ(run_program({"account", "drop", store_, "other", "--yes"}).exit_code, 0);
  EXPECT_EQ(parsed(run_program({"stats", store_, "--json"}))["queues"], 1);
}

TEST_F(QueueVerbs, DeliverAMessageOnceUntilItsHoldEnds) {
  const Words sent = put("456");
  EXPECT_EQ(queue({"peek", store_, "orders", "--text"}).out, "456\n");
  const json got = parsed(queue({"get", store_, "orders", "--hold", "1h", "--json"}));
  EXPECT_EQ(got["text"], "456");
  EXPECT_EQ(got["id"], sent[0]);
  EXPECT_EQ(got["deliveries"], 1);
  EXPECT_NE(got["receipt"], sent[1]);
  const ProgramResult none = queue({"get", store_, "orders"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.out, "");
  EXPECT_THAT(none.err, HasSubstr("no visible message"));
  const ProgramResult late = queue({"delete", store_, "orders", sent[0], sent[1]});
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_THAT(late.err, AllOf(HasSubstr("MessageNotFound"), HasSubstr("replaced the receipt")));

  const std::string receipt = got["receipt"].get<std::string>();
  const ProgramResult updated = queue({"update", store_, "orders", sent[0], receipt, "--text", "457"});
  EXPECT_EQ(updated.exit_code, 0) << updated.err;
  EXPECT_THAT(queue({"peek", store_, "orders"}).out,
              AllOf(HasSubstr("text        457\n"), HasSubstr("deliveries  1\n")));
  const std::string newest = updated.out.substr(0, updated.out.size() - 1);
  EXPECT_EQ(parsed(queue({"delete", store_, "orders", sent[0], newest, "--json"}))["deleted"], true);
  EXPECT_EQ(messages(), 0U);
}

TEST_F(QueueVerbs, AnOpenReleasesTheHeldMessagesOfAQueueThatAsksForIt) {
  EXPECT_EQ(queue({"create", store_, "jobs", "--release-on-open"}).exit_code, 0);
  for (const std::string name : {"jobs", "orders"}) {
    EXPECT_EQ(queue({"put", store_, name, "1"}).exit_code, 0);
    EXPECT_EQ(queue({"get", store_, name, "--hold", "1h"}).exit_code, 0);
  }
  EXPECT_EQ(parsed(queue({"get", store_, "jobs", "--hold", "1h", "--json"}))["deliveries"], 2);
  EXPECT_EQ(queue({"get", store_, "orders"}).exit_code, 1);
}

TEST_F(QueueVerbs, ShowAndChangeAccessPolicies) {
  EXPECT_EQ(queue({"policies", store_, "orders"}).out, "");
  EXPECT_EQ(queue({"policies", store_, "orders", "--set", "workers", "--permissions", "pr", "--expiry", "2027-01-01"})
                .exit_code,
            0);
  EXPECT_EQ(parsed(queue({"policies", store_, "orders", "--set", "id alone", "--json"}))["changed"], true);
  EXPECT_EQ(queue({"policies", store_, "orders"}).out,
            "workers  rp  -  2027-01-01T00:00:00.0000000Z\nid alone  -  -  -\n");
  EXPECT_EQ(queue({"policies", store_, "orders", "--set", "workers", "--start", "2026-03-03T10:20Z"}).exit_code, 0);
  EXPECT_EQ(queue({"policies", store_, "orders", "--json"}).out,
            R"([{"id":"workers","start":"2026-03-03T10:20:00.0000000Z"},{"id":"id alone"}])"
            "\n");
  EXPECT_EQ(queue({"policies", store_, "orders", "--remove", "id alone"}).exit_code, 0);
  EXPECT_EQ(queue({"policies", store_, "orders"}).out, "workers  -  2026-03-03T10:20:00.0000000Z  -\n");
  EXPECT_EQ(queue({"policies", store_, "orders", "--clear"}).exit_code, 0);
  EXPECT_EQ(queue({"policies", store_, "orders", "--json"}).out, "[]\n");
}

TEST_F(QueueVerbs, TakeTextsFromFilesAndLinesAndPrintThemBack) {
  EXPECT_EQ(queue({"put", store_, "orders", "--file", scratch_.file("text", "two\nlines\n")}).exit_code, 0);
  EXPECT_EQ(queue({"put", store_, "orders", "--file", "-"}, "\xC3\xA4").exit_code, 0);
  EXPECT_EQ(queue({"put", store_, "orders", ""}).exit_code, 0);
  const ProgramResult lines = queue({"put", store_, "orders", "--file", "-", "--lines", "--json"}, "a\nb\n\nc");
  EXPECT_EQ(test::count_of(lines.out, "\"receipt\""), 4U);
  EXPECT_EQ(messages(), 7U);
  EXPECT_EQ(queue({"get", store_, "orders", "--count", "32", "--delete", "--text"}).out,
            "two\nlines\n\n\xC3\xA4\n\na\nb\n\nc\n");
  EXPECT_EQ(messages(), 0U);
  const ProgramResult refused = queue({"put", store_, "orders", "--file", "-", "--lines"}, "good\nb\x01d\nnever\n");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("line 2"));
  EXPECT_EQ(messages(), 1U) << "the lines before it are messages";
}

TEST_F(QueueVerbs, DeleteNothingThatCouldNotBePrinted) {
  put("456");
  const ProgramResult lost =
      run_program({"queue", "get", store_, "orders", "--delete", "--hold", "1h"}, "", {.full_output = true});
  EXPECT_EQ(lost.exit_code, 4) << lost.err;
  EXPECT_EQ(messages(), 1U);
}

TEST_F(QueueVerbs, KeepTheTimesThatWereGiven) {
  EXPECT_EQ(queue({"put", store_, "orders", "later", "--delay", "1h", "--ttl", "never"}).exit_code, 0);
  EXPECT_EQ(queue({"get", store_, "orders"}).exit_code, 1);
  EXPECT_EQ(messages(), 1U);
  EXPECT_EQ(queue({"put", store_, "orders", "soon", "--delay", "1500ms"}).exit_code, 0);
  const json got = parsed(queue({"get", store_, "orders", "--wait", "1h", "--json"}));
  EXPECT_EQ(got["text"], "soon");
  EXPECT_EQ(queue({"clear", store_, "orders", "--yes"}).exit_code, 0);
  EXPECT_EQ(queue({"put", store_, "orders", "kept", "--ttl", "never"}).exit_code, 0);
  EXPECT_THAT(queue({"peek", store_, "orders"}).out, HasSubstr("expires     never\n"));
  EXPECT_EQ(parsed(queue({"peek", store_, "orders", "--json"}))["expires"], nullptr);
}

TEST_F(QueueVerbs, StoreOneMessageOfAKey) {
  const ProgramResult first = queue({"put", store_, "orders", "a", "--key", "order-7", "--json"});
  const ProgramResult second = queue({"put", store_, "orders", "b", "--key", "order-7", "--json"});
  EXPECT_EQ(parsed(first)["is_duplicate"], false);
  EXPECT_EQ(parsed(second)["is_duplicate"], true);
  EXPECT_EQ(parsed(second)["id"], parsed(first)["id"]);
  EXPECT_EQ(messages(), 1U);
}

TEST_F(QueueVerbs, BuryWhatWasDeliveredTooOften) {
  ASSERT_EQ(queue({"create", store_, "dead"}).exit_code, 0);
  put("poison");
  EXPECT_EQ(queue({"get", store_, "orders", "--hold", "1ms"}).exit_code, 0);
  const Words bury{"get", store_, "orders", "--deliveries-max", "1", "--dead-letter", "dead", "--wait", "1s"};
  EXPECT_EQ(queue(bury).exit_code, 1);
  EXPECT_EQ(parsed(queue({"peek", store_, "dead", "--json"}))["origin"], "orders");
  EXPECT_EQ(messages(), 0U);
}

TEST_F(QueueVerbs, NameTheProgramThatHasTheStoreOpen) {
  put("456");
  const Result<std::unique_ptr<Store>> holder = Store::open(store_);
  ASSERT_TRUE(holder.ok());
  for (const Words& words : {Words{"put", store_, "orders", "457"}, Words{"get", store_, "orders"},
                             Words{"peek", store_, "orders"}, Words{"create", store_, "other"}}) {
    const ProgramResult refused = queue(words);
    EXPECT_EQ(refused.exit_code, 4) << words.front();
    EXPECT_THAT(refused.err, HasSubstr("process " + std::to_string(::getpid()))) << words.front();
  }
}

TEST_F(QueueVerbs, TakeTheStoreOfTheEnvironment) {
  put("456");
  ::setenv("VARVE_STORE", store_.c_str(), 1);
  EXPECT_EQ(queue({"list", "--long"}).out, "orders  1\n");
  EXPECT_EQ(queue({"put", "orders", "457"}).exit_code, 0);
  EXPECT_EQ(queue({"metadata", "orders", "a=1"}).exit_code, 0);
  // A first word with a slash is the store, although the other words also fit the queue and what follows it.
  EXPECT_EQ(queue({"metadata", store_, "orders"}).out, "a=1\n");
  const ProgramResult no_text = queue({"put", store_, "orders"});
  EXPECT_EQ(no_text.exit_code, 2) << "orders is no text";
  EXPECT_EQ(queue({"get", "orders", "--count", "2", "--text"}).out, "456\n457\n");
  ::unsetenv("VARVE_STORE");
}

TEST_F(QueueVerbs, TellAQueueFromATable) {
  ASSERT_EQ(run_program({"table", "create", store_, "Mail"}).exit_code, 0);
  const ProgramResult table = queue({"peek", store_, "mail"});
  EXPECT_EQ(table.exit_code, 1);
  EXPECT_THAT(table.err, HasSubstr("mail is a table"));
  for (const Words& words : {Words{"count", store_, "orders"}, Words{"export", store_, "orders"},
                             Words{"table", "drop", store_, "orders"}}) {
    const ProgramResult found = run_program(words);
    EXPECT_EQ(found.exit_code, 1) << words.front();
    EXPECT_THAT(found.err, HasSubstr("orders is a queue; `varve queue` has its verbs")) << words.front();
  }
}

// -- Bad input --------------------------------------------------------------------------------------------------------

struct Refusal {
  Words words;
  int exit_code;
  const char* part;
};

TEST_F(QueueVerbs, RefuseBadInputByName) {
  const std::string id = "01234567-89ab-cdef-0123-456789abcdef";
  const std::string receipt(32, 'A');
  const std::vector<Refusal> refusals = {
      {{"create", store_, "ab"}, 1, "3"},
      {{"create", store_, "Orders"}, 1, "'Orders'"},
      {{"create", store_, "orders2", "--metadata", "Owner"}, 1, "NAME=VALUE"},
      {{"create", store_, "orders2", "--metadata", "1=x"}, 1, "1"},
      {{"create", store_, "orders2", "--message-bytes", "0"}, 2, "--message-bytes"},
      {{"create", store_, "orders2", "--message-bytes", "1048577"}, 1, "1048576"},
      {{"metadata", store_, "orders", "a=1", "--clear"}, 2, "--clear"},
      {{"metadata", store_, "orders", "a=1", "A=2"}, 1, "A"},
      {{"policies", store_, "orders", "--set", "a", "--clear"}, 2, "one of --set, --remove and --clear"},
      {{"policies", store_, "orders", "--permissions", "r"}, 2, "need --set"},
      {{"policies", store_, "orders", "--set", "a", "--permissions", "d"}, 1, "raup"},
      {{"policies", store_, "orders", "--set", "a", "--expiry", "soon"}, 1, "--expiry"},
      {{"policies", store_, "orders", "--set", std::string(65, 'a')}, 1, "64"},
      {{"policies", store_, "orders", "--remove", "a"}, 1, "there is no access policy a"},
      {{"policies", store_, "order"}, 1, "did you mean queue `orders`?"},
      {{"show", store_, "order"}, 1, "did you mean queue `orders`?"},
      {{"show", store_, "orders", "--account", "none"}, 1, "none"},
      {{"list", scratch_.path("absent")}, 1, "absent"},
      {{"list", "http://127.0.0.1:1"}, 4, "no answer from http://127.0.0.1:1"},
      {{"put", store_, "orders"}, 2, "--file"},
      {{"put", store_, "orders", "text", "--lines"}, 2, "--lines needs --file"},
      {{"put", store_, "orders", "text", "--file", "-"}, 2, "--file"},
      {{"put", store_, "orders", "--file", scratch_.path("absent")}, 4, "absent"},
      {{"put", store_, "orders", "x", "--delay", "5"}, 2, "must be a whole number with a unit"},
      {{"put", store_, "orders", "x", "--delay", "never"}, 2, "--delay"},
      {{"put", store_, "orders", "x", "--delay", "8d"}, 1, "7"},
      {{"put", store_, "orders", "x", "--delay", "99999999999999999999d"}, 2, "--delay"},
      {{"put", store_, "orders", "x", "--ttl", "1.5s"}, 2, "or never"},
      {{"put", store_, "orders", std::string(65'537, 'x')}, 1, "65536"},
      {{"put", store_, "orders", "\xff"}, 1, ""},
      {{"get", store_, "orders", "--count", "33"}, 1, "32"},
      {{"get", store_, "orders", "--count", "0"}, 2, "--count"},
      {{"get", store_, "orders", "--hold", "0s"}, 1, ""},
      {{"get", store_, "orders", "--deliveries-max", "2"}, 2, "--dead-letter"},
      {{"get", store_, "orders", "--dead-letter", "orders"}, 2, "--deliveries-max"},
      {{"get", store_, "orders", "--deliveries-max", "2", "--dead-letter", "order"}, 1, "did you mean queue `orders`?"},
      {{"get", store_, "orders", "--text", "--json"}, 2, "--text"},
      {{"delete", store_, "orders", "id", receipt}, 1, "ID \"id\""},
      {{"delete", store_, "orders", id, "receipt"}, 1, "RECEIPT \"receipt\""},
      {{"delete", store_, "orders", id, receipt}, 1, ""},
      {{"update", store_, "orders", id, receipt, "--hold", "8d"}, 1, ""},
      {{"drop", store_, "orders"}, 2, "--yes"},
      {{"clear", store_, "orders"}, 2, "--yes"},
      {{"drop", store_, "orders2", "--yes"}, 1, "did you mean queue `orders`?"},
      {{"dorp", store_, "orders"}, 2, "did you mean `varve queue drop`?"},
  };
  for (const Refusal& refusal : refusals) {
    const ProgramResult result = queue(refusal.words);
    std::string line;
    for (const std::string& word : refusal.words) line += word.substr(0, 60) + " ";
    EXPECT_EQ(result.exit_code, refusal.exit_code) << line << result.err;
    EXPECT_EQ(result.out, "") << line;
    EXPECT_THAT(result.err, AllOf(HasSubstr("varve"), HasSubstr(refusal.part))) << line;
  }
  EXPECT_EQ(queue({"list", store_}).out, "orders\n");
  EXPECT_EQ(messages(), 0U);
}

}  // namespace
}  // namespace varve::queue_test
