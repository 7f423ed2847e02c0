// Goal: requests in the form of real clients have the service's effect and get its answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"

namespace varve::serve::service_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

class Service : public ::testing::Test {
 protected:
  HttpResponse send(std::string_view verb, std::string_view resource, std::string body = {}, Headers headers = {}) {
    return service_.send(verb, resource, std::move(body), std::move(headers));
  }
  std::string insert(const std::string& row, const std::string& members = "") {
    return outcome(send("POST", "Orders", R"({"PartitionKey":"p","RowKey":")" + row + "\"" + members + "}"));
  }
  std::optional<Entity> stored(std::string_view row) { return read(service_.orders, "p", row); }

  ServiceBench service_;
};

constexpr std::string_view kRow1 = "Orders(PartitionKey='p',RowKey='1')";
const Headers kAny = {{"If-Match", "*"}};
const Headers kNoMetadata = {{"Accept", "application/json;odata=nometadata"}};

TEST_F(Service, B01_H30_X09_TablesAreCreated) {
  const HttpResponse created = send("POST", "Tables", R"({"TableName":"Fresh"})");
  EXPECT_EQ(outcome(created), "201");
  EXPECT_EQ(
      created.body,
      R"({"odata.metadata":"http://127.0.0.1:10002/devstoreaccount1/$metadata#Tables/@Element","TableName":"Fresh"})");
  EXPECT_EQ(header(created, "Location"), "http://127.0.0.1:10002/devstoreaccount1/Tables('Fresh')");
  EXPECT_EQ(header(created, "Preference-Applied"), "");
  const HttpResponse quiet = send("POST", "Tables", R"({"TableName":"Second"})", {{"Prefer", "return-no-content"}});
  EXPECT_EQ(outcome(quiet), "204");
  EXPECT_EQ(quiet.body, "");
  EXPECT_EQ(header(quiet, "DataServiceId"), "http://127.0.0.1:10002/devstoreaccount1/Tables('Second')");
  EXPECT_EQ(header(quiet, "Preference-Applied"), "return-no-content");
  const HttpResponse again = send("POST", "Tables", R"({"TableName":"FRESH"})", {{"Prefer", "return-no-content"}});
  EXPECT_EQ(outcome(again), "409 TableAlreadyExists");
  EXPECT_EQ(header(again, "Preference-Applied"), "return-no-content");
  EXPECT_EQ(outcome(send("POST", "Tables()", R"({"TableName":"Third"})", {{"Prefer", "return-content"}})), "201");
}

TEST_F(Service, B02_NamesOfTablesAreJudged) {
  EXPECT_EQ(outcome(send("POST", "Tables", R"({"TableName":"ab"})")), "400 OutOfRangeInput");
  EXPECT_EQ(outcome(send("POST", "Tables", R"({"TableName":"a-b"})")), "400 InvalidResourceName");
  EXPECT_EQ(outcome(send("POST", "Tables", R"({"TableName":"tables"})")), "400 InvalidInput");
  EXPECT_EQ(outcome(send("POST", "Tables", "{}")), "400 PropertiesNeedValue");
  EXPECT_EQ(outcome(send("POST", "Tables", "<x/>", {{"Content-Type", "application/atom+xml"}})),
            "415 AtomFormatNotSupported");
}

TEST_F(Service, B03_B09_TablesAreReadAndDeleted) {
  EXPECT_EQ(outcome(send("GET", "Tables('orders')")), "200");
  EXPECT_THAT(send("GET", "Tables('orders')").body, HasSubstr(R"("TableName":"Orders")"));
  EXPECT_EQ(outcome(send("GET", "Tables('order')")), "404 ResourceNotFound");
  EXPECT_EQ(outcome(send("GET", "Tables('')")), "404 ResourceNotFound");
  EXPECT_EQ(outcome(send("DELETE", "Tables('Orders')")), "204");
  EXPECT_EQ(outcome(send("DELETE", "Tables('Orders')")), "404 ResourceNotFound");
  EXPECT_EQ(outcome(send("GET", "Tables('Orders')")), "404 ResourceNotFound");
  EXPECT_EQ(outcome(send("DELETE", "Tables('no-table')")), "404 ResourceNotFound");
  EXPECT_EQ(outcome(send("GET", "Orders()")), "404 TableNotFound");
}

TEST_F(Service, B06_B07_TablesAreListedInPagesAndByFilter) {
  for (const std::string name : {"abcTwo", "Abd", "abcOne", "zzz"}) (void)service_.bench.table(name);
  EXPECT_EQ(send("GET", "Tables", "", kNoMetadata).body,
            R"({"value":[{"TableName":"abcOne"},{"TableName":"abcTwo"},{"TableName":"Abd"},{"TableName":"Orders"},)"
            R"({"TableName":"zzz"}]})");
  const std::string prefix = "Tables?$filter=TableName%20ge%20'abc'%20and%20TableName%20lt%20'abd'";
  EXPECT_EQ(send("GET", prefix, "", kNoMetadata).body, R"({"value":[{"TableName":"abcOne"},{"TableName":"abcTwo"}]})");
  const HttpResponse first = send("GET", "Tables?$top=2", "", kNoMetadata);
  EXPECT_EQ(first.body, R"({"value":[{"TableName":"abcOne"},{"TableName":"abcTwo"}]})");
  const std::string next = header(first, "x-ms-continuation-NextTableName");
  ASSERT_NE(next, "");
  const HttpResponse second = send("GET", "Tables?$top=9&NextTableName=" + encoded(next), "", kNoMetadata);
  EXPECT_EQ(second.body, R"({"value":[{"TableName":"Abd"},{"TableName":"Orders"},{"TableName":"zzz"}]})");
  EXPECT_EQ(header(second, "x-ms-continuation-NextTableName"), "");
  EXPECT_EQ(send("GET", "Tables?$top=0", "", kNoMetadata).body, R"({"value":[]})");
}

TEST_F(Service, B08_TablesAreFilteredByNameAlone) {
  EXPECT_EQ(outcome(send("GET", "Tables?$filter=Size%20eq%203")), "400 InvalidInput");
  EXPECT_EQ(outcome(send("GET", "Tables?$top=-1")), "400 InvalidInput");
  EXPECT_EQ(outcome(send("GET", "Tables?$filter=startswith(TableName,'a')")), "501 NotImplemented");
  EXPECT_EQ(outcome(send("GET", "Tables?$filter=TableName%20in%20('a')")), "400 InvalidInput");
  EXPECT_EQ(outcome(send("GET", "Tables?$orderby=TableName")), "501 NotImplemented");
}

TEST_F(Service, O10_H23_AnInsertAnswersWithWhatItStored) {
  const HttpResponse made = send("POST", "Orders", R"({"PartitionKey":"p","RowKey":"O'B n","V":7,"N":null})");
  EXPECT_EQ(outcome(made), "201");
  const Entity entity = *read(service_.orders, "p", "O'B n");
  EXPECT_EQ(header(made, "ETag"), entity.etag().to_string());
  EXPECT_EQ(header(made, "Location"),
            "http://127.0.0.1:10002/devstoreaccount1/Orders(PartitionKey='p',RowKey='O''B%20n')");
  EXPECT_THAT(made.body,
              HasSubstr(R"("RowKey":"O'B n","Timestamp":")" + entity.timestamp().to_string() + R"(","V":7})"));
  const HttpResponse quiet =
      send("POST", "Orders()", R"({"PartitionKey":"p","RowKey":"2"})", {{"Prefer", "return-no-content"}});
  EXPECT_EQ(outcome(quiet), "204");
  EXPECT_EQ(header(quiet, "Location"), header(quiet, "DataServiceId"));
  EXPECT_NE(header(quiet, "ETag"), "");
  EXPECT_EQ(insert("2"), "409 EntityAlreadyExists");
  EXPECT_EQ(header(send("POST", "oRDERS", R"({"PartitionKey":"p","RowKey":"3"})"), "Location"),
            "http://127.0.0.1:10002/devstoreaccount1/oRDERS(PartitionKey='p',RowKey='3')");
}

TEST_F(Service, O10_AnInsertsFaultsHaveTheirOwnErrors) {
  EXPECT_EQ(outcome(send("POST", "Missing", R"({"PartitionKey":"p","RowKey":"1"})")), "404 TableNotFound");
  EXPECT_EQ(outcome(send("POST", "Missing", "{")), "400 InvalidInput");  // O-07
  EXPECT_EQ(outcome(send("POST", "Orders", R"({"RowKey":"1"})")), "400 PropertiesNeedValue");
  EXPECT_EQ(insert("a/b"), "400 OutOfRangeInput");
  EXPECT_EQ(insert("1", R"(,"a-b":1)"), "400 PropertyNameInvalid");
  EXPECT_EQ(insert("1", ",\"" + std::string(256, 'a') + "\":1"), "400 PropertyNameTooLong");
  EXPECT_EQ(insert("1", ",\"V\":\"" + std::string(32'769, 'a') + "\""), "400 PropertyValueTooLarge");
  EXPECT_EQ(insert(std::string(1025, 'a')), "400 PropertyValueTooLarge");
  EXPECT_EQ(insert("1", R"(,"V":"\udc00")"), "400 InvalidInput");
  std::string many;
  for (int i = 0; i < 253; ++i) many += ",\"P" + std::to_string(i) + "\":1";
  EXPECT_EQ(insert("1", many), "400 TooManyProperties");
}

TEST_F(Service, O15_H22_OneEntityIsRead) {
  EXPECT_EQ(insert("1", R"(,"V":7,"W":8)"), "201");
  const HttpResponse got = send("GET", kRow1, "", kNoMetadata);
  EXPECT_EQ(outcome(got), "200");
  EXPECT_THAT(got.body, HasSubstr(R"("V":7,"W":8})"));
  EXPECT_EQ(header(got, "ETag"), stored("1")->etag().to_string());
  EXPECT_EQ(header(got, "Content-Type"), "application/json;odata=nometadata;streaming=true;charset=utf-8");
  EXPECT_EQ(send("GET", std::string(kRow1) + "?$select=W,X&$filter=V%20eq%201&$top=5", "", kNoMetadata).body,
            R"({"W":8,"X":null})");
  EXPECT_EQ(outcome(send("GET", "Orders(PartitionKey='p',RowKey='2')")), "404 ResourceNotFound");
  EXPECT_EQ(outcome(send("GET", "Missing(PartitionKey='p',RowKey='2')")), "404 TableNotFound");
  EXPECT_EQ(outcome(send("GET", "Orders%28PartitionKey%3D%27p%27%2CRowKey%3D%271%27%29")), "200");
}

TEST_F(Service, O01_O11_O12_PutReplacesAndMergeAdds) {
  EXPECT_EQ(insert("1", R"(,"V":7,"W":8)"), "201");
  const std::string first = stored("1")->etag().to_string();
  const HttpResponse merged = send("MERGE", kRow1, R"({"V":9})", {{"If-Match", first}});
  EXPECT_EQ(outcome(merged), "204");
  EXPECT_EQ(header(merged, "ETag"), stored("1")->etag().to_string());
  EXPECT_EQ(*stored("1")->find("V"), Value(9));
  EXPECT_EQ(*stored("1")->find("W"), Value(8));
  EXPECT_EQ(outcome(send("PATCH", kRow1, "{}", kAny)), "204");
  EXPECT_EQ(outcome(send("PUT", kRow1, R"({"X":1})", {{"If-Match", first}})), "412 UpdateConditionNotSatisfied");
  EXPECT_EQ(outcome(send("PUT", kRow1, R"({"X":1})", kAny)), "204");
  EXPECT_EQ(stored("1")->properties().size(), 1U);
  EXPECT_EQ(outcome(send("PUT", "Orders(PartitionKey='p',RowKey='2')", "{}", kAny)), "404 ResourceNotFound");
}

TEST_F(Service, O13_WithoutIfMatchPutAndMergeInsert) {
  EXPECT_EQ(outcome(send("PUT", kRow1, R"({"V":1})")), "204");
  EXPECT_EQ(outcome(send("MERGE", kRow1, R"({"W":2})")), "204");
  EXPECT_EQ(stored("1")->properties().size(), 2U);
  EXPECT_EQ(outcome(send("PUT", kRow1, R"({"X":3})")), "204");
  EXPECT_EQ(stored("1")->properties().size(), 1U);
  EXPECT_EQ(outcome(send("PUT", kRow1, R"({"X":3})", {{"x-ms-version", "2009-09-19"}})), "400 InvalidInput");
}

TEST_F(Service, O14_ADeleteNeedsItsCondition) {
  EXPECT_EQ(insert("1"), "201");
  EXPECT_EQ(outcome(send("DELETE", kRow1)), "400 MissingRequiredHeader");
  EXPECT_EQ(outcome(send("DELETE", kRow1, "", {{"If-Match", "W/\"datetime'2020-01-01T00%3A00%3A00Z'\""}})),
            "412 UpdateConditionNotSatisfied");
  const HttpResponse gone = send("DELETE", kRow1, "", kAny);
  EXPECT_EQ(outcome(gone), "204");
  EXPECT_EQ(header(gone, "ETag"), "");
  EXPECT_EQ(outcome(send("DELETE", kRow1, "", kAny)), "404 ResourceNotFound");
}

TEST_F(Service, O02_O03_X07_OtherConditionsAreRefused) {
  EXPECT_EQ(insert("1"), "201");
  EXPECT_EQ(outcome(send("PUT", kRow1, "{}", {{"If-None-Match", "*"}})), "400 InvalidInput");
  EXPECT_EQ(outcome(send("DELETE", kRow1, "", {{"If-Match", "*"}, {"If-None-Match", "*"}})), "400 InvalidInput");
  EXPECT_EQ(outcome(send("PUT", kRow1, "{}", {{"If-Match", "nonsense"}})), "400 InvalidInput");
  EXPECT_EQ(outcome(send("PUT", kRow1, "{}", {{"If-Match", ""}})), "400 InvalidInput");
  EXPECT_EQ(outcome(send("PUT", kRow1, "{}", {{"If-Match", "*"}, {"If-Match", "*"}})), "400 InvalidInput");
}

TEST_F(Service, D13_KeysInUrlsAreJudged) {
  EXPECT_EQ(outcome(send("PUT", "Orders(PartitionKey='a%2Fb',RowKey='1')", "{}")), "400 InvalidInput");
  EXPECT_EQ(outcome(send("PUT", "Orders(PartitionKey='a%23b',RowKey='1')", "{}")), "400 OutOfRangeInput");
  EXPECT_EQ(outcome(send("PUT", "Orders(PartitionKey='%FF',RowKey='1')", "{}")), "400 InvalidInput");
}

TEST_F(Service, Q10_Q42_Q43_QueriesGoOnWhereTheyEnded) {
  for (const std::string row : {"1", "2", "3"}) EXPECT_EQ(insert(row), "201");
  const std::string query = "Orders()?$filter=PartitionKey%20eq%20'p'&$top=2&$select=RowKey";
  const HttpResponse first = send("GET", query, "", kNoMetadata);
  EXPECT_EQ(first.body, R"({"value":[{"RowKey":"1"},{"RowKey":"2"}]})");
  const std::string partition = header(first, "x-ms-continuation-NextPartitionKey");
  const std::string row = header(first, "x-ms-continuation-NextRowKey");
  EXPECT_EQ(partition, "1!4!cA--");
  EXPECT_EQ(row, "1!4!Mw--");
  const HttpResponse second =
      send("GET", query + "&NextPartitionKey=" + encoded(partition) + "&NextRowKey=" + encoded(row), "", kNoMetadata);
  EXPECT_EQ(second.body, R"({"value":[{"RowKey":"3"}]})");
  EXPECT_EQ(header(second, "x-ms-continuation-NextPartitionKey"), "");
}

TEST_F(Service, Q01_Q17_O16_H04_QueryOptionsAreThoseOfTheService) {
  EXPECT_EQ(insert("1", R"(,"V":7)"), "201");
  EXPECT_EQ(outcome(send("GET", "Orders?$filter=V%20eq")), "400 InvalidInput");
  EXPECT_EQ(outcome(send("GET", "Orders?$orderby=V")), "501 NotImplemented");
  EXPECT_EQ(outcome(send("GET", "Orders?$top=1001")), "400 InvalidInput");
  EXPECT_EQ(outcome(send("GET", "Orders?unknown=1&timeout=90")), "200");
  EXPECT_EQ(outcome(send("GET", "Orders?timeout=0")), "400 InvalidQueryParameterValue");
  EXPECT_EQ(send("GET", "Orders?$filter=V%20eq%208&$select=V", "", kNoMetadata).body, R"({"value":[]})");
  EXPECT_EQ(send("GET", "Orders(PartitionKey='p')?$top=5&$select=V", "", kNoMetadata).body, R"({"value":[{"V":7}]})");
  EXPECT_EQ(send("GET", "Orders(PartitionKey='q')?$select=V", "", kNoMetadata).body, R"({"value":[]})");
}

TEST_F(Service, O18_OtherVerbsAreNotAllowed) {
  EXPECT_EQ(outcome(send("PUT", "Orders", "{}")), "405 MethodNotAllowed");
  EXPECT_EQ(outcome(send("POST", kRow1, "{}")), "405 MethodNotAllowed");
  EXPECT_EQ(outcome(send("PUT", "Tables('Orders')", "{}")), "405 MethodNotAllowed");
  EXPECT_EQ(outcome(send("DELETE", "Orders(PartitionKey='p')", "", kAny)), "405 MethodNotAllowed");
  EXPECT_EQ(outcome(send("GET", "$batch")), "405 MethodNotAllowed");
  EXPECT_EQ(outcome(send("GET", "")), "400 InvalidUri");
  EXPECT_EQ(outcome(send("GET", "Orders?comp=lease")), "400 InvalidQueryParameterValue");
  EXPECT_EQ(outcome(send("GET", "Tables?comp=acl")), "400 InvalidQueryParameterValue");
}

TEST_F(Service, H05_VerbsAreTunnelledThroughPost) {
  EXPECT_EQ(outcome(send("POST", kRow1, R"({"V":1})", {{"X-HTTP-Method", "MERGE"}})), "204");
  EXPECT_EQ(outcome(send("POST", kRow1, "", {{"X-HTTP-Method", "DELETE"}, {"If-Match", "*"}})), "204");
  EXPECT_EQ(outcome(send("PUT", kRow1, "{}", {{"X-HTTP-Method", "MERGE"}})), "400 XMethodNotUsingPost");
  EXPECT_EQ(outcome(send("POST", kRow1, "{}", {{"X-HTTP-Method", "GET"}})), "400 XMethodIncorrectValue");
  EXPECT_EQ(outcome(send("POST", kRow1, "{}", {{"X-HTTP-Method", "MERGE"}, {"x-http-method", "MERGE"}})),
            "400 XMethodIncorrectCount");
}

TEST_F(Service, H20_H21_EveryAnswerIsLabelled) {
  const HttpResponse got =
      send("GET", "Tables", "", {{"x-ms-client-request-id", "mine"}, {"x-ms-version", "2019-02-02"}});
  EXPECT_EQ(header(got, "x-ms-client-request-id"), "mine");
  EXPECT_EQ(header(got, "x-ms-version"), "2019-02-02");
  EXPECT_EQ(header(got, "Date"), "Tue, 03 Mar 2026 10:20:30 GMT");
  EXPECT_EQ(header(got, "Cache-Control"), "no-cache");
  EXPECT_EQ(header(got, "X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(header(got, "x-ms-request-id").size(), 36U);
  EXPECT_NE(header(got, "x-ms-request-id"), header(send("GET", "Tables"), "x-ms-request-id"));
  const HttpResponse refused = send("GET", "Missing", "", {{"x-ms-client-request-id", std::string(1025, 'x')}});
  EXPECT_EQ(header(refused, "x-ms-client-request-id"), "");
  const HttpResponse longest = send("GET", "Missing", "", {{"x-ms-client-request-id", std::string(1024, '~')}});
  EXPECT_EQ(header(longest, "x-ms-client-request-id"), std::string(1024, '~'));
  for (const std::string id : {"caf\xC3\xA9", "a\tb", "a\x7F"}) {
    EXPECT_EQ(header(send("GET", "Tables", "", {{"x-ms-client-request-id", id}}), "x-ms-client-request-id"), "") << id;
  }
  EXPECT_EQ(header(refused, "x-ms-request-id").size(), 36U);
}

TEST_F(Service, H10_VersionsAreDates) {
  EXPECT_EQ(outcome(send("GET", "Tables", "", {{"x-ms-version", "2009-09-19"}})), "200");
  EXPECT_EQ(outcome(send("GET", "Tables", "", {{"x-ms-version", "2008-10-27"}})), "400 InvalidHeaderValue");
  EXPECT_EQ(outcome(send("GET", "Tables", "", {{"x-ms-version", "newest"}})), "400 InvalidHeaderValue");
  EXPECT_EQ(outcome(send("GET", "Tables", "", {{"x-ms-version", "2020-13-01"}})), "400 InvalidHeaderValue");
}

TEST_F(Service, E01_E03_ErrorsSayWhatAndWhichRequest) {
  const HttpResponse refused = send("GET", "Missing()");
  EXPECT_EQ(outcome(refused), "404 TableNotFound");
  EXPECT_THAT(refused.body, HasSubstr(R"({"odata.error":{"code":"TableNotFound","message":{"lang":"en-US","value":")"));
  EXPECT_THAT(refused.body, HasSubstr("\\nRequestId:" + header(refused, "x-ms-request-id") +
                                      "\\nTime:2026-03-03T10:20:30.0000000Z\"}}}"));
}

TEST_F(Service, S01_S05_S07_X28_WithoutAGoodSignatureNothingIsTold) {
  HttpRequest unsigned_request = ServiceBench::request("GET", ServiceBench::path_of("Orders"));
  EXPECT_EQ(outcome(service_.send(unsigned_request)), "401 NoAuthenticationInformation");
  const auto with_authorization = [&](std::string_view value, std::string_view account = kAccount) {
    HttpRequest made = ServiceBench::request("GET", "/" + std::string(account) + "/Missing");
    made.head.headers.emplace_back("Authorization", value);
    return service_.send(made);
  };
  const HttpResponse wrong = with_authorization("SharedKeyLite devstoreaccount1:" + std::string(43, 'A') + "=");
  const HttpResponse unknown = with_authorization("SharedKeyLite nobody:" + std::string(43, 'A') + "=", "nobody");
  const HttpResponse others = with_authorization("SharedKeyLite somebody:" + std::string(43, 'A') + "=");
  EXPECT_EQ(outcome(wrong), "403 AuthenticationFailed");
  const auto words = [](const HttpResponse& response) { return response.body.substr(0, response.body.find("\\n")); };
  EXPECT_EQ(outcome(unknown), "404 ResourceNotFound");  // X-28
  EXPECT_EQ(words(others), words(wrong));
  EXPECT_EQ(outcome(with_authorization("Basic x")), "400 InvalidAuthenticationInfo");
  const HttpResponse bearer = with_authorization("Bearer x");
  EXPECT_EQ(outcome(bearer), "401 NoAuthenticationInformation");
}

TEST_F(Service, S08_BearerTokensAreRefusedWithAChallenge) {
  HttpRequest bearer = ServiceBench::request("GET", ServiceBench::path_of("Orders"));
  bearer.head.headers.emplace_back("Authorization", "Bearer x");
  EXPECT_NE(header(service_.send(bearer), "WWW-Authenticate"), "");
}

TEST_F(Service, H01_TheSecondaryIsForReading) {
  EXPECT_EQ(insert("1"), "201");
  const auto on_secondary = [&](std::string_view verb, const std::string& resource) {
    HttpRequest made = ServiceBench::request(verb, "/devstoreaccount1-secondary/" + resource, "{}");
    made.head.headers.emplace_back(
        "Authorization",
        *security::shared_key_authorization(security::SharedKeyScheme::kSharedKeyLite, made.head, credentials()));
    return outcome(service_.send(made));
  };
  EXPECT_EQ(on_secondary("GET", std::string(kRow1)), "200");
  EXPECT_EQ(on_secondary("PUT", std::string(kRow1)), "403 InsufficientAccountPermissions");
  EXPECT_EQ(on_secondary("POST", "$batch"), "400 InvalidInput") << "a batch is judged by its parts (X-22)";
  EXPECT_EQ(on_secondary("GET", "?restype=service&comp=stats"), "200");
}

TEST_F(Service, H01_QN03_AHostOfAnotherServiceIsRefused) {
  const auto told_by = [this](std::string_view service) {
    HttpRequest made = service_.signed_request("GET", "Tables");
    for (auto& [name, value] : made.head.headers) {
      if (name == "Host") value = std::string(kAccount).append(service).append(".localhost:10002");
    }
    return outcome(service_.send(std::move(made)));
  };
  EXPECT_EQ(told_by(".table"), "200");
  EXPECT_EQ(told_by(""), "200");
  EXPECT_EQ(told_by(".queue"), "400 InvalidUri");
  EXPECT_EQ(told_by(".blob"), "400 InvalidUri");
}

TEST_F(Service, ContentMD5IsCheckedWhereItIsGiven) {
  EXPECT_EQ(outcome(send("PUT", kRow1, "{}", {{"Content-MD5", "mZFLkyvTelC5g8XnyQrpOw=="}})), "204");
  EXPECT_EQ(outcome(send("PUT", kRow1, "{ }", {{"Content-MD5", "mZFLkyvTelC5g8XnyQrpOw=="}})), "400 Md5Mismatch");
  EXPECT_EQ(outcome(send("PUT", kRow1, "{}", {{"Content-MD5", "x"}})), "400 InvalidMd5");
}

TEST_F(Service, FailuresOfTheMachineAreToldToTheLogAndNotToTheClient) {
  ASSERT_TRUE(service_.bench.store->close().ok());
  const HttpResponse failed = send("GET", kRow1);
  EXPECT_EQ(outcome(failed), "503 ServerBusy");
  ASSERT_EQ(service_.failures.size(), 1U);
  EXPECT_EQ(service_.failures.front().code(), Code::kClosed);
}

}  // namespace
}  // namespace varve::serve::service_test
