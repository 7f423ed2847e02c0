// Goal: the blob service has the rules of other origins, the statistics and the secondary of the table service, with
// properties of its own (BQ-01: P-01 to P-04, P-10 to P-13).
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/blob_service_bench.h"
#include "varve/service_properties.h"

namespace varve::serve::blob_properties_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

constexpr std::string_view kShop = "https://shop.example";

class PropertiesOfBlobs : public ::testing::Test {
 protected:
  std::string set_cors(const std::string& rules) {
    return service_.told("PUT", "?restype=service&comp=properties",
                         "<StorageServiceProperties><Cors>" + rules + "</Cors></StorageServiceProperties>");
  }
  static std::string rule(const std::string& origin, const std::string& methods) {
    return "<CorsRule><AllowedOrigins>" + origin + "</AllowedOrigins><AllowedMethods>" + methods +
           "</AllowedMethods><MaxAgeInSeconds>60</MaxAgeInSeconds><ExposedHeaders>x-ms-meta-*</ExposedHeaders>"
           "<AllowedHeaders>x-ms-*</AllowedHeaders></CorsRule>";
  }
  HttpResponse preflight(Headers headers) {
    return service_.send(
        ServiceBench::request("OPTIONS", ServiceBench::path_of("photos/absent"), "", std::move(headers)));
  }
  HttpResponse preflight_of_shop(const std::string& method) {
    return preflight({{"Origin", std::string(kShop)},
                      {"Access-Control-Request-Method", method},
                      {"Access-Control-Request-Headers", "x-ms-blob-type"}});
  }
  HttpResponse at_secondary(std::string_view verb, const std::string& resource) {
    HttpRequest made = ServiceBench::request(verb, "/" + std::string(kAccount) + "-secondary/" + resource);
    made.head.headers.emplace_back("x-ms-version", "2021-12-02");
    made.head.headers.emplace_back("Authorization", *security::shared_key_authorization(
                                                        security::SharedKeyScheme::kSharedKey, made.head, credentials(),
                                                        security::KeyChoice::kPrimary, StorageService::kBlobs));
    return service_.send(std::move(made));
  }

  BlobServiceBench service_;
};

TEST_F(PropertiesOfBlobs, BQ01_PreflightsFollowTheRulesOfBlobs) {
  EXPECT_EQ(outcome(preflight_of_shop("PUT")), "403 CorsPreflightFailure");
  ServicePropertiesChange change;
  change.cors_rules = {CorsRule{{std::string(kShop)}, {"PUT"}, 60, {}, {"x-ms-*"}}};
  ASSERT_TRUE(service_.bench.store->set_service_properties(kAccount, change).ok());  // the table service's
  EXPECT_EQ(outcome(preflight_of_shop("PUT")), "403 CorsPreflightFailure");
  EXPECT_EQ(set_cors(rule(std::string(kShop), "GET,PUT")), "202");
  const HttpResponse allowed = preflight_of_shop("PUT");
  EXPECT_EQ(outcome(allowed), "200");
  EXPECT_EQ(allowed.body, "");
  EXPECT_EQ(header_of(allowed, "Access-Control-Allow-Origin"), kShop);
  EXPECT_EQ(header_of(allowed, "Access-Control-Allow-Methods"), "PUT");
  EXPECT_EQ(header_of(allowed, "Access-Control-Allow-Headers"), "x-ms-blob-type");
  EXPECT_EQ(header_of(allowed, "Access-Control-Max-Age"), "60");
  EXPECT_EQ(header_of(allowed, "Access-Control-Allow-Credentials"), "true");
  EXPECT_EQ(outcome(preflight_of_shop("DELETE")), "403 CorsPreflightFailure");
  EXPECT_EQ(outcome(preflight({{"Origin", std::string(kShop)}})), "400 InvalidHeaderValue");
  EXPECT_EQ(set_cors(""), "202");
  EXPECT_EQ(outcome(preflight_of_shop("PUT")), "403 CorsPreflightFailure") << "the rules were deleted";
}

TEST_F(PropertiesOfBlobs, BQ01_AnswersToOtherOriginsShowWhatTheRulesExpose) {
  EXPECT_EQ(outcome(service_.put("a", "hello", {{"x-ms-meta-Owner", "Ann"}})), "201");
  EXPECT_EQ(set_cors(rule(std::string(kShop), "GET")), "202");
  const HttpResponse got = service_.send("GET", "photos/a", {}, {{"Origin", std::string(kShop)}});
  EXPECT_EQ(outcome(got), "200");
  EXPECT_EQ(header_of(got, "Access-Control-Allow-Origin"), kShop);
  EXPECT_THAT(header_of(got, "Access-Control-Expose-Headers"), HasSubstr("x-ms-meta-"));
  EXPECT_EQ(header_of(got, "Vary"), "Origin");
  const HttpResponse other = service_.send("GET", "photos/a", {}, {{"Origin", "https://other.example"}});
  EXPECT_EQ(outcome(other), "200") << "a request does not fail by its origin";
  EXPECT_EQ(header_of(other, "Access-Control-Allow-Origin"), "(none)");
}

