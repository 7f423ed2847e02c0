// Goal: a server that allows extensions declares, builds, lists and drops indexes of tables, and any other answers as a
// service without indexes.
// Method: requests of every kind, and a build that outlasts its request.
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/rest/encoding/index_json.h"
#include "api/rest/protocol/wire_error.h"
#include "api/rest/service/index_builds.h"
#include "tests/serve/batch_bench.h"
#include "tests/serve/held_calls.h"
#include "tests/serve/service_bench.h"
#include "varve/security/account_sas.h"
#include "varve/verify.h"

namespace varve::serve::index_service_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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
  HttpResponse write(const std::string& verb, const std::string& row, const std::string& body, Headers headers = {}) {
    return service_.send(verb, "Orders(PartitionKey='p',RowKey='" + row + "')", body, std::move(headers));
  }
  HttpResponse insert(const std::string& row, const std::string& properties) {
    return service_.send("POST", "Orders", R"({"PartitionKey":"p","RowKey":")" + row + "\"," + properties + "}");
  }
  HttpResponse send_batch(const std::vector<PartText>& parts) {
    return service_.send("POST", "$batch", change_set_text(parts), {{"Content-Type", std::string(kBatchType)}});
  }
  /// Returns the keys of the entities, to which the index must have led.
  std::vector<std::string> found_by(std::string_view index, const std::string& filter) {
    Scan scan;
    scan.filter = filter;
    const Result<ScanPlan> plan = service_.orders.explain(scan);
    EXPECT_TRUE(plan.ok() && plan->indexes.size() == 1 && plan->indexes[0].name == index && plan->indexes[0].is_taken);
    const Result<Page> page = service_.orders.scan(scan);
    EXPECT_EQ(said(page), kFine);
    return page.ok() ? keys_of(*page) : std::vector<std::string>();
  }
  void expect_verified(std::uint64_t indexes, std::uint64_t entries) {
    ASSERT_EQ(said(service_.bench.store->close()), kFine);
    const Result<VerifyReport> report = Store::verify(kStorePath, service_.bench.options());
    ASSERT_EQ(said(report), kFine);
    EXPECT_TRUE(report->sound()) << report->findings.front();
    EXPECT_EQ(report->indexes, indexes);
    EXPECT_EQ(report->index_entries, entries);
  }

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

TEST_F(IndexService, AQueryThatEntriesAnswerAloneHasTheSameBytes) {
  const auto bodies = [&] {
    std::string all;
    for (const char* const query : {"$filter=V%20ge%202&$select=W,V,Timestamp", "$filter=V%20ge%202&$select=None,V"}) {
      all += service_
                 .send("GET", "Orders()?" + std::string(query), "", {{"Accept", "application/json;odata=fullmetadata"}})
                 .body;
    }
    return all;
  };
  const std::string expected = bodies();
  EXPECT_THAT(expected, HasSubstr("odata.etag"));
  EXPECT_EQ(outcome(create(R"({"Name":"ByV","Components":"V,Timestamp","Carried":"W,None"})")), "201");
  EXPECT_EQ(bodies(), expected);
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
  EXPECT_THAT(create(R"({"Name":"ByV","Components":"V:desc"})").body, HasSubstr("a space and asc or desc"));
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
  const bool is_ready = outcome(begun) == "201";  // The build may be faster than the request.
  EXPECT_EQ(outcome(begun), is_ready ? "201" : "202");
  EXPECT_THAT(begun.body, HasSubstr(is_ready ? R"("State":"ready")" : R"("State":"building")"));
  EXPECT_THAT(outcome(create(body)), ::testing::AnyOf("202", "201"));
  std::string state;
  for (int i = 0; i < 100'000 && state.find("ready") == std::string::npos; ++i) {
    state = list();
    EXPECT_EQ(state.find("failed"), std::string::npos);
  }
  EXPECT_THAT(state, HasSubstr(R"("State":"ready")"));
  EXPECT_EQ(state.find("EntitiesRead"), std::string::npos) << "no build goes on";
  service_.dispatcher.index_builds().set_request_time(std::chrono::minutes(1));
  EXPECT_EQ(outcome(create(body)), "201");
}

