// Goal: a protocol version knows the features of its own and of earlier versions, and no others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"

namespace varve::serve::version_rules_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

class ServiceVersions : public ::testing::Test {
 protected:
  HttpResponse send(std::string_view version, std::string_view verb, std::string_view resource, std::string body = {},
                    Headers headers = {}) {
    headers.emplace_back("x-ms-version", version);
    return service_.send(verb, resource, std::move(body), std::move(headers));
  }
  std::string said(std::string_view version, std::string_view verb, std::string_view resource, std::string body = {},
                   Headers headers = {}) {
    return outcome(send(version, verb, resource, std::move(body), std::move(headers)));
  }

  ServiceBench service_;
};

constexpr std::string_view kRow1 = "Orders(PartitionKey='p',RowKey='1')";
constexpr std::string_view kInsert1 = R"({"PartitionKey":"p","RowKey":"1"})";

TEST_F(ServiceVersions, H04_H10_H20_TheVersionIsThatOfTheQueryElseTheHeaderElseTheSignature) {
  const auto used = [](const HttpResponse& response) { return header(response, "x-ms-version"); };
  EXPECT_EQ(used(service_.send("GET", "Tables")), "2020-12-06");
  EXPECT_EQ(used(send("2019-02-02", "GET", "Tables")), "2019-02-02");
  EXPECT_EQ(used(send("2019-02-02", "GET", "Tables?api-version=2015-04-05")), "2015-04-05");
  security::TableSasTerms terms = SecurityBench::table_terms("r");
  terms.version = "2019-02-02";
  const std::string token = to_query(*sign_table_sas(terms, credentials()));
  EXPECT_EQ(used(service_.send_by(token, "GET", "Orders()")), "2019-02-02");
  EXPECT_EQ(used(service_.send_by(token + "x", "GET", "Orders()")), "2019-02-02");  // in refusals too
  EXPECT_EQ(used(service_.send_by(token, "GET", "Orders()", "", {{"x-ms-version", "2020-12-06"}})), "2020-12-06");
}

TEST_F(ServiceVersions, H11_UpsertsAndSelectionsAreFrom2011) {
  EXPECT_EQ(said("2011-08-17", "PUT", kRow1, "{}"), "400 InvalidInput");
  EXPECT_EQ(said("2011-08-17", "MERGE", kRow1, "{}"), "400 InvalidInput");
  EXPECT_EQ(said("2011-08-18", "PUT", kRow1, "{}"), "204");
  EXPECT_EQ(said("2009-09-19", "PUT", kRow1, "{}", {{"If-Match", "*"}}), "204");
  EXPECT_EQ(said("2011-08-17", "GET", "Orders()?$select=RowKey"), "501 NotImplemented");
  EXPECT_EQ(said("2011-08-18", "GET", "Orders()?$select=RowKey"), "200");
  EXPECT_EQ(said("2011-08-17", "GET", "Orders()"), "200");
}

TEST_F(ServiceVersions, H11_SignaturesAndPoliciesAreFrom2012) {
  EXPECT_EQ(said("2012-02-11", "GET", "Orders?comp=acl"), "400 InvalidQueryParameterValue");
  EXPECT_EQ(said("2012-02-12", "GET", "Orders?comp=acl"), "200");
  const std::string token = to_query(*sign_table_sas(SecurityBench::table_terms("r"), credentials()));
  const auto by_token = [&](std::string_view version) {
    return outcome(service_.send_by(token, "GET", "Orders()", "", {{"x-ms-version", std::string(version)}}));
  };
  EXPECT_EQ(by_token("2012-02-11"), "403 AuthenticationFailed");
  EXPECT_EQ(by_token("2012-02-12"), "200");
}

