// Goal: clients read the metrics of their account and delete rows of them, and can change nothing else about them.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/analytics_bench.h"
#include "varve/loader.h"

namespace varve::serve::metrics_access_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kRowAddress =
    "$MetricsHourPrimaryTransactionsTable(PartitionKey='20260303T1000',RowKey='user;All')";
constexpr std::string_view kOtherRowAddress =
    "$MetricsHourPrimaryTransactionsTable(PartitionKey='20260303T1000',RowKey='x')";

/// An account with metrics of one hour.
class MetricsAccess : public ::testing::Test {
 protected:
  void SetUp() override {
    bench_.want({true, false, std::nullopt}, {});
    bench_.analytics->update(clock("10:20:30"));
    EXPECT_EQ(bench_.insert("1"), "201");
    bench_.analytics->update(clock("11:00:00"));
  }
  std::string by(const std::string& token, std::string_view verb, std::string_view resource, std::string body = {},
                 Headers headers = {}) {
    return outcome(bench_.service.send_by(token, verb, resource, std::move(body), std::move(headers)));
  }

  AnalyticsBench bench_;
};

TEST_F(MetricsAccess, AM05_ClientsReadAndQueryThem) {
  const HttpResponse all = bench_.send("GET", std::string(kHourTable) + "()");
  EXPECT_EQ(outcome(all), "200");
  EXPECT_THAT(all.body, HasSubstr("\"RowKey\":\"user;All\""));
  EXPECT_THAT(all.body, HasSubstr("\"RowKey\":\"system;All\""));
  EXPECT_THAT(all.body, HasSubstr("\"TotalRequests\":\"1\""));
  const HttpResponse some = bench_.send("GET", std::string(kHourTable) + "()?$filter=" +
                                                   encoded("PartitionKey ge '20260303T1000' and TotalRequests gt 0L"));
  EXPECT_THAT(some.body, HasSubstr("user;All"));
  EXPECT_THAT(some.body, Not(HasSubstr("system;All")));
  EXPECT_EQ(bench_.told("GET", kRowAddress), "200");
  EXPECT_EQ(bench_.told("GET", kOtherRowAddress), "404 ResourceNotFound");
}

TEST_F(MetricsAccess, AM01_TheFormerNamesAreTheSameTables) {
  EXPECT_THAT(bench_.send("GET", "$MetricsTransactionsTable()").body, HasSubstr("user;All"));
  EXPECT_THAT(bench_.send("GET", "$metricstransactionstable()").body, HasSubstr("user;All"));
  EXPECT_EQ(bench_.told("GET", "$MetricsTransactionsQueue()"), "404 TableNotFound");
  EXPECT_EQ(bench_.told("GET", "$MetricsTransactionsFile()"), "404 TableNotFound");
  EXPECT_EQ(bench_.told("DELETE", "$MetricsTransactionsTable(PartitionKey='20260303T1000',RowKey='user;All')", "",
                        {{"If-Match", "*"}}),
            "204");
  EXPECT_EQ(bench_.told("GET", kRowAddress), "404 ResourceNotFound");
}

TEST_F(MetricsAccess, AM05_ClientsDeleteTheirEntities) {
  EXPECT_EQ(bench_.told("DELETE", kRowAddress, "", {{"If-Match", "*"}}), "204");
  EXPECT_EQ(bench_.told("GET", kRowAddress), "404 ResourceNotFound");
}

TEST_F(MetricsAccess, AM05_ClientsWriteNoEntity) {
  const std::string refused = "403 AuthorizationFailure";
  EXPECT_EQ(bench_.told("POST", kHourTable, R"({"PartitionKey":"20260303T1000","RowKey":"x"})"), refused);
  for (const std::string verb : {"PUT", "MERGE"}) {
    EXPECT_EQ(bench_.told(verb, kRowAddress, "{}", {{"If-Match", "*"}}), refused);
    EXPECT_EQ(bench_.told(verb, kRowAddress, "{}"), refused);
    EXPECT_EQ(bench_.told(verb, kOtherRowAddress, "{}"), refused);
  }
  const std::string part =
      "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
      "POST http://127.0.0.1:10002/" +
      std::string(kAccount) + "/" + std::string(kHourTable) +
      " HTTP/1.1\r\nContent-Type: application/json\r\n\r\n"
      R"({"PartitionKey":"20260303T1000","RowKey":"x"})"
      "\r\n--b--\r\n";
  const HttpResponse batch =
      bench_.send("POST", "$batch", "--a\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + part + "--a--\r\n",
                  {{"Content-Type", "multipart/mixed; boundary=a"}});
  EXPECT_EQ(outcome(batch), "202");
  EXPECT_THAT(batch.body, HasSubstr("HTTP/1.1 403 "));
  EXPECT_THAT(batch.body, HasSubstr("AuthorizationFailure"));
  EXPECT_EQ(bench_.told("GET", kOtherRowAddress), "404 ResourceNotFound");
}

