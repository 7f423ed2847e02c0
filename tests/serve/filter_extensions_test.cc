// Goal: filters with conditions that the table service lacks are refused as the service refuses them, unless the server
// allows them or the owner of the store sends them.
// Method: queries of entities, of tables and in batches, with extensions denied, allowed and denied again.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/batch_bench.h"
#include "tests/serve/service_bench.h"

namespace varve::serve::filter_extensions_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

class FilterExtensions : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* const row : {"1", "12", "2"}) {
      const std::string body = R"({"PartitionKey":"p","RowKey":")" + std::string(row) + R"(","V":"x)" + row + R"("})";
      ASSERT_EQ(outcome(service_.send("POST", "Orders", body)), "201");
    }
  }
  HttpResponse query(const std::string& filter) {
    return service_.send("GET", "Orders()?$select=RowKey&$filter=" + encoded(filter), "",
                         {{"Accept", "application/json;odata=nometadata"}});
  }
  HttpResponse query_in_batch(const std::string& filter) {
    const PartText part{"GET", ServiceBench::path_of("Orders()?$filter=" + encoded(filter)),
                        "Accept: application/json;odata=nometadata\r\n"};
    return service_.send("POST", "$batch", lone_text(part), {{"Content-Type", std::string(kBatchType)}});
  }
  std::string tables(const std::string& filter) {
    return outcome(service_.send("GET", "Tables?$filter=" + encoded(filter)));
  }
  void expect_refused() {
    EXPECT_EQ(outcome(query(kLong)), "501 NotImplemented");
    EXPECT_EQ(outcome(query("exists(V)")), "501 NotImplemented");
    EXPECT_EQ(outcome(query("V eq RowKey")), "501 NotImplemented");
    EXPECT_EQ(outcome(query("RowKey in ('1','2')")), "400 InvalidInput");
    EXPECT_THAT(query_in_batch("startswith(RowKey,'1')").body, HasSubstr("NotImplemented"));
    EXPECT_EQ(tables("startswith(TableName,'O')"), "501 NotImplemented");
    EXPECT_EQ(tables("TableName in ('Orders')"), "400 InvalidInput");
  }
  void expect_answered() {
    EXPECT_EQ(query(kLong).body, R"({"value":[{"RowKey":"1"},{"RowKey":"12"}]})");
    EXPECT_EQ(query("RowKey in ('2','1') and endswith(V,'2')").body, R"({"value":[{"RowKey":"2"}]})");
    EXPECT_EQ(outcome(query("startswith(V,5)")), "400 InvalidInput");
    EXPECT_EQ(outcome(query("tolower(V) eq 'x'")), "501 NotImplemented");
    const std::string batch = query_in_batch("startswith(RowKey,'1') and V gt RowKey").body;
    EXPECT_THAT(batch, HasSubstr("x12"));
    EXPECT_THAT(batch, Not(HasSubstr("x2")));
    EXPECT_EQ(tables("startswith(TableName,'O') or TableName in ('x')"), "200");
    EXPECT_EQ(tables("contains(Size,'O')"), "400 InvalidInput");
    EXPECT_EQ(tables("TableName eq Size"), "400 InvalidInput");
  }

  /// Long enough that the store keeps its plan.
  const std::string kLong = "startswith(RowKey,'1') and not contains(V,'" + std::string(300, 'y') + "')";
  ServiceBench service_;
};

TEST_F(FilterExtensions, Q13_Q16_AreRefusedUnlessTheServerAllowsThem) {
  expect_refused();
  service_.dispatcher.set_extensions(true);
  expect_answered();
  service_.dispatcher.set_extensions(false);
  expect_refused();
}

TEST_F(FilterExtensions, AreAllowedToTheOwnerOfTheStore) {
  HttpRequest request =
      ServiceBench::request("GET", ServiceBench::path_of("Orders()?$filter=" + encoded("contains(RowKey,'2')")));
  request.is_operator = true;
  EXPECT_EQ(outcome(service_.send(std::move(request))), "200");
  expect_refused();
}

TEST_F(FilterExtensions, AnOrderIsAnsweredPageByPageWhereTheServerAllowsIt) {
  const std::string path = "Orders()?$select=RowKey&$top=2&$orderby=V%20desc";
  const Headers accept = {{"Accept", "application/json;odata=nometadata"}};
  EXPECT_EQ(outcome(service_.send("GET", path)), "501 NotImplemented");
  service_.dispatcher.set_extensions(true);
  const HttpResponse first = service_.send("GET", path, "", accept);
  EXPECT_EQ(first.body, R"({"value":[{"RowKey":"2"},{"RowKey":"12"}]})");
  const std::string token(header(first, "x-ms-continuation-NextPartitionKey"));
  ASSERT_FALSE(token.empty());
  const std::string next = path + "&NextPartitionKey=" + encoded(token);
  const HttpResponse second = service_.send("GET", next, "", accept);
  EXPECT_EQ(second.body, R"({"value":[{"RowKey":"1"}]})");
  EXPECT_EQ(header(second, "x-ms-continuation-NextPartitionKey"), "");
  EXPECT_EQ(outcome(service_.send("GET", next + "&NextRowKey=1")), "400 InvalidInput");
  EXPECT_EQ(outcome(service_.send("GET", path + "&NextPartitionKey=")), "400 InvalidInput");
  EXPECT_EQ(outcome(service_.send("GET", path + "&NextPartitionKey=x")), "400 InvalidInput");
  EXPECT_EQ(outcome(service_.send("GET", "Orders()?$orderby=V%20up")), "400 InvalidInput");
  service_.dispatcher.set_extensions(false);
  EXPECT_EQ(outcome(service_.send("GET", next)), "501 NotImplemented");
}

}  // namespace
}  // namespace varve::serve::filter_extensions_test