TEST_F(IndexService, ABuildIsForgottenUnlessItHasFailed) {
  constexpr std::chrono::milliseconds kLong = std::chrono::minutes(1);
  std::vector<std::string> logged;
  IndexBuilds builds(*service_.bench.store,
                     [&logged](std::string_view what, const Status& /*failure*/) { logged.emplace_back(what); });
  std::stop_source stop;
  stop.request_stop();
  for (int i = 0; i < 20; ++i) {
    const IndexDefinition definition{"By" + std::to_string(i), {{"V"}}};
    const Result<IndexBuilds::Handle> build = builds.begin(kAccount, "Orders", definition, stop.get_token());
    ASSERT_EQ(said(build), kFine);
    ASSERT_TRUE(builds.wait(*build, kLong));
    EXPECT_FALSE(builds.of_table(kAccount, "orders").contains(definition.name)) << "a stopped build has not failed";
  }
  EXPECT_TRUE(logged.empty());
  const IndexDefinition refused{"None", {}};
  const Result<IndexBuilds::Handle> failing = builds.begin(kAccount, "Orders", refused, {});
  ASSERT_EQ(said(failing), kFine);
  EXPECT_EQ(builds.wait(*failing, kLong)->code(), Code::kInvalidArgument);
  EXPECT_TRUE(logged.empty()) << "the client's mistake";
  for (int i = 0; i < 2; ++i) {  // The second one finds that the index has failed.
    const IndexDefinition unique{"ByW", {{"W"}}, {}, true};
    const Result<IndexBuilds::Handle> conflict = builds.begin(kAccount, "Orders", unique, {});
    ASSERT_EQ(said(conflict), kFine);
    EXPECT_EQ(builds.wait(*conflict, kLong)->code(), Code::kConflict);
    EXPECT_TRUE(logged.empty()) << "two entities have one value";
  }
  EXPECT_FALSE(builds.forget(kAccount, "Orders", "ByW"));
  EXPECT_NE(builds.of_table(kAccount, "ORDERS")["None"].failure, "");
  EXPECT_FALSE(builds.forget(kAccount, "Orders", "None")) << "it has ended";
  EXPECT_TRUE(builds.of_table(kAccount, "Orders").empty());
}

TEST_F(IndexService, ABuildThatIsForgottenBeforeItBeginsDeclaresNothing) {
  HeldCalls calls(*service_.bench.store);
  IndexBuilds builds(*service_.bench.store);
  const IndexDefinition definition{"ByV", {{"V"}}};
  const Result<IndexBuilds::Handle> build = builds.begin(kAccount, "Orders", definition, {});
  ASSERT_EQ(said(build), kFine);
  EXPECT_EQ(*builds.begin(kAccount, "orders", definition, {}), *build) << "it goes on already";
  EXPECT_EQ(said(builds.begin(kAccount, "Orders", {"ByV", {{"W"}}}, {})),
            (Said{Code::kExists, "ResourceAlreadyExists"}));
  EXPECT_FALSE(builds.wait(*build, std::chrono::milliseconds(0)));
  EXPECT_TRUE(builds.forget(kAccount, "Orders", "ByV"));
  calls.let_all_go();
  EXPECT_EQ(builds.wait(*build, std::chrono::minutes(1))->code(), Code::kCancelled);
  EXPECT_TRUE((*service_.bench.store->indexes(kAccount, "Orders")).empty());
}

TEST_F(IndexService, AFifthBuildAtOnceIsRefusedAndDeclaresNothing) {
  IndexBuilds& builds = service_.dispatcher.index_builds();
  std::vector<IndexBuilds::Handle> begun;
  {
    HeldCalls calls(*service_.bench.store);
    for (const char* const name : {"A", "B", "C", "D"}) {
      const Result<IndexBuilds::Handle> build = builds.begin(kAccount, "Orders", {name, {{"V"}}}, {});
      ASSERT_EQ(said(build), kFine) << name;
      begun.push_back(*build);
    }
    const auto fifth = [&builds] {
      const WireError refused = wire_error(builds.begin(kAccount, "Orders", {"E", {{"V"}}}, {}).status());
      return std::to_string(refused.status) + " " + std::string(refused.code);
    };
    EXPECT_EQ(fifth(), "503 ServerBusy");
    EXPECT_EQ(said(builds.begin(kAccount, "Orders", {"A", {{"V"}}}, {})), kFine) << "it goes on already";
    EXPECT_TRUE(builds.forget(kAccount, "Orders", "B"));
    EXPECT_EQ(fifth(), "503 ServerBusy") << "a forgotten build goes on";
  }
  for (const IndexBuilds::Handle& build : begun) ASSERT_TRUE(builds.wait(build, std::chrono::minutes(1)));
  std::vector<std::string> names;
  for (const IndexInfo& index : *service_.bench.store->indexes(kAccount, "Orders"))
    names.push_back(index.definition.name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("A", "C", "D"));
  builds.set_request_time(std::chrono::minutes(1));
  EXPECT_EQ(outcome(create(R"({"Name":"E","Components":"V"})")), "201");
}

