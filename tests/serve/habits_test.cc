// Goal: the unusual requests that real clients of the service send are understood.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"

namespace varve::serve::habits_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

class ServiceHabits : public ::testing::Test {
 protected:
  HttpResponse send(std::string_view verb, std::string_view resource, std::string body = {}, Headers headers = {}) {
    return service_.send(verb, resource, std::move(body), std::move(headers));
  }
  /// Signs with SharedKey, which covers verb and type.
  HttpResponse send_by_shared_key(std::string_view verb, std::string_view resource, std::string body, Headers headers) {
    HttpRequest made =
        ServiceBench::request(verb, ServiceBench::path_of(resource), std::move(body), std::move(headers));
    made.head.headers.emplace_back(
        "Authorization",
        *security::shared_key_authorization(security::SharedKeyScheme::kSharedKey, made.head, credentials()));
    return service_.send(std::move(made));
  }
  std::optional<Entity> stored(std::string_view row) { return read(service_.orders, "p", row); }

  ServiceBench service_;
};

const std::string kFormat = "?$format=application%2Fjson%3Bodata%3Dminimalmetadata";

TEST_F(ServiceHabits, H60_DotNetGivesTheFormatInEveryUrlAndMergesByPatch) {
  const Headers headers = {{"x-ms-version", "2019-02-02"},
                           {"DataServiceVersion", "3.0;NetFx"},
                           {"MaxDataServiceVersion", "3.0;NetFx"},
                           {"Accept", "application/json;odata=minimalmetadata"},
                           {"Content-Type", "application/json;odata=nometadata"},
                           {"Prefer", "return-no-content"}};
  const std::string entity =
      R"({"PartitionKey":"p","RowKey":"1","Timestamp":null,"Timestamp@odata.type":"Edm.DateTime","V":1})";
  EXPECT_EQ(outcome(send_by_shared_key("POST", "Orders" + kFormat, entity, headers)), "204");
  Headers merging = headers;
  merging.emplace_back("If-Match", stored("1")->etag().to_string());
  EXPECT_EQ(outcome(send_by_shared_key("PATCH", "Orders(PartitionKey='p',RowKey='1')" + kFormat,
                                       R"({"Timestamp":null,"W":2})", merging)),
            "204");
  EXPECT_EQ(stored("1")->properties().size(), 2U);
  const HttpResponse page = send("GET", "Orders()" + kFormat + "&$filter=PartitionKey%20eq%20'p'", "", headers);
  EXPECT_EQ(outcome(page), "200");
  EXPECT_THAT(page.body, HasSubstr(R"("V":1,"W":2})"));
  EXPECT_EQ(outcome(send("DELETE", "Tables('Orders')", "", {{"x-ms-version", "2019-02-02"}})), "204");
}

TEST_F(ServiceHabits, H60_JavaScriptWritesNamesOfPartHeadersInLowerCaseAndDoesNotEndTheBatch) {
  const std::string batch =
      "--batch_1\r\ncontent-type: multipart/mixed; boundary=changeset_1\r\n\r\n\r\n--changeset_1\r\n"
      "content-type: application/http\r\ncontent-transfer-encoding: binary\r\n\r\n"
      "POST http://127.0.0.1:10002/devstoreaccount1/Orders HTTP/1.1\r\naccept: application/json\r\n"
      "content-type: application/json;odata=nometadata\r\ndataserviceversion: 3.0\r\nprefer: "
      "return-no-content\r\n\r\n\r\n"
      R"({"PartitionKey":"p","RowKey":"1","Serial":"7","Serial@odata.type":"Edm.Int64"})"
      "\r\n--changeset_1--\r\n--batch_1";
  const HttpResponse answered = send("POST", "$batch", batch,
                                     {{"Content-Type", "multipart/mixed; boundary=batch_1"},
                                      {"x-ms-version", "2019-02-02"},
                                      {"DataServiceVersion", "3.0"},
                                      {"Accept", "application/json"}});
  EXPECT_EQ(outcome(answered), "202");
  EXPECT_THAT(answered.body, HasSubstr("HTTP/1.1 204 No Content\r\n"));
  EXPECT_THAT(answered.body, HasSubstr("Preference-Applied: return-no-content\r\n"));
  EXPECT_EQ(*stored("1")->find("Serial"), Value(std::int64_t{7}));
}

TEST_F(ServiceHabits, H60_PythonAnnotatesItsKeysAndWritesSixDigitsOfSeconds) {
  const Headers headers = {{"x-ms-version", "2019-02-02"},
                           {"DataServiceVersion", "3.0"},
                           {"Accept", "application/json;odata=minimalmetadata"},
                           {"Content-Type", "application/json;odata=nometadata"}};
  const std::string entity =
      R"({"PartitionKey":"p","PartitionKey@odata.type":"Edm.String","RowKey":"1","RowKey@odata.type":"Edm.String",)"
      R"("Due":"2026-03-03T10:20:30.123000Z","Due@odata.type":"Edm.DateTime","Paid":true,)"
      R"("Paid@odata.type":"Edm.Boolean"})";
  const HttpResponse made = send("POST", "Orders", entity, headers);
  EXPECT_EQ(outcome(made), "201");
  EXPECT_THAT(made.body, HasSubstr(R"("Due@odata.type":"Edm.DateTime","Due":"2026-03-03T10:20:30.123Z")"));
  EXPECT_EQ(*stored("1")->find("Due"), Value(at("2026-03-03T10:20:30.123Z")));
}

TEST_F(ServiceHabits, H61_CppSendsEveryValueAsATextAndEncodesTheWholeSegment) {
  const std::string token = to_query(*sign_table_sas(SecurityBench::table_terms(), credentials()));
  const std::string entity =
      R"({"PartitionKey":"p","PartitionKey@odata.type":"Edm.String","RowKey":"O'B n","RowKey@odata.type":"Edm.String",)"
      R"("N":"7","N@odata.type":"Edm.Int32","D":"2.5","D@odata.type":"Edm.Double","B":"true",)"
      R"("B@odata.type":"Edm.Boolean"})";
  EXPECT_EQ(outcome(service_.send_by(token, "POST", "Orders", entity)), "201");
  EXPECT_EQ(*stored("O'B n")->find("N"), Value(7));
  EXPECT_EQ(*stored("O'B n")->find("D"), Value(2.5));
  EXPECT_EQ(*stored("O'B n")->find("B"), Value(true));
  // The segment is encoded as a whole, and its quote is not doubled.
  const std::string segment = encoded("Orders(PartitionKey='p',RowKey='O'B n')");
  EXPECT_EQ(outcome(service_.send_by(token, "GET", segment)), "200");
  EXPECT_EQ(outcome(service_.send_by(token, "DELETE", segment, "", {{"If-Match", "*"}})), "204");
}

}  // namespace
}  // namespace varve::serve::habits_test
