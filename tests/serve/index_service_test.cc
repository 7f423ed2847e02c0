// Goal: a server that allows extensions declares, builds, lists and drops indexes of tables, and any other answers as a
// service without indexes.
// Method: requests of every kind, and a build that outlasts its request.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/rest/encoding/index_json.h"
#include "tests/serve/service_bench.h"
#include "varve/security/account_sas.h"

namespace varve::serve::index_service_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

constexpr std::string_view kIndexes = "Orders?comp=indexes";
const Headers kJson = {{"Content-Type", "application/json"}};

class IndexService : public ::testing::Test {
 protected:
  void SetUp() override {
    service_.dispatcher.set_extensions(true);
    for (const char* const row : {"1", "2", "3"}) {
      const std::string number(row);
      const std::string body = R"({"PartitionKey":"p","RowKey":")" + number + R"(","V":)" + number + R"(,"W":"same"})";
      ASSERT_EQ(outcome(service_.send("POST", "Orders", body)), "201");
    }
  }
  HttpResponse create(const std::string& body) { return service_.send("POST", kIndexes, body, kJson); }
  HttpResponse drop(const std::string& name) {
    return service_.send("DELETE", std::string(kIndexes) + "&index=" + encoded(name));
  }
  std::string list() { return service_.send("GET", kIndexes).body; }

  ServiceBench service_;
};

TEST_F(IndexService, IsUnknownUnlessTheServerAllowsExtensions) {
  service_.dispatcher.set_extensions(false);
  EXPECT_EQ(outcome(service_.send("GET", kIndexes)), "400 InvalidQueryParameterValue");
  EXPECT_EQ(outcome(create(R"({"Name":"ByV","Components":"V"})")), "400 InvalidQueryParameterValue");
  EXPECT_EQ(outcome(drop("ByV")), "400 InvalidQueryParameterValue");
  EXPECT_THAT(service_.send("GET", kIndexes).body, HasSubstr("--extensions allow"));
  HttpRequest request = ServiceBench::request("GET", ServiceBench::path_of(kIndexes));
  request.is_operator = true;
  EXPECT_EQ(service_.send(std::move(request)).body, R"({"value":[]})") << "the owner may ask";
}

TEST_F(IndexService, CreatesListsAndDrops) {
  const HttpResponse made = create(R"({"Name":"ByV","Components":"V desc, Timestamp","Carried":"W","Unique":false})");
  EXPECT_EQ(outcome(made), "201");
  const std::string index =
      R"({"Name":"ByV","Components":"V desc,Timestamp","Carried":"W","Unique":false,"State":"ready","Failure":""})";
  EXPECT_EQ(made.body, index);
  EXPECT_EQ(list(), R"({"value":[)" + index + "]}");
  EXPECT_EQ(outcome(create(R"({"Name":"ByV","Components":"V desc,Timestamp","Carried":"W"})")), "201") << "again";
  EXPECT_EQ(outcome(create(R"({"Name":"ByV","Components":"V"})")), "409 ResourceAlreadyExists");
  const HttpResponse found = service_.send("GET", "Orders()?$select=RowKey&$top=2&$orderby=V%20desc", "",
                                           {{"Accept", "application/json;odata=nometadata"}});
  EXPECT_EQ(found.body, R"({"value":[{"RowKey":"3"},{"RowKey":"2"}]})");
  EXPECT_EQ(outcome(drop("ByV")), "204");
  EXPECT_EQ(outcome(drop("ByV")), "404 ResourceNotFound");
  EXPECT_EQ(list(), R"({"value":[]})");
}