TEST_F(PropertiesOfBlobs, BQ01_RulesHaveTheLimitsOfTheService) {
  const auto rules = [](int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += rule("https://shop" + std::to_string(i) + ".example", "GET");
    return all;
  };
  EXPECT_EQ(set_cors(rules(5)), "202");
  EXPECT_THAT(set_cors(rules(6)), HasSubstr("400 InvalidXml"));
  EXPECT_THAT(set_cors(rule(std::string(kShop), "STEAL")), HasSubstr("400 InvalidXml"));
  EXPECT_THAT(set_cors(rule(std::string(257, 'a'), "GET")), HasSubstr("400 InvalidXml"));
  EXPECT_THAT(service_.send("GET", "?restype=service&comp=properties").body, HasSubstr("https://shop4.example"));
}

TEST_F(PropertiesOfBlobs, BQ01_LoggingAndMetricsAreThoseOfBlobsAlone) {
  const auto set = [this](const std::string& content) {
    return service_.told("PUT", "?restype=service&comp=properties",
                         "<StorageServiceProperties>" + content + "</StorageServiceProperties>");
  };
  const auto logging = [](const std::string& days) {
    return "<Logging><Version>1.0</Version><Delete>true</Delete><Read>false</Read><Write>true</Write><RetentionPolicy>"
           "<Enabled>true</Enabled><Days>" +
           days + "</Days></RetentionPolicy></Logging>";
  };
  EXPECT_EQ(set(logging("7")), "202");
  EXPECT_EQ(set("<HourMetrics><Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs>"
                "<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></HourMetrics>"),
            "202");
  EXPECT_EQ(set(logging("366")), "400 InvalidXmlDocument");
  EXPECT_EQ(set("<Logging><Version>1.0</Version></Logging>"), "400 InvalidXmlDocument");
  ServiceProperties expected;
  expected.logging = {false, true, true, 7U};
  expected.hour_metrics = {true, true, std::nullopt};
  const Store& store = *service_.bench.store;
  EXPECT_TRUE(*store.service_properties(kAccount, StorageService::kBlobs) == expected) << "what is left out stays";
  EXPECT_TRUE(*store.service_properties(kAccount, StorageService::kTables) == ServiceProperties());
  EXPECT_TRUE(*store.service_properties(kAccount, StorageService::kQueues) == ServiceProperties());
  const std::string shown = service_.send("GET", "?restype=service&comp=properties").body;
  EXPECT_THAT(shown, HasSubstr("<Read>false</Read><Write>true</Write><Delete>true</Delete>"));
  EXPECT_THAT(shown, HasSubstr("<Enabled>true</Enabled><IncludeAPIs>true</IncludeAPIs>"));
}

TEST_F(PropertiesOfBlobs, BQ01_TheSecondaryReadsAndHasStatistics) {
  EXPECT_EQ(outcome(service_.put("a", "hello")), "201");
  EXPECT_EQ(at_secondary("GET", "photos/a").body, "hello");
  EXPECT_EQ(outcome(at_secondary("HEAD", "photos/a")), "200");
  EXPECT_EQ(outcome(at_secondary("GET", "photos?restype=container&comp=list")), "200");
  EXPECT_EQ(outcome(at_secondary("GET", "?comp=list")), "200");
  const HttpResponse statistics = at_secondary("GET", "?restype=service&comp=stats");
  EXPECT_EQ(outcome(statistics), "200");
  EXPECT_THAT(statistics.body, HasSubstr("<StorageServiceStats><GeoReplication><Status>live</Status><LastSyncTime>"));
  for (const auto& [verb, resource] :
       std::vector<std::pair<std::string, std::string>>{{"PUT", "photos/b"},
                                                        {"DELETE", "photos/a"},
                                                        {"PUT", "photos/a?comp=metadata"},
                                                        {"PUT", "new?restype=container"}}) {
    EXPECT_EQ(outcome(at_secondary(verb, resource)), "403 InsufficientAccountPermissions") << verb << " " << resource;
  }
  EXPECT_EQ(service_.told("GET", "?restype=service&comp=stats"), "400 InvalidQueryParameterValue");
  EXPECT_EQ(service_.told("GET", "photos/a"), "200") << "nothing was deleted";
}

}  // namespace
}  // namespace varve::serve::blob_properties_test