TEST_F(ServiceVersions, H11_JsonIsFrom2013) {
  const Headers json = {{"Accept", "application/json;odata=minimalmetadata"}};
  EXPECT_EQ(said("2013-08-14", "GET", "Tables", "", json), "415 JsonFormatNotSupported");
  EXPECT_EQ(said("2013-08-14", "GET", "Tables?$format=application%2Fjson"), "415 JsonFormatNotSupported");
  EXPECT_EQ(said("2013-08-14", "POST", "Orders", std::string(kInsert1), {{"Content-Type", "application/json"}}),
            "415 JsonFormatNotSupported");
  EXPECT_EQ(said("2013-08-15", "GET", "Tables", "", json), "200");
  EXPECT_EQ(said("2013-08-15", "POST", "Orders", std::string(kInsert1), {{"Content-Type", "application/json"}}), "201");
  EXPECT_EQ(said("2012-02-12", "GET", "Tables", "", {{"Accept", "application/atom+xml"}}),
            "415 AtomFormatNotSupported");
  EXPECT_EQ(said("2013-08-14", "GET", "Orders?comp=acl", "", {{"Accept", "application/json"}}), "200");  // XML anyhow
}

TEST_F(ServiceVersions, H11_JsonInABatchIsFrom2013) {
  const std::string batch =
      "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n\r\n"
      "POST http://127.0.0.1:10002/devstoreaccount1/Orders HTTP/1.1\r\nContent-Type: application/json\r\n\r\n" +
      std::string(kInsert1) + "\r\n--c--\r\n--b--\r\n";
  const Headers type = {{"Content-Type", "multipart/mixed; boundary=b"}};
  EXPECT_THAT(send("2013-08-14", "POST", "$batch", batch, type).body, HasSubstr("HTTP/1.1 415 Unsupported Media Type"));
  EXPECT_THAT(send("2013-08-15", "POST", "$batch", batch, type).body, HasSubstr("HTTP/1.1 201 Created"));
}

TEST_F(ServiceVersions, H11_H30_PreferencesNeedTheirVersions) {
  const auto preferred = [&](std::string_view version, const std::string& row, Headers headers = {}) {
    headers.emplace_back("Prefer", "return-no-content");
    const std::string body = R"({"PartitionKey":"p","RowKey":")" + row + "\"}";
    const HttpResponse made = send(version, "POST", "Orders", body, std::move(headers));
    return outcome(made) + " " + header(made, "Preference-Applied");
  };
  EXPECT_EQ(preferred("2013-08-14", "1"), "201 ");
  EXPECT_EQ(preferred("2013-08-15", "2"), "204 return-no-content");
  EXPECT_EQ(preferred("2019-02-02", "3", {{"DataServiceVersion", "3.0;NetFx"}}), "204 return-no-content");
  EXPECT_EQ(preferred("2019-02-02", "4", {{"DataServiceVersion", "2.0"}}), "201 ");
  EXPECT_EQ(preferred("2019-02-02", "5", {{"DataServiceVersion", "1.0"}, {"MaxDataServiceVersion", "3.0;NetFx"}}),
            "204 return-no-content");
  EXPECT_EQ(preferred("2019-02-02", "6", {{"DataServiceVersion", "3.0"}, {"MaxDataServiceVersion", "2.0"}}), "201 ");
}

TEST_F(ServiceVersions, H11_DataServiceVersionsAreThoseOfTheProtocolVersion) {
  const auto with = [&](std::string_view version, const std::string& data_service) {
    return said(version, "GET", "Tables", "", {{"DataServiceVersion", data_service}});
  };
  EXPECT_EQ(with("2009-09-19", "1.0;NetFx"), "200");
  EXPECT_EQ(with("2009-09-19", "2.0"), "400 InvalidHeaderValue");
  EXPECT_EQ(with("2011-08-18", "2.0"), "200");
  EXPECT_EQ(with("2011-08-18", "3.0"), "400 InvalidHeaderValue");
  EXPECT_EQ(with("2013-08-15", "3.0;"), "200");
  EXPECT_EQ(with("2019-02-02", "4.0"), "400 InvalidHeaderValue");
  EXPECT_EQ(with("2019-02-02", "three"), "400 InvalidHeaderValue");
  EXPECT_EQ(said("2019-02-02", "GET", "Tables", "", {{"MaxDataServiceVersion", "4.0"}}), "200");
  EXPECT_EQ(said("2019-02-02", "GET", "Tables", "", {{"MaxDataServiceVersion", "?"}}), "400 InvalidHeaderValue");
}

}  // namespace
}  // namespace varve::serve::version_rules_test
