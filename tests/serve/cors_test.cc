// Goal: pages of other origins may do what the account's rules allow, and receive the headers for it. Other requests
// receive no such header.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"

namespace varve::serve::cors_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

constexpr std::string_view kShop = "https://shop.example";
constexpr std::string_view kAdmin = "https://admin.example";

class ServiceCors : public ::testing::Test {
 protected:
  void set_rules(std::vector<CorsRule> rules) {
    std::string xml = "<StorageServiceProperties><Cors>";
    const auto list = [](const std::vector<std::string>& words) {
      std::string text;
      for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
      return text;
    };
    for (const CorsRule& rule : rules) {
      xml += "<CorsRule><AllowedOrigins>" + list(rule.allowed_origins) + "</AllowedOrigins><AllowedMethods>" +
             list(rule.allowed_methods) + "</AllowedMethods><MaxAgeInSeconds>" + std::to_string(rule.max_age_seconds) +
             "</MaxAgeInSeconds><ExposedHeaders>" + list(rule.exposed_headers) + "</ExposedHeaders><AllowedHeaders>" +
             list(rule.allowed_headers) + "</AllowedHeaders></CorsRule>";
    }
    xml += "</Cors></StorageServiceProperties>";
    ASSERT_EQ(outcome(service_.send("PUT", "?restype=service&comp=properties", xml)), "202");
  }
  HttpResponse preflight(std::string_view origin, std::string_view method, std::string_view headers = {},
                         std::string_view resource = "Orders") {
    Headers asked = {{"Origin", std::string(origin)}, {"Access-Control-Request-Method", std::string(method)}};
    if (!headers.empty()) asked.emplace_back("Access-Control-Request-Headers", headers);
    return service_.send(ServiceBench::request("OPTIONS", ServiceBench::path_of(resource), "", std::move(asked)));
  }
  HttpResponse from(std::string_view origin, std::string_view verb = "GET", std::string_view resource = "Tables",
                    std::string body = {}, Headers headers = {}) {
    if (!origin.empty()) headers.emplace_back("Origin", origin);
    return service_.send(verb, resource, std::move(body), std::move(headers));
  }
  /// Returns every CORS header, in the order of addition.
  static std::string told(const HttpResponse& response) {
    std::string text;
    for (const auto& [name, value] : response.headers) {
      if (name.starts_with("Access-Control-") || name == "Vary") text += name + ": " + value + "\n";
    }
    return text;
  }

  ServiceBench service_;
};

const CorsRule kShopRule = {
    {std::string(kShop), std::string(kAdmin)}, {"GET", "POST"}, 300, {"x-ms-*"}, {"x-ms-*", "content-type"}};

TEST_F(ServiceCors, P12_APreflightThatARuleAllowsIsToldWhatItAskedFor) {
  set_rules({kShopRule});
  const HttpResponse allowed = preflight(kShop, "POST", "Content-Type, X-MS-Date");
  EXPECT_EQ(outcome(allowed), "200");
  EXPECT_EQ(allowed.body, "");
  EXPECT_EQ(told(allowed),
            "Access-Control-Allow-Origin: https://shop.example\nAccess-Control-Allow-Methods: POST\n"
            "Access-Control-Allow-Headers: Content-Type, X-MS-Date\nAccess-Control-Max-Age: 300\n"
            "Access-Control-Allow-Credentials: true\n");
  EXPECT_EQ(told(preflight(kAdmin, "GET")),
            "Access-Control-Allow-Origin: https://admin.example\nAccess-Control-Allow-Methods: GET\n"
            "Access-Control-Max-Age: 300\nAccess-Control-Allow-Credentials: true\n");
}

TEST_F(ServiceCors, P12_APreflightIsForAnyPathAndNeedsNoSignature) {
  set_rules({kShopRule});
  for (const std::string path : {"", "Missing", "Missing(PartitionKey='p',RowKey='1')", "a/b/c", "$batch", "?x=%zz"}) {
    EXPECT_EQ(outcome(preflight(kShop, "GET", "", path)), "200") << path;
  }
  const auto elsewhere = [&](const std::string& path) {
    return outcome(service_.send(ServiceBench::request(
        "OPTIONS", path, "", {{"Origin", std::string(kShop)}, {"Access-Control-Request-Method", "GET"}})));
  };
  EXPECT_EQ(elsewhere("/devstoreaccount1-secondary/Orders"), "200");
  EXPECT_EQ(elsewhere("/nobody/Orders"), "403 CorsPreflightFailure");
  EXPECT_EQ(elsewhere("/"), "403 CorsPreflightFailure");
}

