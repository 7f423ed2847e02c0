// Goal: a session does what its signature allows, during the time that the signature allows.
#include "varve/security/session.h"

#include <gtest/gtest.h>

#include "tests/security/security_bench.h"

namespace varve::security::session_test {
namespace {

using namespace test;
using Keys = std::vector<std::string>;

class Sessions : public ::testing::Test {
 protected:
  Session session(std::string_view query) {
    Result<Session> opened = bench_.open(query);
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    if (!opened.ok()) std::abort();
    return *std::move(opened);
  }
  static Keys seen(const Table& table) { return keys_of(*table.scan({})); }
  void set_policies(const std::vector<AccessPolicy>& policies) {
    ASSERT_TRUE(bench_.store().set_access_policies(kAccount, "Orders", policies).ok());
  }
  void set_time(std::string_view text) { *bench_.time = at(text); }

  SecurityBench bench_;
};

TEST_F(Sessions, S10_TheKindOfSignatureIsSeenByItsFields) {
  EXPECT_EQ(said(bench_.open(std::string_view("a=b"))), kNoAuthenticationInformation);
  EXPECT_EQ(said(bench_.open(std::string_view(""))), kNoAuthenticationInformation);
  EXPECT_EQ(said(bench_.open(std::string_view("sig=x"))), kAuthenticationFailed);
  EXPECT_EQ(said(bench_.open(std::string_view("sig=x&sig=y"))), kAuthenticationFailed);
  EXPECT_TRUE(session(bench_.token(SecurityBench::table_terms())).table("Orders").ok());
  EXPECT_TRUE(session(bench_.token(SecurityBench::account_terms("o", "r"))).table("Orders").ok());
  Request request{"GET", "/Orders", bench_.token(SecurityBench::table_terms("r")), {}};
  EXPECT_TRUE(bench_.open(request).ok());
  request.headers.emplace_back("Authorization", "SharedKey devstoreaccount1:x");  // the header then takes precedence
  EXPECT_EQ(said(bench_.open(request)), kAuthenticationFailed);
}

TEST_F(Sessions, S01_AnAccountKeyOpensEverything) {
  Request request{"GET", "/Orders", "", {{"x-ms-date", std::string(kDateText)}}};
  request.headers.emplace_back("Authorization",
                               *shared_key_authorization(SharedKeyScheme::kSharedKeyLite, request, bench_.account));
  const Result<Session> opened = bench_.open(request);
  ASSERT_TRUE(opened.ok());
  EXPECT_TRUE((*opened->table("Orders")).insert(with_value("p", "r", "x")).ok());
  EXPECT_TRUE(opened->create_table("Fresh").ok());
  EXPECT_EQ((*opened->list_tables()).tables.size(), 3u);
  EXPECT_TRUE(opened->drop_table("Fresh").ok());
  EXPECT_TRUE(opened->set_access_policies("Orders", std::vector<AccessPolicy>{{"one"}}).ok());
  EXPECT_EQ((*opened->access_policies("Orders")).size(), 1u);
  EXPECT_TRUE(opened->check(AccountOperation::kWriteServiceProperties).ok());
  *bench_.time = DateTime{kPresent.ticks + 16 * 60 * kSecondTicks};
  EXPECT_EQ(said(bench_.open(request)), kAuthenticationFailed);
}

TEST_F(Sessions, S12_AddressAndProtocolAreThoseOfTheArrival) {
  TableSasTerms terms = SecurityBench::table_terms("r");
  terms.addresses = "203.0.113.5-203.0.113.9";
  terms.https_only = true;
  const std::string token = bench_.token(terms);
  for (const std::string good : {"203.0.113.5", "203.0.113.9", "::ffff:203.0.113.7"}) {
    bench_.arrival.client_ip = good;
    EXPECT_TRUE(bench_.open(token).ok()) << good;
  }
  for (const std::string bad :
       {"203.0.113.4", "203.0.113.10", "", "::1", "203.0.113.7 ", "203.0.113.07", "2030113.7"}) {
    bench_.arrival.client_ip = bad;
    EXPECT_EQ(said(bench_.open(token)), kSourceIpMismatch) << bad;
  }
  bench_.arrival = {"203.0.113.7", false};
  EXPECT_EQ(said(bench_.open(token)), kProtocolMismatch);
  AccountSasTerms account = SecurityBench::account_terms("o", "r");
  account.https_only = true;
  EXPECT_EQ(said(bench_.open(bench_.token(account))), kProtocolMismatch);
  account.addresses = "10.0.0.1";
  EXPECT_EQ(said(bench_.open(bench_.token(account))), kSourceIpMismatch);
}

TEST_F(Sessions, S11_EndWithTheirTokenAlsoWhenTheyAreOpen) {
  for (const std::string& token :
       {bench_.token(SecurityBench::table_terms()), bench_.token(SecurityBench::account_terms("sco", "rwdlacu"))}) {
    set_time("2026-03-03T10:20:30Z");
    const Session open = session(token);
    Table table = *open.table("Orders");
    EXPECT_TRUE(table.get("eu", "0001").ok());
    set_time("2026-03-04T00:00:00Z");
    EXPECT_EQ(said(table.get("eu", "0001")), kAuthenticationFailed);
    EXPECT_EQ(said(table.insert(with_value("p", "r", "x"))), kAuthenticationFailed);
    EXPECT_EQ(said(open.table("Orders")), kAuthenticationFailed);
    EXPECT_EQ(said(open.list_tables()), kAuthenticationFailed);
    EXPECT_EQ(said(bench_.open(token)), kAuthenticationFailed);
    set_time("2026-03-02T23:59:59Z");
    EXPECT_EQ(said(bench_.open(token)), kAuthenticationFailed);
    EXPECT_EQ(said(table.scan({})), kAuthenticationFailed);
  }
}

TEST_F(Sessions, S21_ATableSignatureIsForItsTableAlone) {
  const Session open = session(bench_.token(SecurityBench::table_terms()));
  EXPECT_EQ(said(open.table("Other")), kAuthorizationFailure);
  EXPECT_EQ(said(open.table("Missing")), kAuthorizationFailure);
  EXPECT_TRUE(open.table("oRDERS").ok());
  TableSasTerms missing = SecurityBench::table_terms();
  missing.table = "Missing";
  EXPECT_EQ(said(session(bench_.token(missing)).table("Missing")), kTableNotFound);
}

TEST_F(Sessions, B10_S24_ATableSignatureDoesNothingToTablesAsAWhole) {
  const Session open = session(bench_.token(SecurityBench::table_terms()));
  EXPECT_EQ(said(open.create_table("Fresh")), kAuthorizationFailure);
  EXPECT_EQ(said(open.drop_table("Orders")), kAuthorizationFailure);
  EXPECT_EQ(said(open.list_tables()), kAuthorizationFailure);
  EXPECT_EQ(said(open.access_policies("Orders")), kAuthorizationFailure);
  EXPECT_EQ(said(open.set_access_policies("Orders", {})), kAuthorizationFailure);
  for (const AccountOperation operation :
       {AccountOperation::kReadServiceProperties, AccountOperation::kWriteServiceProperties,
        AccountOperation::kReadServiceStatistics}) {
    EXPECT_EQ(said(open.check(operation)), kAuthorizationFailure);
  }
  EXPECT_EQ(said((*open.table("Orders")).access_policies()), kAuthorizationFailure);
  EXPECT_TRUE(bench_.store().open_table(kAccount, "Orders").ok());
}

TEST_F(Sessions, S24_UpsertsNeedAddAndUpdate) {
  for (const std::string letters : {"a", "u", "rd"}) {
    Table table = *session(bench_.token(SecurityBench::table_terms(letters))).table("Orders");
    EXPECT_EQ(said(table.insert_or_replace(with_value("eu", "0001", "y"))), kPermissionMismatch);
    EXPECT_EQ(said(table.insert_or_merge(with_value("eu", "0001", "y"))), kPermissionMismatch);
  }
  Table table = *session(bench_.token(SecurityBench::table_terms("au"))).table("Orders");
  EXPECT_TRUE(table.insert_or_merge(with_value("eu", "0001", "y")).ok());
}

TEST_F(Sessions, S25_S26_TheRangeOfASignatureIsTheFenceOfItsTable) {
  TableSasTerms terms = SecurityBench::table_terms();
  terms.interval = {KeyBound{"eu", "0500"}, KeyBound{"eu west", "0500"}};
  Table table = *session(bench_.token(terms)).table("Orders");
  EXPECT_EQ(seen(table), (Keys{"eu/0500", "eu/0999", "eu/1000", "eu west/0001", "eu west/0500"}));
  EXPECT_EQ(said(table.get("eu", "0001")), kAuthorizationFailure);
  EXPECT_EQ(said(table.insert(with_value("us", "1", "x"))), kAuthorizationFailure);
  EXPECT_TRUE(table.insert(with_value("eu", "zz", "x")).ok());
}

TEST_F(Sessions, S27_ChangedAndRemovedPoliciesTakeEffectAtOnce) {
  const DateTime expiry = at("2026-03-04T00:00:00Z");
  set_policies({{"clerks", {}, expiry, *Permissions::parse("ra")}, {"others", {}, expiry, Permissions::all()}});
  TableSasTerms terms;
  terms.table = "Orders";
  terms.policy = "clerks";
  const std::string token = bench_.token(terms);
  const Session open = session(token);
  Table table = *open.table("Orders");
  EXPECT_TRUE(table.insert(with_value("p", "1", "x")).ok());
  EXPECT_EQ(said(table.remove("p", "1", ETag::any())), kPermissionMismatch);

  set_policies({{"clerks", {}, expiry, *Permissions::parse("d")}});
  EXPECT_EQ(said(table.get("p", "1")), kPermissionMismatch);
  EXPECT_TRUE(table.remove("p", "1", ETag::any()).ok());

  set_policies({{"clerks", {}, at("2026-03-03T00:00:01Z"), *Permissions::parse("d")}});
  EXPECT_EQ(said(table.get("eu", "0001")), kAuthenticationFailed);
  set_policies({{"others", {}, expiry, Permissions::all()}});
  EXPECT_EQ(said(table.get("eu", "0001")), kAuthenticationFailed);
  EXPECT_EQ(said(open.table("Orders")), kAuthenticationFailed);
  EXPECT_EQ(said(bench_.open(token)), kAuthenticationFailed);
  set_policies({{"clerks", {}, expiry, *Permissions::parse("r")}});
  EXPECT_TRUE(table.get("eu", "0001").ok());

  // A recreated table has no policies, and the old handle has no rights in it.
  ASSERT_TRUE(bench_.store().drop_table(kAccount, "Orders").ok());
  EXPECT_EQ(said(table.get("eu", "0001")), kAuthenticationFailed);
  ASSERT_TRUE(bench_.store().create_table(kAccount, "Orders").ok());
  EXPECT_EQ(said(table.insert(with_value("p", "1", "x"))), kAuthenticationFailed);
}

TEST_F(Sessions, S14_AReplacedKeyEndsWhatItSigned) {
  const std::string by_first = bench_.token(SecurityBench::table_terms());
  const std::string by_second =
      to_query(*sign_table_sas(SecurityBench::table_terms(), bench_.account, KeyChoice::kSecondary));
  bench_.account = credentials(kOtherKeyText, kSecondKeyText);
  EXPECT_EQ(said(bench_.open(by_first)), kAuthenticationFailed);
  EXPECT_TRUE(bench_.open(by_second).ok());
  bench_.account = credentials(kOtherKeyText, kOtherKeyText);
  EXPECT_EQ(said(bench_.open(by_second)), kAuthenticationFailed);
}

TEST_F(Sessions, S32_AccountSignaturesOpenWhatTheyName) {
  const Session tables = session(bench_.token(SecurityBench::account_terms("sc", "lcd")));
  EXPECT_EQ((*tables.list_tables()).tables.size(), 2u);
  EXPECT_TRUE(tables.create_table("Fresh").ok());
  EXPECT_TRUE(tables.drop_table("Fresh").ok());
  EXPECT_EQ(said(tables.table("Orders")), kResourceTypeMismatch);
  EXPECT_EQ(said(tables.access_policies("Orders")), kAuthorizationFailure);
  EXPECT_EQ(said(tables.set_access_policies("Orders", {})), kAuthorizationFailure);
  EXPECT_EQ(said(tables.check(AccountOperation::kReadServiceProperties)), kPermissionMismatch);

  const Session entities = session(bench_.token(SecurityBench::account_terms("o", "rau")));
  EXPECT_EQ(said(entities.list_tables()), kResourceTypeMismatch);
  EXPECT_EQ(said(entities.create_table("Fresh")), kResourceTypeMismatch);
  for (const std::string name : {"Orders", "Other"}) {
    Table table = *entities.table(name);
    EXPECT_TRUE(table.insert_or_replace(with_value("p", "1", "x")).ok());
    EXPECT_EQ(said(table.remove("p", "1", ETag::any())), kPermissionMismatch);
  }
  EXPECT_EQ(said(entities.table("Missing")), kTableNotFound);
}

TEST_F(Sessions, S33_AccountSignaturesKnowNoPolicies) {
  set_policies({{"readers", {}, at("2026-03-04T00:00:00Z"), *Permissions::parse("r")}});
  const std::string token = bench_.token(SecurityBench::account_terms("o", "raud"));
  EXPECT_EQ(said(bench_.open(token + "&si=readers")), kAuthenticationFailed);
  EXPECT_TRUE((*session(token).table("Orders")).remove("eu", "0001", ETag::any()).ok());
}

TEST_F(Sessions, TablesOutliveTheStoreAndAreClosedThen) {
  set_policies({{"readers", {}, at("2026-03-04T00:00:00Z"), *Permissions::parse("r")}});
  TableSasTerms terms;
  terms.table = "Orders";
  terms.policy = "readers";
  const Table table = *session(bench_.token(terms)).table("Orders");
  bench_.bench.store.reset();
  EXPECT_EQ(table.get("eu", "0001").code(), Code::kClosed);
}

}  // namespace
}  // namespace varve::security::session_test
