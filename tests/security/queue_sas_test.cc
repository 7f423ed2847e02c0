// Goal: queue signatures are those of the specification, shown by its own vectors, and permit what they say.
// Method: each vector is signed and verified. Then each signed part is changed, and the signature must be refused.
#include "varve/security/queue_sas.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/security/security_bench.h"
#include "varve/queue.h"

namespace varve::security::queue_sas_test {
namespace {

using namespace test;

constexpr std::string_view kStart = "2026-03-03T00:00:00Z";
constexpr std::string_view kExpiry = "2026-03-04T00:00:00Z";
constexpr std::string_view kQueue = "orders";

QueueSas fields(std::string_view version, std::string_view permissions, std::string_view start = "",
                std::string_view expiry = "") {
  QueueSas sas;
  sas.sv = version;
  sas.sp = permissions;
  sas.st = start;
  sas.se = expiry;
  return sas;
}

struct Vector {
  std::string name;
  QueueSas sas;
  std::string text;
  std::string signature;
};

std::vector<Vector> vectors() {
  const std::string resource = "/devstoreaccount1/orders";
  const std::string times = std::string(kStart) + "\n" + std::string(kExpiry) + "\n";
  QueueSas newest = fields("2021-12-02", "raup", kStart, kExpiry);
  newest.spr = "https,http";
  QueueSas by_policy = fields("2021-12-02", "");
  by_policy.si = "workers";
  return {
      {"QT-1", fields("2012-02-12", "raup", kStart, kExpiry), "raup\n" + times + resource + "\n\n2012-02-12",
       "pN/U3UJ9zxGQNE/a9bfTRYvrvr6GIIWoBi100E9PLXE="},
      {"QT-2", fields("2015-02-21", "r", "", kExpiry),
       "r\n\n" + std::string(kExpiry) + "\n/queue" + resource + "\n\n2015-02-21",
       "E9rYQDFhIFMLn3P06A15D36DMymlc7YwwmdgSg3nzgk="},
      {"QT-3", newest, "raup\n" + times + "/queue" + resource + "\n\n\nhttps,http\n2021-12-02",
       "qH+/ysNOHcqCzsFRtQEUur+pTzLJTP/UahnsW8jjRQY="},
      {"QT-4", by_policy, "\n\n\n/queue" + resource + "\nworkers\n\n\n2021-12-02",
       "E16IFyBaii90ipqP+I+RZTDp991Uuc3R3lnK/ELo10Y="},
  };
}

TEST(QueueSas, QS11_SignsTheTextOfTheSpecification) {
  for (const Vector& vector : vectors()) {
    EXPECT_EQ(string_to_sign(vector.sas, kAccount, kQueue), vector.text) << vector.name;
    EXPECT_EQ(*credentials().keys.sign(vector.text, KeyChoice::kPrimary), vector.signature) << vector.name;
    QueueSas signed_sas = vector.sas;
    signed_sas.sig = vector.signature;
    EXPECT_TRUE(verify_queue_sas(signed_sas, credentials(), kQueue).ok()) << vector.name;
    const Result<QueueSas> read = parse_queue_sas(to_query(signed_sas));
    EXPECT_TRUE(read.ok() && *read == signed_sas) << vector.name;
  }
}

TEST(QueueSas, QS11_QS13_EveryChangedPartIsRefused) {
  for (const Vector& vector : vectors()) {
    QueueSas sas = vector.sas;
    sas.sig = vector.signature;
    EXPECT_EQ(said(verify_queue_sas(sas, credentials(), "other").status()), kAuthenticationFailed) << vector.name;
    for (std::string QueueSas::*field : {&QueueSas::sp, &QueueSas::st, &QueueSas::se, &QueueSas::si, &QueueSas::sig}) {
      QueueSas changed = sas;
      (changed.*field).append("x");
      EXPECT_EQ(said(verify_queue_sas(changed, credentials(), kQueue).status()), kAuthenticationFailed) << vector.name;
    }
  }
}

TEST(QueueSas, QS10_QT5_QT6_AnAccountSignatureForQueuesIsTheVector) {
  for (const auto& [version, signature] : std::vector<std::pair<std::string, std::string>>{
           {"2021-12-02", "6CaMZNQR1IoihG+9qCDtGMjXfgoGnnvhDXB4yITAKqs="},
           {"2019-02-02", "jTQDA+tVIIEsCCRJtBEna60puZ0A/TLYMqc91MJ89sU="}}) {
    AccountSas sas;
    sas.sv = version;
    sas.ss = "q";
    sas.srt = "sco";
    sas.sp = "rwdlacup";
    sas.se = kExpiry;
    sas.sig = signature;
    EXPECT_TRUE(verify_account_sas(sas, credentials(), StorageService::kQueues).ok()) << version;
    EXPECT_EQ(said(verify_account_sas(sas, credentials()).status()), kServiceMismatch) << version;
  }
}

TEST(QueueSas, QS11_OldVersionsHaveNoAddressesAndProtocols) {
  QueueSas sas = fields("2015-02-21", "r", "", kExpiry);
  sas.spr = "https";
  sas.sig = *credentials().keys.sign(string_to_sign(sas, kAccount, kQueue), KeyChoice::kPrimary);
  EXPECT_EQ(said(verify_queue_sas(sas, credentials(), kQueue).status()), kAuthenticationFailed);
}

TEST(QueueSas, QS12_LettersMayHaveAnyOrder) {
  for (const std::string letters : {"raup", "puar", "ur", "p"}) {
    QueueSas sas = fields("2021-12-02", letters, "", kExpiry);
    sas.sig = *credentials().keys.sign(string_to_sign(sas, kAccount, kQueue), KeyChoice::kPrimary);
    EXPECT_TRUE(verify_queue_sas(sas, credentials(), kQueue).ok()) << letters;
  }
  for (const std::string letters : {"rd", "rr", "R", "x"}) {
    QueueSas sas = fields("2021-12-02", letters, "", kExpiry);
    sas.sig = *credentials().keys.sign(string_to_sign(sas, kAccount, kQueue), KeyChoice::kPrimary);
    EXPECT_EQ(said(verify_queue_sas(sas, credentials(), kQueue).status()), kAuthenticationFailed) << letters;
  }
}

TEST(QueueSas, QS11_QueriesOfOtherFormsAreRefused) {
  const std::string good = "sv=2021-12-02&sp=r&se=2026-03-04&sig=c2ln";
  EXPECT_TRUE(parse_queue_sas(good).ok());
  EXPECT_TRUE(parse_queue_sas(good + "&numofmessages=1&numofmessages=2").ok());
  for (const std::string& bad :
       {good + "&sp=a", good + "&ss=q", good + "&srt=o", good + "&tn=orders", std::string("sv=2021-12-02&sp=r"),
        std::string("sp=r&sig=c2ln"), std::string("sv=2011-08-18&sig=c2ln"), good + "&si=%zz"}) {
    EXPECT_EQ(said(parse_queue_sas(bad).status()), kAuthenticationFailed) << bad;
  }
}

TEST(QueueSas, QS13_TheTermsThatCannotBeSaidAreNotSigned) {
  QueueSasTerms terms;
  terms.queue = kQueue;
  EXPECT_EQ(sign_queue_sas(terms, credentials()).code(), Code::kInvalidArgument);  // neither a policy nor terms
  terms.permissions = Permissions::all_for_queues();
  terms.expiry = at(kExpiry);
  EXPECT_TRUE(sign_queue_sas(terms, credentials()).ok());
  terms.queue = "No queue";
  EXPECT_EQ(sign_queue_sas(terms, credentials()).code(), Code::kInvalidArgument);
  terms.queue = kQueue;
  terms.permissions = Permissions{Permission::kRemove};
  EXPECT_EQ(sign_queue_sas(terms, credentials()).code(), Code::kInvalidArgument);
}

/// A session by a queue signature, in a store with the queue and its policy.
class QueueSessions : public ::testing::Test {
 protected:
  QueueSessions() : queue_(*bench_.store().create_queue(kAccount, kQueue)) {
    AccessPolicy policy;
    policy.id = "workers";
    policy.permissions = Permissions{Permission::kProcess};
    policy.expiry = at(kExpiry);
    EXPECT_TRUE(queue_.set_access_policies(std::vector{policy}).ok());
  }