TEST_F(IndexService, ABuildThatEndedWithItsServerGoesOnInTheNext) {
  Store& store = *service_.bench.store;
  const auto stop = [](const IndexBuildProgress&) { return false; };
  ASSERT_EQ(store.create_index(kAccount, "Orders", {"ByV", {{"V"}}}, stop).code(), Code::kCancelled);
  ASSERT_EQ(store.create_index(kAccount, "Orders", {"ByW", {{"W"}}}, stop).code(), Code::kCancelled);
  ASSERT_EQ(said(store.create_index(kAccount, "Orders", {"Fails", {{"W"}}, {}, true})).code, Code::kConflict);
  ASSERT_EQ(said(store.create_table(kAccount, "Second")), kFine);
  ASSERT_EQ(store.create_index(kAccount, "Second", {"ByV", {{"V"}}}, stop).code(), Code::kCancelled);
  service_.dispatcher.resume_index_builds();
  const auto state_of = [&store](const char* table, const std::string& name) {
    const Result<std::vector<IndexInfo>> indexes = store.indexes(kAccount, table);
    EXPECT_EQ(said(indexes), kFine);
    for (const IndexInfo& index : *indexes) {
      if (index.definition.name == name) return index.state;
    }
    return IndexState::kFailed;
  };
  for (int i = 0; i < 1'000'000 && state_of("Second", "ByV") != IndexState::kReady; ++i) {
  }
  EXPECT_EQ(state_of("Second", "ByV"), IndexState::kReady) << "the last one";
  EXPECT_EQ(state_of("Orders", "ByV"), IndexState::kReady);
  EXPECT_EQ(state_of("Orders", "ByW"), IndexState::kReady);
  EXPECT_EQ(state_of("Orders", "Fails"), IndexState::kFailed);
}

TEST_F(IndexService, RefusesMoreNamesThanAnIndexMayHaveBeforeItKeepsThem) {
  std::string many = "a";
  for (int i = 0; i < 252; ++i) many += ",a";
  EXPECT_EQ(outcome(create(R"({"Name":"I","Components":"a,b,c,d,e"})")), "400 InvalidInput");
  EXPECT_EQ(outcome(create(R"({"Name":"I","Components":"a","Carried":")" + many + R"("})")), "400 InvalidInput");
}

using Keys = std::vector<std::string>;
const Headers kIfThere = {{"If-Match", "*"}};

