// Goal: `varve queue` does the same at the address of a queue service as in the directory of a store, as far as the
// protocol goes, and refuses the rest.
// Method: server and program run as processes. What the address shows is compared with what the directory shows.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "tests/security/security_bench.h"
#include "tests/serve/socket/served_program.h"
#include "tests/tools/run_program.h"

namespace varve::serve::queue_address_test {
namespace {

using nlohmann::json;
using test::ProgramOptions;
using test::ServedProgram;
using ::testing::HasSubstr;
using ::testing::Not;
using varve::test::ProgramResult;
using varve::test::run_program;
using varve::test::ScratchDirectory;
using Words = std::vector<std::string>;

class QueueAddress : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(server_.is_ready()) << server_.err();
    address_ = server_.address_of("queues");
    ASSERT_NE(address_, "") << server_.err();
  }

  static ProgramResult queue(const std::string& store, Words words, const std::string& input = "") {
    words.insert(words.begin(), "queue");
    words.insert(words.begin() + 2, store);
    return run_program(words, input);
  }
  ProgramResult there(const Words& words, const std::string& input = "") const { return queue(address_, words, input); }
  ProgramResult here(const Words& words) const { return queue(server_.data(), words); }
  std::string tables() const { return "http://127.0.0.1:" + std::to_string(server_.port()) + "/devstoreaccount1"; }

  const ServedProgram server_{ProgramOptions{{"--listen-queues", "127.0.0.1:0", "--listen-blobs", "127.0.0.1:0"}}};
  std::string address_;
};

TEST_F(QueueAddress, AnswersTheVerbsOnQueues) {
  EXPECT_EQ(there({"create", "orders", "--metadata", "Owner=Ann", "--json"}).exit_code, 0);
  for (const Words& again : {Words{"create", "orders"}, Words{"create", "orders", "--metadata", "Owner=Ann"}}) {
    const ProgramResult exists = there(again);
    EXPECT_EQ(exists.exit_code, 1);
    EXPECT_THAT(exists.err, HasSubstr("QueueAlreadyExists"));
  }
  EXPECT_EQ(there({"metadata", "orders"}).out, "Owner=Ann\n");
  EXPECT_EQ(there({"metadata", "orders", "a=1", "b=", "c=two words"}).exit_code, 0);
  EXPECT_EQ(here({"metadata", "orders"}).out, "a=1\nb=\nc=two words\n");
  EXPECT_EQ(there({"metadata", "orders", "--json"}).out, here({"metadata", "orders", "--json"}).out);
  EXPECT_EQ(there({"policies", "orders", "--set", "a&b", "--permissions", "p", "--start", "2026-03-03"}).exit_code, 0);
  EXPECT_EQ(there({"policies", "orders"}).out, "a&b  p  2026-03-03T00:00:00.0000000Z  -\n");
  EXPECT_EQ(here({"policies", "orders"}).out, there({"policies", "orders"}).out);
  EXPECT_EQ(there({"policies", "orders", "--clear"}).exit_code, 0);
  EXPECT_EQ(here({"policies", "orders"}).out, "");
  for (int number = 1; number <= 3; ++number) EXPECT_EQ(there({"create", "q-" + std::to_string(number)}).exit_code, 0);
  EXPECT_EQ(there({"put", "q-2", "x"}).exit_code, 0);
  EXPECT_EQ(there({"list"}).out, "orders\nq-1\nq-2\nq-3\n");
  EXPECT_EQ(there({"list", "--prefix", "q", "--long"}).out, "q-1  0\nq-2  1\nq-3  0\n");
  const json shown = json::parse(there({"show", "orders", "--json"}).out, nullptr, false);
  ASSERT_TRUE(shown.is_object());
  EXPECT_EQ(shown["metadata"]["c"], "two words");
  EXPECT_EQ(shown["messages"], 0);
  EXPECT_FALSE(shown.contains("created")) << "the protocol has no time of creation";
  EXPECT_EQ(there({"drop", "q-1", "--yes"}).exit_code, 0);
  EXPECT_EQ(there({"drop", "q-2", "--yes", "--json"}).exit_code, 0);
  EXPECT_EQ(here({"list"}).out, "orders\nq-3\n");
  const ProgramResult absent = there({"show", "order"});
  EXPECT_EQ(absent.exit_code, 1);
  EXPECT_THAT(absent.err, HasSubstr("did you mean queue `orders`?"));
}

