// Goal: a cached signature gives the result of its verification. Each use is still checked for time, arrival, policy,
// account and keys. A similar signature is not found in the cache.
#include "api/rest/service/known_signatures.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"
#include "tests/support/allocation_counter.h"

namespace varve::serve::known_signatures_test {
namespace {

using namespace test;
using security::Session;

class SignaturesKnown : public ::testing::Test {
 protected:
  Result<Session> open(const std::string& query, const security::Arrival& arrival = {}) {
    const Result<security::VerifiedSignature> signature = known_.verify(kAccount, query);
    if (!signature.ok()) return signature.status();
    return Session::open(bench_.store(), *signature, arrival, bench_.clock());
  }
  std::uint64_t allocations_of(const std::string& query) {
    const std::uint64_t before = allocation_count();
    EXPECT_TRUE(known_.verify(kAccount, query).ok());
    return allocation_count() - before;
  }

  SecurityBench bench_;
  const Accounts accounts_ = accounts();
  KnownSignatures known_{accounts_};
};

TEST_F(SignaturesKnown, TheSecondTimeItIsNotVerifiedAgain) {
  for (const std::string& token :
       {bench_.token(SecurityBench::table_terms()), bench_.token(SecurityBench::account_terms("sco", "rwdlacu"))}) {
    EXPECT_GT(allocations_of(token), 5u);
    EXPECT_EQ(allocations_of(token), 0u);
    EXPECT_TRUE((*(*open(token)).table("Orders")).get("eu", "0001").ok());
  }
}

TEST_F(SignaturesKnown, ItEndsWithItsTime) {
  for (const std::string& token :
       {bench_.token(SecurityBench::table_terms()), bench_.token(SecurityBench::account_terms("sco", "rwdlacu"))}) {
    *bench_.time = kPresent;
    ASSERT_TRUE(open(token).ok());
    *bench_.time = at("2026-03-04T00:00:00Z");
    EXPECT_EQ(said(open(token)), kAuthenticationFailed);
  }
}

TEST_F(SignaturesKnown, ItEndsWithItsPolicy) {
  AccessPolicy policy{"one"};
  policy.permissions = *Permissions::parse("r");
  policy.expiry = at("2026-03-04T00:00:00Z");
  ASSERT_TRUE(bench_.store().set_access_policies(kAccount, "Orders", std::vector{policy}).ok());
  security::TableSasTerms terms;
  terms.table = "Orders";
  terms.policy = "one";
  const std::string token = bench_.token(terms);
  ASSERT_TRUE(open(token).ok());
  ASSERT_TRUE(bench_.store().set_access_policies(kAccount, "Orders", {}).ok());
  EXPECT_EQ(said(open(token)), kAuthenticationFailed);
}

TEST_F(SignaturesKnown, WhereItMayComeFromIsAskedEachTime) {
  security::TableSasTerms terms = SecurityBench::table_terms();
  terms.addresses = "203.0.113.5";
  terms.https_only = true;
  const std::string token = bench_.token(terms);
  EXPECT_TRUE(open(token, {"203.0.113.5", true}).ok());
  EXPECT_EQ(said(open(token, {"203.0.113.6", true})), kSourceIpMismatch);
  EXPECT_EQ(said(open(token, {"203.0.113.5", false})), kProtocolMismatch);
}

TEST_F(SignaturesKnown, AnotherAccountOrOtherKeysDoNotKnowIt) {
  const std::string token = bench_.token(SecurityBench::account_terms("sco", "rwdlacu"));
  ASSERT_TRUE(known_.verify(kAccount, token).ok());
  EXPECT_EQ(said(known_.verify("nobody", token)), kAuthenticationFailed);
  Result<Accounts> others = Accounts::create();
  ASSERT_TRUE(others.ok() && others->add(std::string(kAccount) + ":" + std::string(kOtherKeyText)).ok());
  EXPECT_EQ(said(KnownSignatures(*others).verify(kAccount, token)), kAuthenticationFailed);
}

TEST_F(SignaturesKnown, WhatIsNearlyItIsRefused) {
  const std::string token = bench_.token(SecurityBench::table_terms("r"));
  ASSERT_TRUE(known_.verify(kAccount, token).ok());
  const std::size_t permissions = token.find("sp=r");
  ASSERT_NE(permissions, std::string::npos);
  std::string more = token;
  more.replace(permissions, 4, "sp=d");
  EXPECT_EQ(said(known_.verify(kAccount, more)), kAuthenticationFailed);
  EXPECT_EQ(said(known_.verify(kAccount, token + "&sp=d")), kAuthenticationFailed);
  EXPECT_EQ(said(known_.verify(kAccount, token + "&tn=Other")), kAuthenticationFailed);
  EXPECT_EQ(said(known_.verify(kAccount, token.substr(0, token.size() - 1))), kAuthenticationFailed);
  EXPECT_EQ(said(known_.verify(kAccount, "")), kNoAuthenticationInformation);
  EXPECT_EQ(allocations_of(token), 0u);
}

TEST_F(SignaturesKnown, ThoseThatDriveEachOtherOutAreVerifiedAgain) {
  const std::string token = bench_.token(SecurityBench::table_terms("r"));
  for (int i = 0; i < 2000; ++i) {
    ASSERT_TRUE(open(token + "&$top=" + std::to_string(i)).ok());
    ASSERT_TRUE(i % 100 != 0 || open(token).ok());
  }
  EXPECT_GT(allocations_of(token + "&$top=0"), 0u);  // 2,000 signatures exceed the slots.
  const std::string with_much_more = token + "&$filter=" + std::string(600, 'x');
  EXPECT_GT(allocations_of(with_much_more), 0u);
  EXPECT_GT(allocations_of(with_much_more), 0u);  // It is not cached.
}

}  // namespace
}  // namespace varve::serve::known_signatures_test