  static QueueSasTerms terms(Permissions permissions) {
    QueueSasTerms made;
    made.queue = kQueue;
    made.permissions = permissions;
    made.expiry = at(kExpiry);
    return made;
  }
  Result<Session> open(const QueueSasTerms& terms, const std::string& queue = std::string(kQueue)) {
    return Session::open(bench_.store(), bench_.account, to_query(*sign_queue_sas(terms, bench_.account)),
                         bench_.arrival, bench_.clock(), {StorageService::kQueues, queue});
  }

  SecurityBench bench_;
  Queue queue_;
};

TEST_F(QueueSessions, QS12_QS14_EachLetterPermitsItsOperations) {
  using enum AccountOperation;
  const std::vector<std::pair<Permission, std::vector<AccountOperation>>> letters = {
      {Permission::kQuery, {kReadQueueMetadata, kPeekMessages}},
      {Permission::kAdd, {kPutMessage}},
      {Permission::kUpdate, {kUpdateMessage}},
      {Permission::kProcess, {kGetMessages, kRemoveMessage}}};
  for (const auto& [permission, permitted] : letters) {
    const Result<Session> session = open(terms({permission}));
    ASSERT_TRUE(session.ok());
    for (const auto& [other, operations] : letters) {
      for (const AccountOperation operation : operations) {
        EXPECT_EQ((*session).check(operation, kQueue).ok(), permission == other);
        EXPECT_FALSE((*session).check(operation, "other").ok());
      }
    }
  }
}

TEST_F(QueueSessions, QS12_NoQueueSignaturePermitsMore) {
  const Result<Session> session = open(terms(Permissions::all_for_queues()));
  ASSERT_TRUE(session.ok());
  using enum AccountOperation;
  for (const AccountOperation operation :
       {kListQueues, kCreateQueue, kDropQueue, kWriteQueueMetadata, kClearMessages, kReadAccessPolicies,
        kWriteAccessPolicies, kReadServiceProperties, kWriteServiceProperties, kReadServiceStatistics, kListTables,
        kCreateTable, kDropTable}) {
    EXPECT_EQ(said((*session).check(operation, kQueue)), (Said{Code::kForbidden, "AuthorizationFailure"}));
  }
  EXPECT_EQ(said((*session).table("Orders").status()), (Said{Code::kForbidden, "AuthorizationFailure"}));
}

TEST_F(QueueSessions, QS13_APolicyFillsWhatTheTokenLeavesOpen) {
  QueueSasTerms by_policy;
  by_policy.queue = kQueue;
  by_policy.policy = "workers";
  const Result<Session> session = open(by_policy);
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  EXPECT_TRUE((*session).check(AccountOperation::kGetMessages, kQueue).ok());
  EXPECT_FALSE((*session).check(AccountOperation::kPutMessage, kQueue).ok());
  QueueSasTerms both = terms({Permission::kAdd});
  both.policy = "workers";
  EXPECT_EQ(said(open(both).status()), kAuthenticationFailed);
  by_policy.policy = "nobody";
  EXPECT_EQ(said(open(by_policy).status()), kAuthenticationFailed);
  ASSERT_TRUE(queue_.set_access_policies({}).ok());
  EXPECT_EQ(said((*session).check(AccountOperation::kGetMessages, kQueue)), kAuthenticationFailed);
}

TEST_F(QueueSessions, QS13_QS14_TimeEndsASignature) {
  const Result<Session> session = open(terms({Permission::kAdd}));
  ASSERT_TRUE(session.ok());
  *bench_.time = at(kExpiry);
  EXPECT_EQ(said((*session).check(AccountOperation::kPutMessage, kQueue)), kAuthenticationFailed);
  EXPECT_EQ(said(open(terms({Permission::kAdd})).status()), kAuthenticationFailed);
}

TEST_F(QueueSessions, QS10_AnAccountSignatureForQueuesGivesNoTables) {
  AccountSasTerms made = SecurityBench::account_terms("sco", "rwdlacup");
  made.services = "q";
  const std::string query = to_query(*sign_account_sas(made, bench_.account));
  const Result<Session> session = Session::open(bench_.store(), bench_.account, query, bench_.arrival, bench_.clock(),
                                                {StorageService::kQueues, std::string(kQueue)});
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  EXPECT_TRUE((*session).check(AccountOperation::kCreateQueue, kQueue).ok());
  EXPECT_EQ(said((*session).table("Orders").status()), kServiceMismatch);
  EXPECT_EQ(said((*session).check(AccountOperation::kCreateTable)), kServiceMismatch);
  EXPECT_EQ(said(bench_.open(query).status()), kServiceMismatch);
}

}  // namespace
}  // namespace varve::security::queue_sas_test