TEST_F(ServiceCors, P12_WithoutARuleOrItsHeadersAPreflightFails) {
  EXPECT_EQ(outcome(preflight(kShop, "GET")), "403 CorsPreflightFailure");
  set_rules({kShopRule});
  EXPECT_EQ(outcome(preflight("https://other.example", "GET")), "403 CorsPreflightFailure");
  EXPECT_EQ(outcome(preflight("https://SHOP.example", "GET")), "403 CorsPreflightFailure");
  EXPECT_EQ(outcome(preflight(kShop, "PUT")), "403 CorsPreflightFailure");
  EXPECT_EQ(outcome(preflight(kShop, "get")), "403 CorsPreflightFailure");
  EXPECT_EQ(told(preflight(kShop, "PUT")), "");
  const auto with = [&](Headers headers) {
    return outcome(service_.send(ServiceBench::request("OPTIONS", ServiceBench::path_of("Orders"), "", headers)));
  };
  EXPECT_EQ(with({}), "400 InvalidHeaderValue");
  EXPECT_EQ(with({{"Origin", std::string(kShop)}}), "400 InvalidHeaderValue");
  EXPECT_EQ(with({{"Access-Control-Request-Method", "GET"}}), "400 InvalidHeaderValue");
  set_rules({});
  EXPECT_EQ(outcome(preflight(kShop, "GET")), "403 CorsPreflightFailure");
}

TEST_F(ServiceCors, P11_TheFirstRuleOfOriginAndMethodDecidesAndNoLaterOneIsTried) {
  set_rules({{{std::string(kShop)}, {"GET"}, 1, {}, {"x-one"}},
             {{"*"}, {"GET", "PUT"}, 2, {}, {"x-one", "x-two"}},
             {{std::string(kShop)}, {"PUT"}, 3, {}, {"*"}}});
  EXPECT_EQ(header(preflight(kShop, "GET", "x-one"), "Access-Control-Max-Age"), "1");
  EXPECT_EQ(outcome(preflight(kShop, "GET", "x-two")), "403 CorsPreflightFailure");
  EXPECT_EQ(header(preflight(kAdmin, "GET", "x-two"), "Access-Control-Max-Age"), "2");
  EXPECT_EQ(header(preflight(kShop, "PUT", "x-two"), "Access-Control-Max-Age"), "2");
  EXPECT_EQ(header(preflight(kShop, "PUT", "x-two"), "Access-Control-Allow-Origin"), "*");
  EXPECT_EQ(outcome(preflight(kShop, "PUT", "x-three")), "403 CorsPreflightFailure");
}

TEST_F(ServiceCors, P11_RequestedHeadersAreComparedInAnyCaseAndByPrefix) {
  set_rules({{{"*"}, {"GET"}, 1, {}, {"x-ms-meta*", "Content-Type"}}});
  EXPECT_EQ(outcome(preflight(kShop, "GET", "X-MS-Meta-Color,CONTENT-TYPE")), "200");
  EXPECT_EQ(outcome(preflight(kShop, "GET", "x-ms-meta")), "200");
  EXPECT_EQ(outcome(preflight(kShop, "GET", "x-ms-met")), "403 CorsPreflightFailure");
  EXPECT_EQ(outcome(preflight(kShop, "GET", "content-type-x")), "403 CorsPreflightFailure");
  EXPECT_EQ(outcome(preflight(kShop, "GET", "content-type, x-other")), "403 CorsPreflightFailure");
  set_rules({{{"*"}, {"GET"}, 1, {}, {"*"}}});
  EXPECT_EQ(outcome(preflight(kShop, "GET", "anything, at-all")), "200");
}

