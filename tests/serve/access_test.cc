// Goal: over HTTP, a signature permits what it states, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"

namespace varve::serve::access_test {
namespace {

using namespace test;
using security::AccountSasTerms;
using security::TableSasTerms;
using ::testing::HasSubstr;

class ServiceAccess : public ::testing::Test {
 protected:
  static std::string token(const TableSasTerms& terms) { return to_query(*sign_table_sas(terms, credentials())); }
  static std::string token(const AccountSasTerms& terms) { return to_query(*sign_account_sas(terms, credentials())); }
  static std::string table_token(std::string_view permissions) {
    return token(SecurityBench::table_terms(permissions));
  }
  static std::string account_token(std::string_view types, std::string_view permissions) {
    return token(SecurityBench::account_terms(types, permissions));
  }
  std::string by(const std::string& token, std::string_view verb, std::string_view resource, std::string body = "{}",
                 Headers headers = {}) {
    return outcome(service_.send_by(token, verb, resource, std::move(body), std::move(headers)));
  }

  ServiceBench service_;
};

constexpr std::string_view kRow1 = "Orders(PartitionKey='p',RowKey='1')";
constexpr std::string_view kInsert1 = R"({"PartitionKey":"p","RowKey":"1"})";
const Headers kAny = {{"If-Match", "*"}};

TEST_F(ServiceAccess, S24_ATableSasDoesWhatItsLettersSay) {
  EXPECT_EQ(by(table_token("a"), "POST", "Orders", std::string(kInsert1)), "201");
  EXPECT_EQ(by(table_token("r"), "POST", "Orders", std::string(kInsert1)), "403 AuthorizationPermissionMismatch");
  EXPECT_EQ(by(table_token("r"), "GET", kRow1), "200");
  EXPECT_EQ(by(table_token("aud"), "GET", kRow1), "403 AuthorizationPermissionMismatch");
  EXPECT_EQ(by(table_token("aud"), "GET", "Orders()"), "403 AuthorizationPermissionMismatch");
  EXPECT_EQ(by(table_token("u"), "PUT", kRow1, "{}", kAny), "204");
  EXPECT_EQ(by(table_token("u"), "MERGE", kRow1), "403 AuthorizationPermissionMismatch");
  EXPECT_EQ(by(table_token("au"), "MERGE", kRow1), "204");
  EXPECT_EQ(by(table_token("rau"), "DELETE", kRow1, "", kAny), "403 AuthorizationPermissionMismatch");
  EXPECT_EQ(by(table_token("d"), "DELETE", kRow1, "", kAny), "204");
}

TEST_F(ServiceAccess, B10_S21_ATableSasIsForTheEntitiesOfItsTable) {
  (void)service_.bench.table("Other");
  const std::string all = table_token("raud");
  EXPECT_EQ(by(all, "GET", "Other()"), "403 AuthorizationFailure");
  EXPECT_EQ(by(all, "GET", "Missing()"), "403 AuthorizationFailure");
  EXPECT_EQ(by(all, "GET", "Tables"), "403 AuthorizationFailure");
  EXPECT_EQ(by(all, "POST", "Tables", R"({"TableName":"Fresh"})"), "403 AuthorizationFailure");
  EXPECT_EQ(by(all, "DELETE", "Tables('Orders')"), "403 AuthorizationFailure");
  EXPECT_EQ(by(all, "GET", "Tables('Orders')"), "403 AuthorizationFailure");
  EXPECT_EQ(by(all, "GET", "Orders?comp=acl"), "403 AuthorizationFailure");
  EXPECT_EQ(by(all, "PUT", "Orders?comp=acl", ""), "403 AuthorizationFailure");
  EXPECT_EQ(by(all, "GET", "?restype=service&comp=stats"), "403 AuthorizationFailure");
}

TEST_F(ServiceAccess, S25_S26_KeyRangesHoldForEveryRoute) {
  for (const std::string row : {"1", "5", "9"}) ASSERT_TRUE(service_.orders.insert(with_value("p", row, "x")).ok());
  TableSasTerms terms = SecurityBench::table_terms();
  terms.interval = {KeyBound{"p", "2"}, KeyBound{"p", "8"}};
  const std::string inside = token(terms);
  const HttpResponse page =
      service_.send_by(inside, "GET", "Orders()?$select=RowKey", "", {{"Accept", "application/json;odata=nometadata"}});
  EXPECT_EQ(page.body, R"({"value":[{"RowKey":"5"}]})");
  EXPECT_EQ(by(inside, "GET", "Orders(PartitionKey='p',RowKey='5')"), "200");
  EXPECT_EQ(by(inside, "GET", kRow1), "403 AuthorizationFailure");
  EXPECT_EQ(by(inside, "GET", "Orders(PartitionKey='p',RowKey='0')"), "403 AuthorizationFailure");
  EXPECT_EQ(by(inside, "PUT", kRow1), "403 AuthorizationFailure");
  EXPECT_EQ(by(inside, "DELETE", kRow1, "", kAny), "403 AuthorizationFailure");
  EXPECT_EQ(by(inside, "POST", "Orders", std::string(kInsert1)), "403 AuthorizationFailure");
}

TEST_F(ServiceAccess, S32_AnAccountSasDoesWhatItsTypesAndLettersSay) {
  for (const std::string listed : {"Tables", "Tables('Orders')"}) {
    EXPECT_EQ(by(account_token("c", "l"), "GET", listed), "200") << listed;
    EXPECT_EQ(by(account_token("so", "l"), "GET", listed), "403 AuthorizationResourceTypeMismatch") << listed;
    EXPECT_EQ(by(account_token("c", "r"), "GET", listed), "403 AuthorizationPermissionMismatch") << listed;
  }
  EXPECT_EQ(by(account_token("c", "c"), "POST", "Tables", R"({"TableName":"Fresh"})"), "201");
  EXPECT_EQ(by(account_token("c", "d"), "DELETE", "Tables('Fresh')"), "204");
  EXPECT_EQ(by(account_token("o", "a"), "POST", "Orders", std::string(kInsert1)), "201");
  EXPECT_EQ(by(account_token("o", "r"), "GET", kRow1), "200");
  EXPECT_EQ(by(account_token("sc", "r"), "GET", kRow1), "403 AuthorizationResourceTypeMismatch");
  EXPECT_EQ(by(account_token("o", "rau"), "DELETE", kRow1, "", kAny), "403 AuthorizationPermissionMismatch");
  EXPECT_EQ(by(account_token("sco", "rwdlacu"), "GET", "Orders?comp=acl"), "403 AuthorizationFailure");
}

TEST_F(ServiceAccess, S11_S12_S14_TimeProtocolAndSignatureAreJudged) {
  TableSasTerms expired = SecurityBench::table_terms();
  expired.expiry = at("2026-03-03T10:20:30Z");
  EXPECT_EQ(by(token(expired), "GET", "Orders()"), "403 AuthenticationFailed");
  TableSasTerms https = SecurityBench::table_terms();
  https.https_only = true;
  EXPECT_EQ(by(token(https), "GET", "Orders()"), "403 AuthorizationProtocolMismatch");
  TableSasTerms elsewhere = SecurityBench::table_terms();
  elsewhere.addresses = "203.0.113.5-203.0.113.9";
  EXPECT_EQ(by(token(elsewhere), "GET", "Orders()"), "403 AuthorizationSourceIPMismatch");
  EXPECT_EQ(by(table_token("r") + "x", "GET", "Orders()"), "403 AuthenticationFailed");
  EXPECT_EQ(by(table_token("r") + "&sp=raud", "GET", "Orders()"), "403 AuthenticationFailed");
}

TEST_F(ServiceAccess, S40_S42_PoliciesAreSetReadAndRemoved) {
  const std::string policies =
      "<?xml version=\"1.0\" "
      "encoding=\"utf-8\"?>\n<SignedIdentifiers><SignedIdentifier><Id>readers</Id><AccessPolicy>\n"
      "<Start>2026-03-03</Start><Expiry>2026-04-03T00:00:00Z</Expiry><Permission>r</Permission>\n"
      "</AccessPolicy></SignedIdentifier></SignedIdentifiers>";
  const Headers xml = {{"Content-Type", "application/xml"}};
  EXPECT_EQ(outcome(service_.send("PUT", "Orders?comp=acl", policies, xml)), "204");
  const HttpResponse got = service_.send("GET", "Orders?comp=acl");
  EXPECT_EQ(header(got, "Content-Type"), "application/xml");
  EXPECT_EQ(got.body,
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers><SignedIdentifier><Id>readers</Id>"
            "<AccessPolicy><Start>2026-03-03T00:00:00.0000000Z</Start><Expiry>2026-04-03T00:00:00.0000000Z</Expiry>"
            "<Permission>r</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>");
  const HttpResponse head = service_.send("HEAD", "Orders?comp=acl");
  EXPECT_EQ(outcome(head), "200");
  EXPECT_EQ(head.body, "");

  TableSasTerms terms;
  terms.table = "orders";
  terms.policy = "readers";
  const std::string named = token(terms);
  EXPECT_EQ(by(named, "GET", "Orders()"), "200");
  EXPECT_EQ(by(named, "POST", "Orders", std::string(kInsert1)), "403 AuthorizationPermissionMismatch");
  EXPECT_EQ(outcome(service_.send("PUT", "Orders?comp=acl")), "204");
  EXPECT_EQ(by(named, "GET", "Orders()"), "403 AuthenticationFailed");  // S-27
}

TEST_F(ServiceAccess, S41_E02_BadPoliciesAreRefusedInXml) {
  const auto set = [&](const std::string& inside) {
    return outcome(service_.send("PUT", "Orders?comp=acl", "<SignedIdentifiers>" + inside + "</SignedIdentifiers>"));
  };
  const std::string named = "<SignedIdentifier><Id>a</Id>";
  EXPECT_EQ(set(""), "204");
  EXPECT_EQ(set(named + "</SignedIdentifier>"), "204");
  EXPECT_EQ(set("<SignedIdentifier/>"), "400 InvalidXmlDocument");
  EXPECT_EQ(set("<Other/>"), "400 InvalidXmlDocument");
  EXPECT_EQ(set(named + "<Id>b</Id></SignedIdentifier>"), "400 InvalidXmlDocument");
  EXPECT_EQ(set(named + "<AccessPolicy><Other/></AccessPolicy></SignedIdentifier>"), "400 InvalidXmlDocument");
  EXPECT_EQ(set(named + "<AccessPolicy><Permission>ar</Permission></AccessPolicy></SignedIdentifier>"),
            "400 InvalidXmlNodeValue");
  EXPECT_EQ(set(named + "<AccessPolicy><Start>soon</Start></AccessPolicy></SignedIdentifier>"),
            "400 InvalidXmlNodeValue");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<SignedIdentifier>";
  for (int i = 0; i < 100'000; ++i) deep += "</SignedIdentifier>";
  EXPECT_EQ(set(deep), "400 InvalidXmlDocument");
  EXPECT_EQ(outcome(service_.send("PUT", "Orders?comp=acl", "no xml")), "400 InvalidXmlDocument");
  const HttpResponse missing = service_.send("GET", "Missing?comp=acl");
  EXPECT_EQ(outcome(missing), "404 TableNotFound");
  EXPECT_EQ(header(missing, "Content-Type"), "application/xml");
  EXPECT_TRUE(missing.body.starts_with("\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?><m:error xmlns:m="));
  EXPECT_THAT(missing.body, HasSubstr("<m:code>TableNotFound</m:code><m:message xml:lang=\"en-US\">"));
  EXPECT_THAT(missing.body, HasSubstr("\nRequestId:" + header(missing, "x-ms-request-id") +
                                      "\nTime:2026-03-03T10:20:30.0000000Z</m:message></m:error>"));
}

TEST_F(ServiceAccess, P04_StatisticsAreReadFromTheSecondary) {
  EXPECT_EQ(outcome(service_.send("GET", "?restype=service&comp=stats")), "400 InvalidQueryParameterValue");
  const std::string stats = account_token("s", "r");
  const HttpResponse got =
      service_.send(ServiceBench::request("GET", "/devstoreaccount1-secondary/?restype=service&comp=stats&" + stats));
  EXPECT_EQ(got.body,
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><StorageServiceStats><GeoReplication><Status>live</Status>"
            "<LastSyncTime>Tue, 03 Mar 2026 10:20:30 GMT</LastSyncTime></GeoReplication></StorageServiceStats>");
}

}  // namespace
}  // namespace varve::serve::access_test