TEST_F(QueueAddress, CarriesMessagesWithoutAChangedCharacter) {
  ASSERT_EQ(there({"create", "orders"}).exit_code, 0);
  const Words texts = {"\xC3\xA4 \"&<]]>", "", " ", "  \t two\r\nlines \n", "<b>x</b>"};
  for (const std::string& text : texts) EXPECT_EQ(there({"put", "orders", "--file", "-"}, text).exit_code, 0);
  EXPECT_EQ(there({"put", "orders", "--file", "-", "--lines"}, "1\n2\n").exit_code, 0);
  EXPECT_EQ(there({"peek", "orders", "--count", "32", "--json"}).exit_code, 0);
  EXPECT_EQ(there({"peek", "orders", "--count", "32", "--text"}).out,
            here({"peek", "orders", "--count", "32", "--text"}).out);
  for (const std::string& text : texts) {
    const json got = json::parse(there({"get", "orders", "--hold", "1h", "--json"}).out, nullptr, false);
    ASSERT_TRUE(got.is_object());
    EXPECT_EQ(got["text"], text);
    EXPECT_EQ(got["deliveries"], 1);
    EXPECT_EQ(there({"delete", "orders", got["id"], got["receipt"], "--json"}).exit_code, 0);
  }
  EXPECT_EQ(there({"get", "orders", "--count", "32", "--text", "--delete"}).out, "1\n2\n");
  EXPECT_EQ(there({"get", "orders"}).exit_code, 1);
  EXPECT_THAT(there({"put", "orders", "--file", "-"}, "\x01").err, HasSubstr("InvalidXmlDocument"));
  const ProgramResult long_text = there({"put", "orders", "--file", "-"}, std::string(65'537, 'x'));
  EXPECT_EQ(long_text.exit_code, 1);
  EXPECT_THAT(long_text.err, HasSubstr("65536"));
}

TEST_F(QueueAddress, HidesUpdatesAndExpiresMessages) {
  ASSERT_EQ(there({"create", "orders"}).exit_code, 0);
  EXPECT_EQ(there({"put", "orders", "late", "--delay", "1h", "--ttl", "never"}).exit_code, 0);
  EXPECT_EQ(there({"peek", "orders"}).exit_code, 1);
  EXPECT_THAT(there({"show", "orders"}).out, HasSubstr("messages    1\n"));
  EXPECT_EQ(there({"clear", "orders", "--yes", "--json"}).exit_code, 0);
  EXPECT_EQ(there({"put", "orders", "work", "--ttl", "never"}).exit_code, 0);
  const json got = json::parse(there({"get", "orders", "--hold", "1h", "--json"}).out, nullptr, false);
  ASSERT_TRUE(got.is_object());
  EXPECT_TRUE(got["expires"].is_null());
  EXPECT_EQ(there({"update", "orders", got["id"], got["receipt"], "--text", "new", "--json"}).exit_code, 0);
  const ProgramResult late = there({"delete", "orders", got["id"], got["receipt"]});
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_THAT(late.err, HasSubstr("MessageNotFound"));
  EXPECT_EQ(there({"peek", "orders", "--text"}).out, "new\n");
  EXPECT_EQ(there({"put", "orders", "once", "--key", "k"}).exit_code, 0);
  EXPECT_THAT(there({"put", "orders", "once", "--key", "k", "--json"}).out, HasSubstr("\"is_duplicate\":true"));
  EXPECT_EQ(there({"get", "orders", "--wait", "1s", "--count", "32", "--delete", "--text"}).out, "new\nonce\n");
}

TEST_F(QueueAddress, RefusesWhatTheProtocolCannotSay) {
  ASSERT_EQ(there({"create", "orders"}).exit_code, 0);
  const struct {
    Words words;
    std::string part;
  } refusals[] = {{{"create", "big", "--message-bytes", "100000"}, "--message-bytes"},
                  {{"create", "jobs", "--release-on-open"}, "--release-on-open"},
                  {{"put", "orders", "x", "--delay", "1500ms"}, "--delay with a fraction of a second"},
                  {{"put", "orders", "x", "--ttl", "1500ms"}, "--ttl with a fraction of a second"},
                  {{"put", "orders", "x", "--key", "k", "--key-window", "1h"}, "--key-window"},
                  {{"get", "orders", "--hold", "1500ms"}, "--hold with a fraction of a second"},
                  {{"get", "orders", "--deliveries-max", "2", "--dead-letter", "dead"}, "varve serve --dead-letter"}};
  for (const auto& refusal : refusals) {
    const ProgramResult refused = there(refusal.words);
    EXPECT_EQ(refused.exit_code, 1) << refusal.part;
    EXPECT_THAT(refused.err, HasSubstr(refusal.part));
    EXPECT_THAT(refused.err, HasSubstr("hint: ")) << refusal.part;
  }
  EXPECT_EQ(here({"list"}).out, "orders\n");
  EXPECT_EQ(here({"peek", "orders"}).exit_code, 1) << "nothing was put";
}

TEST_F(QueueAddress, NamesTheServiceThatAnswersInsteadAndExplainsAWrongKey) {
  for (const std::string& wrong : {tables(), server_.address_of("blobs")}) {
    for (const Words& words : {Words{"list"}, Words{"create", "orders"}, Words{"put", "orders", "x"}}) {
      const ProgramResult refused = queue(wrong, words);
      EXPECT_EQ(refused.exit_code, 1) << wrong;
      EXPECT_THAT(refused.err, HasSubstr(" service answers at this address; the verb needs a queue service")) << wrong;
      EXPECT_THAT(refused.err, HasSubstr("--listen-queues"));
    }
  }
  EXPECT_THAT(run_program({"table", "list", address_}).err,
              HasSubstr("a queue service answers at this address; the verb needs a table service"));
  EXPECT_EQ(there({"list"}).out, "") << "nothing was created";

  const ScratchDirectory scratch;
  const std::string key = scratch.file("key", "d3Jvbmc=\n");
  ASSERT_EQ(::chmod(key.c_str(), 0600), 0);
  const ProgramResult refused = there({"list", "--key-file", key});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("AuthenticationFailed"));
  EXPECT_THAT(refused.err, HasSubstr("hint: the key or the signature is not one of account devstoreaccount1"));
  EXPECT_THAT(refused.err, Not(HasSubstr("d3Jvbmc")));
  const ProgramResult behind = queue(address_ + "/orders", {"list"});
  EXPECT_EQ(behind.exit_code, 1);
  EXPECT_THAT(behind.err, HasSubstr("no key for account orders"));
  EXPECT_THAT(behind.err, HasSubstr("hint: an address is http(s)://HOST[:PORT][/ACCOUNT]"));
  const ProgramResult other = there({"list", "--account", "shopaccount"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("are of account devstoreaccount1, not of shopaccount"));
  const std::string plain = address_.substr(0, address_.rfind('/'));
  EXPECT_EQ(queue(plain, {"list"}).exit_code, 0) << "the development account is the default";
  EXPECT_EQ(queue("http://127.0.0.1:1", {"list"}).exit_code, 4);
  EXPECT_EQ(queue("http://", {"list"}).exit_code, 1);
}

TEST_F(QueueAddress, TakesASignatureOfTheAccount) {
  ASSERT_EQ(there({"create", "orders"}).exit_code, 0);
  ASSERT_EQ(there({"put", "orders", "x"}).exit_code, 0);
  security::AccountSasTerms terms;
  terms.services = "q";
  terms.resource_types = "sco";
  terms.permissions = "rl";
  terms.expiry = varve::test::at("2100-01-01T00:00:00Z");
  const auto token = security::sign_account_sas(terms, varve::test::credentials(varve::test::kKeyText, {}));
  ASSERT_TRUE(token.ok());
  const std::string signed_address = address_ + "?" + security::to_query(*token);
  EXPECT_EQ(queue(signed_address, {"list"}).out, "orders\n");
  EXPECT_EQ(queue(signed_address, {"peek", "orders", "--text"}).out, "x\n");
  const ProgramResult refused = queue(signed_address, {"drop", "orders", "--yes"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("AuthorizationPermissionMismatch"));
  EXPECT_THAT(refused.err, Not(HasSubstr("sig=")));
}

}  // namespace
}  // namespace varve::serve::queue_address_test