TEST_F(ServiceCors, P13_AnswersToAllowedOriginsSayWhatPagesMayRead) {
  set_rules({{{std::string(kShop)}, {"GET", "POST"}, 1, {"x-ms-request*", "ETag", "Absent"}, {}}});
  const HttpResponse got = from(kShop);
  EXPECT_EQ(outcome(got), "200");
  EXPECT_EQ(told(got),
            "Access-Control-Allow-Origin: https://shop.example\n"
            "Access-Control-Expose-Headers: x-ms-request-id,ETag,Absent\n"
            "Access-Control-Allow-Credentials: true\nVary: Origin\n");
  EXPECT_EQ(told(from(kShop, "POST", "Orders", R"({"PartitionKey":"p","RowKey":"1"})")),
            "Access-Control-Allow-Origin: https://shop.example\n"
            "Access-Control-Expose-Headers: x-ms-request-id,ETag,Absent\n"
            "Access-Control-Allow-Credentials: true\n");
  set_rules({{{std::string(kShop)}, {"GET"}, 1, {}, {}}});
  EXPECT_EQ(header(from(kShop), "Access-Control-Expose-Headers"), "");
}

TEST_F(ServiceCors, P13_WhatNoRuleAllowsIsDoneAllTheSame) {
  set_rules({kShopRule});
  const HttpResponse got = from("https://other.example");
  EXPECT_EQ(outcome(got), "200");
  EXPECT_EQ(told(got), "Vary: Origin\n");
  EXPECT_EQ(told(from("")), "Vary: Origin\n");
  const HttpResponse put = from(kShop, "PUT", "Orders(PartitionKey='p',RowKey='1')", "{}");
  EXPECT_EQ(outcome(put), "204");
  EXPECT_EQ(told(put), "");
}

TEST_F(ServiceCors, P13_ARuleForAllOriginsNeedsNoVary) {
  set_rules({{{"*"}, {"GET"}, 1, {"x-ms-version"}, {}}});
  EXPECT_EQ(told(from(kShop)), "Access-Control-Allow-Origin: *\nAccess-Control-Expose-Headers: x-ms-version\n");
  EXPECT_EQ(told(from("")), "");
  EXPECT_EQ(told(from(kShop, "HEAD", "Orders?comp=acl")), "Vary: Origin\n");  // no match: the rule is for GET
}

TEST_F(ServiceCors, P13_WithoutRulesNothingIsAdded) {
  EXPECT_EQ(told(from(kShop)), "");
  EXPECT_EQ(told(from("")), "");
}

TEST_F(ServiceCors, P13_RefusalsCanBeReadByPagesToo) {
  set_rules({kShopRule});
  const HttpResponse missing = from(kShop, "GET", "Missing");
  EXPECT_EQ(outcome(missing), "404 TableNotFound");
  EXPECT_THAT(told(missing), HasSubstr("Access-Control-Allow-Origin: https://shop.example\n"));
  const HttpResponse batch = from(kShop, "POST", "$batch", "nothing");
  EXPECT_EQ(outcome(batch), "400 InvalidInput");
  EXPECT_THAT(told(batch), HasSubstr("Access-Control-Allow-Origin: https://shop.example\n"));
}

TEST_F(ServiceCors, P13_ChangedRulesHoldForTheNextRequest) {
  for (const std::string_view origin : {kShop, kAdmin, kShop}) {
    set_rules({{{std::string(origin)}, {"GET"}, 1, {}, {}}});
    EXPECT_EQ(header(from(kShop), "Access-Control-Allow-Origin"), origin == kShop ? kShop : "");
    EXPECT_EQ(header(from(kAdmin), "Access-Control-Allow-Origin"), origin == kAdmin ? kAdmin : "");
  }
}

TEST_F(ServiceCors, P13_RulesThatCannotBeReadFailNoRequestButAPreflight) {
  ASSERT_TRUE(service_.bench.store->close().ok());
  EXPECT_EQ(outcome(preflight(kShop, "GET")), "503 ServerBusy");
  EXPECT_EQ(told(from(kShop)), "");
}

TEST_F(ServiceCors, H11_OldVersionsAreToldNothing) {
  set_rules({kShopRule});
  EXPECT_EQ(told(from(kShop, "GET", "Tables", "", {{"x-ms-version", "2012-02-12"}})), "");
  EXPECT_NE(told(from(kShop, "GET", "Tables", "", {{"x-ms-version", "2013-08-15"}})), "");
}

}  // namespace
}  // namespace varve::serve::cors_test