TEST_F(IndexService, EveryWriteKeepsTheIndexesWhole) {
  ASSERT_EQ(outcome(create(R"({"Name":"ByV","Components":"V","Carried":"W"})")), "201");
  ASSERT_EQ(outcome(create(R"({"Name":"ByU","Components":"U","Unique":true})")), "201");
  EXPECT_EQ(outcome(insert("4", R"("V":7,"U":"a")")), "201");
  EXPECT_EQ(outcome(write("PUT", "1", R"({"V":7,"U":"b"})", kIfThere)), "204") << "replace";
  EXPECT_EQ(outcome(write("PUT", "5", R"({"V":7,"U":"c"})")), "204") << "insert or replace";
  EXPECT_EQ(outcome(write("MERGE", "2", R"({"V":7,"W":"other"})", kIfThere)), "204");
  EXPECT_EQ(outcome(write("PATCH", "6", R"({"V":7})")), "204") << "insert or merge";
  EXPECT_EQ(found_by("ByV", "V eq 7"), (Keys{"p/1", "p/2", "p/4", "p/5", "p/6"}));
  EXPECT_EQ(outcome(write("DELETE", "5", "", kIfThere)), "204");
  EXPECT_EQ(found_by("ByV", "V eq 7"), (Keys{"p/1", "p/2", "p/4", "p/6"}));
  const std::string json = "Content-Type: application/json\r\n";
  const HttpResponse batch = send_batch({insert_part("7"),
                                         {"PUT", row_path("1"), json + "If-Match: *\r\n", R"({"V":8,"U":"e"})"},
                                         {"MERGE", row_path("6"), json + "If-Match: *\r\n", R"({"U":"b"})"},
                                         {"DELETE", row_path("4"), "If-Match: *\r\n"}});
  EXPECT_EQ(batch.status, 202);
  EXPECT_THAT(batch.body, HasSubstr("HTTP/1.1 201 Created"));
  EXPECT_EQ(found_by("ByV", "V eq 7"), (Keys{"p/2", "p/6"}));
  EXPECT_EQ(found_by("ByV", "V eq 8"), (Keys{"p/1"}));
  EXPECT_EQ(found_by("ByV", "V eq 'x'"), (Keys{"p/7"}));
  EXPECT_EQ(found_by("ByU", "U eq 'b'"), (Keys{"p/6"})) << "the value has moved";
  expect_verified(2, 7);
}

TEST_F(IndexService, AWriteThatGivesAUniqueValueTwiceIsAConflict) {
  ASSERT_EQ(outcome(create(R"({"Name":"ByV","Components":"V","Unique":true})")), "201");
  const std::string taken = "409 IndexValueAlreadyExists";
  const HttpResponse refused = insert("4", R"("V":3)");
  EXPECT_EQ(outcome(refused), taken);
  EXPECT_THAT(refused.body, HasSubstr("ByV"));
  EXPECT_EQ(outcome(write("PUT", "2", R"({"V":3})", kIfThere)), taken);
  EXPECT_EQ(outcome(write("PUT", "2", R"({"V":3})")), taken);
  EXPECT_EQ(outcome(write("MERGE", "2", R"({"V":3})", kIfThere)), taken);
  EXPECT_EQ(outcome(write("PATCH", "4", R"({"V":3})")), taken);
  const std::string json = "Content-Type: application/json\r\n";
  const HttpResponse batch = send_batch({insert_part("5"), {"PUT", row_path("4"), json, R"({"V":3})"}});
  EXPECT_EQ(batch.status, 202);
  EXPECT_THAT(batch.body, HasSubstr("HTTP/1.1 409 Conflict"));
  EXPECT_THAT(batch.body, HasSubstr(R"("code":"IndexValueAlreadyExists")"));
  EXPECT_THAT(batch.body, HasSubstr(R"("value":"1:)"));
  EXPECT_EQ(outcome(write("PUT", "3", R"({"V":3,"W":"new"})", kIfThere)), "204") << "its own value";
  EXPECT_EQ(found_by("ByV", "V eq 3"), (Keys{"p/3"}));
  EXPECT_FALSE(read(service_.orders, "p", "5")) << "no part of the batch was done";
  EXPECT_EQ(outcome(write("DELETE", "3", "", kIfThere)), "204");
  EXPECT_EQ(outcome(insert("4", R"("V":3)")), "201");
  expect_verified(1, 3);
}

TEST_F(IndexService, NeedsTheKeyOfTheAccount) {
  security::AccountSasTerms terms;
  terms.resource_types = "sco";
  terms.permissions = "rwdlacu";
  terms.expiry = *DateTime::parse("2100-01-01T00:00:00Z");
  const std::string token = security::to_query(*security::sign_account_sas(terms, credentials()));
  const std::string body = R"({"Name":"ByV","Components":"V"})";
  EXPECT_THAT(outcome(service_.send_by(token, "GET", kIndexes)), StartsWith("403 "));
  EXPECT_THAT(outcome(service_.send_by(token, "POST", kIndexes, body, kJson)), StartsWith("403 "));
  EXPECT_THAT(outcome(service_.send_by(token, "DELETE", std::string(kIndexes) + "&index=ByV")), StartsWith("403 "));
}

}  // namespace
}  // namespace varve::serve::index_service_test