TEST_F(IndexService, RefusesWhatIsNoIndex) {
  EXPECT_EQ(outcome(create("")), "400 InvalidInput");
  EXPECT_EQ(outcome(create(R"({"Components":"V"})")), "400 PropertiesNeedValue");
  EXPECT_EQ(outcome(create(R"({"Name":"ByV"})")), "400 PropertiesNeedValue");
  EXPECT_EQ(outcome(create(R"({"Name":"ByV","Name":"ByW","Components":"V"})")), "400 DuplicatePropertiesSpecified");
  EXPECT_EQ(outcome(create(R"({"Name":"ByV","Components":"V","Unique":"yes"})")), "400 InvalidInput");
  EXPECT_EQ(outcome(create(R"({"Name":"ByV","Components":"V","Other":1})")), "400 InvalidInput");
  EXPECT_EQ(outcome(create(R"({"Name":"ByV","Components":["V"]})")), "400 InvalidInput");
  EXPECT_EQ(outcome(create(R"({"Name":"ByV","Components":"V up"})")), "400 InvalidInput");
  EXPECT_EQ(outcome(create(R"({"Name":"1","Components":"V"})")), "400 InvalidInput");
  EXPECT_EQ(outcome(create(R"({"Name":"ByV","Components":"V,,W"})")), "400 PropertyNameInvalid");
  EXPECT_EQ(outcome(create(R"({"Name":"ByV","Components":"Timestamp","Unique":true})")), "400 InvalidInput");
  EXPECT_EQ(
      outcome(service_.send("POST", kIndexes, R"({"Name":"ByV","Components":"V"})", {{"Content-Type", "text/plain"}})),
      "415 MediaTypeNotSupported");
  EXPECT_EQ(outcome(service_.send("DELETE", kIndexes)), "400 MissingRequiredQueryParameter");
  EXPECT_EQ(outcome(service_.send("PUT", kIndexes)), "405 MethodNotAllowed");
  EXPECT_EQ(outcome(service_.send("GET", "Tables?comp=indexes")), "400 InvalidQueryParameterValue");
  EXPECT_EQ(outcome(service_.send("GET", "Nothing?comp=indexes")), "404 TableNotFound");
  EXPECT_EQ(outcome(service_.send("POST", "Nothing?comp=indexes", R"({"Name":"ByV","Components":"V"})", kJson)),
            "404 TableNotFound");
  EXPECT_EQ(list(), R"({"value":[]})");
}

TEST_F(IndexService, AValueThatTwoEntitiesHaveFailsAUniqueIndex) {
  const std::string body = R"({"Name":"ByW","Components":"W","Unique":true})";
  EXPECT_EQ(outcome(create(body)), "409 IndexValueAlreadyExists");
  EXPECT_THAT(list(), HasSubstr(R"("State":"failed","Failure":")"));
  EXPECT_EQ(outcome(create(body)), "409 ResourceAlreadyExists") << "it must be dropped first";
  EXPECT_EQ(outcome(drop("ByW")), "204");
}

TEST_F(IndexService, ALongBuildOutlastsItsRequest) {
  service_.dispatcher.index_builds().set_request_time(std::chrono::milliseconds(0));
  const std::string body = R"({"Name":"ByV","Components":"V"})";
  const HttpResponse begun = create(body);
  EXPECT_EQ(outcome(begun), "202");
  EXPECT_THAT(begun.body, HasSubstr(R"("State":"building")"));
  EXPECT_THAT(outcome(create(body)), ::testing::AnyOf("202", "201"));
  std::string state;
  for (int i = 0; i < 100'000 && state.find("ready") == std::string::npos; ++i) {
    state = list();
    EXPECT_EQ(state.find("failed"), std::string::npos);
  }
  EXPECT_THAT(state, HasSubstr(R"("State":"ready")"));
  EXPECT_EQ(state.find("EntitiesRead"), std::string::npos) << "no build goes on";
  EXPECT_EQ(outcome(create(body)), "201");
}

TEST_F(IndexService, ABuildIsForgottenUnlessItHasFailed) {
  IndexBuilds builds(*service_.bench.store);
  std::stop_source stop;
  stop.request_stop();
  for (int i = 0; i < 20; ++i) {
    const IndexDefinition definition{"By" + std::to_string(i), {{"V"}}};
    EXPECT_EQ(said(builds.begin(kAccount, "Orders", definition, stop.get_token())), kFine);
    while (builds.progress(kAccount, "orders", definition.name)) {
    }
    EXPECT_FALSE(builds.failure(kAccount, "orders", definition.name)) << "a stopped build has not failed";
  }
  const IndexDefinition refused{"None", {}};
  EXPECT_EQ(said(builds.begin(kAccount, "Orders", refused, {})), kFine);
  while (builds.progress(kAccount, "Orders", "None")) {
  }
  EXPECT_NE(builds.failure(kAccount, "ORDERS", "None").value_or(""), "");
}

TEST_F(IndexService, ASignatureThatOnlyReadsChangesNothing) {
  security::AccountSasTerms terms;
  terms.resource_types = "co";
  terms.permissions = "rl";
  terms.expiry = *DateTime::parse("2100-01-01T00:00:00Z");
  const std::string token = security::to_query(*security::sign_account_sas(terms, credentials()));
  EXPECT_EQ(outcome(service_.send_by(token, "GET", kIndexes)), "200");
  const std::string body = R"({"Name":"ByV","Components":"V"})";
  EXPECT_EQ(outcome(service_.send_by(token, "POST", kIndexes, body, kJson)), "403 AuthorizationPermissionMismatch");
  EXPECT_EQ(outcome(service_.send_by(token, "DELETE", std::string(kIndexes) + "&index=ByV")),
            "403 AuthorizationPermissionMismatch");
}

}  // namespace
}  // namespace varve::serve::index_service_test
