// Goal: a replaced key is refused from the next request on, in every form in which it can sign. A request that has begun
// ends with the keys of its start.
#include "api/rest/service/keyring.h"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"

namespace varve::serve::keyring_test {
namespace {

using namespace test;

std::shared_ptr<Keyring> keyring_of(std::string_view name, std::string_view keys) {
  Result<Accounts> made = Accounts::create();
  EXPECT_TRUE(made.ok() && made->add(std::string(name) + ":" + std::string(keys)).ok());
  return std::make_shared<Keyring>(*std::move(made));
}

class ReplacedKeys : public ::testing::Test {
 protected:
  std::string token(bool of_account) {
    const security::AccountCredentials signer = credentials();
    if (of_account) {
      return security::to_query(*security::sign_account_sas(SecurityBench::account_terms("sco", "rwdlacu"), signer));
    }
    return security::to_query(*security::sign_table_sas(SecurityBench::table_terms(), signer));
  }
  /// Returns the answers to a key, a table SAS and an account SAS.
  std::vector<std::string> answers() {
    return {outcome(bench_.send("GET", "Orders()")), outcome(bench_.send_by(token(false), "GET", "Orders()")),
            outcome(bench_.send_by(token(true), "GET", "Orders()"))};
  }
  ServiceBench bench_;
};

TEST_F(ReplacedKeys, AreRefusedWithAllTheirSignatures) {
  const std::vector<std::string> accepted(3, "200");
  const std::vector<std::string> refused(3, "403 AuthenticationFailed");
  EXPECT_EQ(answers(), accepted);
  EXPECT_EQ(answers(), accepted) << "the signatures are known now";
  bench_.dispatcher.replace_keys(keyring_of(kAccount, kOtherKeyText));
  EXPECT_EQ(answers(), refused);
  bench_.dispatcher.replace_keys(keyring_of(kAccount, std::string(kOtherKeyText) + ":" + std::string(kKeyText)));
  EXPECT_EQ(answers(), accepted) << "as the second key";
}

TEST_F(ReplacedKeys, OfAnAccountThatIsGoneReportTheAccount) {
  bench_.dispatcher.replace_keys(keyring_of("other", kKeyText));
  EXPECT_EQ(answers(), std::vector<std::string>(3, "404 ResourceNotFound"));
}

TEST_F(ReplacedKeys, AreRefusedForABodyThatWasAdmittedBefore) {
  HttpRequest insert = bench_.signed_request("POST", "Orders", R"({"PartitionKey":"p","RowKey":"1"})");
  EXPECT_TRUE(wait(bench_.dispatcher.admit(insert)).ok());
  bench_.dispatcher.replace_keys(keyring_of(kAccount, kOtherKeyText));
  EXPECT_EQ(outcome(bench_.send(std::move(insert))), "403 AuthenticationFailed");
}

TEST_F(ReplacedKeys, AtAnyMomentLeaveEachRequestOneKeyring) {
  constexpr int kTimes = 200;
  std::atomic<bool> ends{false};
  std::thread replacing([&] {
    for (bool is_first = false; !ends; is_first = !is_first) {
      const std::string one(is_first ? kOtherKeyText : kSecondKeyText);
      bench_.dispatcher.replace_keys(keyring_of(kAccount, one + ":" + std::string(kKeyText)));
    }
  });
  for (int i = 0; i < kTimes; ++i) {
    ASSERT_EQ(outcome(bench_.send("GET", "Orders()")), "200");
    ASSERT_EQ(outcome(bench_.send_by(token(false), "GET", "Orders()")), "200");
  }
  ends = true;
  replacing.join();
}

}  // namespace
}  // namespace varve::serve::keyring_test