TEST_F(MetricsAccess, AM05_ClientsNeitherCreateNorDeleteNorShareThem) {
  const std::string refused = "403 AuthorizationFailure";
  for (const std::string_view name : {kHourTable, kMinuteTable, std::string_view("$MetricsTransactionsTable"),
                                      std::string_view("$MetricsCapacityBlob")}) {
    EXPECT_EQ(bench_.told("POST", "Tables", R"({"TableName":")" + std::string(name) + "\"}"), refused);
    EXPECT_EQ(bench_.told("DELETE", "Tables('" + std::string(name) + "')"), refused);
    EXPECT_EQ(bench_.told("PUT", std::string(name) + "?comp=acl", "<SignedIdentifiers/>"), refused);
  }
  EXPECT_EQ(bench_.told("POST", "Tables", R"({"TableName":"$Metrics"})"), "400 InvalidResourceName");
  EXPECT_EQ(bench_.told("GET", std::string(kHourTable) + "?comp=acl"), "200");
  EXPECT_EQ(bench_.told("GET", kRowAddress), "200");
}

TEST_F(MetricsAccess, AM05_D06_ListingsLeaveThemOutUnlessAFilterNamesThem) {
  const std::string name = "\"TableName\":\"" + std::string(kHourTable) + "\"";
  const auto list = [&](std::string_view filter) {
    return bench_.send("GET", "Tables?$filter=" + encoded(filter)).body;
  };
  EXPECT_THAT(bench_.send("GET", "Tables").body, Not(HasSubstr("$Metrics")));
  EXPECT_THAT(bench_.send("GET", "Tables?$top=1").body, HasSubstr("Orders"));
  EXPECT_THAT(list("TableName ge 'A'"), Not(HasSubstr(name)));
  EXPECT_THAT(list("TableName ne 'Orders'"), Not(HasSubstr(name)));
  EXPECT_THAT(list("TableName eq '" + std::string(kHourTable) + "'"), HasSubstr(name));
  EXPECT_THAT(list("TableName ge '$Metrics' and TableName lt 'A'"), HasSubstr(name));
  EXPECT_THAT(bench_.send("GET", "Tables('" + std::string(kHourTable) + "')").body, HasSubstr(name));
  EXPECT_THAT(bench_.send("GET", "Tables('$MetricsTransactionsTable')").body, HasSubstr(name));
}

TEST_F(MetricsAccess, AM05_ASignatureReadsAndDeletesAsFarAsItPermits) {
  security::TableSasTerms terms = SecurityBench::table_terms("raud");
  terms.table = kHourTable;
  const std::string token = security::to_query(*security::sign_table_sas(terms, credentials()));
  EXPECT_EQ(by(token, "GET", kRowAddress), "200");
  EXPECT_EQ(by(token, "PUT", kRowAddress, "{}"), "403 AuthorizationFailure");
  terms.permissions = *Permissions::parse("r");
  const std::string reading = security::to_query(*security::sign_table_sas(terms, credentials()));
  EXPECT_EQ(by(reading, "DELETE", kRowAddress, "", {{"If-Match", "*"}}), "403 AuthorizationPermissionMismatch");
  EXPECT_EQ(by(token, "DELETE", kRowAddress, "", {{"If-Match", "*"}}), "204");
}

TEST_F(MetricsAccess, AM05_TheLibraryTreatsThemAlike) {
  Store& store = bench_.store();
  constexpr Said kRefused = {Code::kForbidden, "AuthorizationFailure"};
  EXPECT_EQ(said(store.create_table(kAccount, kMinuteTable)), kRefused);
  EXPECT_EQ(said(store.load_table(kAccount, kHourTable)), kRefused);
  EXPECT_EQ(said(store.drop_table(kAccount, kHourTable)), kRefused);
  EXPECT_EQ(said(store.set_access_policies(kAccount, kHourTable, {})), kRefused);
  Result<Table> table = store.open_table(kAccount, kHourTable);
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->name(), kHourTable);
  EXPECT_EQ(said(table->insert(Entity("20260303T1000", "x"))), kRefused);
  Result<StoreTransaction> transaction = store.begin_transaction();
  ASSERT_TRUE(transaction.ok());
  transaction->insert(*table, Entity("20260303T1000", "x"));
  EXPECT_EQ(said(transaction->commit()), kRefused);
  EXPECT_TRUE((*table->get("20260303T1000", "user;All")).has_value());
  const TablePage plain = *store.list_tables(kAccount);
  ASSERT_EQ(plain.tables.size(), 1U);
  EXPECT_EQ(plain.tables.front().name, "Orders");
  ListOptions options;
  options.include_metrics_tables = true;
  EXPECT_EQ((*store.list_tables(kAccount, options)).tables.size(), 2U);
  options = ListOptions();
  options.prefix = "$metrics";
  EXPECT_EQ((*store.list_tables(kAccount, options)).tables.size(), 1U);
  EXPECT_EQ(said(table->remove("20260303T1000", "user;All", ETag::any())), kFine);
}

TEST_F(MetricsAccess, AM05_AStoreWithThemVerifies) {
  bench_.service.bench.store.reset();
  const Result<VerifyReport> report = Store::verify(kStorePath, bench_.service.bench.options());
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_TRUE(report->findings.empty());
  EXPECT_EQ(report->tables, 2U);
}

}  // namespace
}  // namespace varve::serve::metrics_access_test
