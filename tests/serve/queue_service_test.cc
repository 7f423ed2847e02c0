// Goal: the queue service answers as the specification says: resources, queues, errors.
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/rest/queues/queue_target.h"
#include "tests/serve/queue_service_bench.h"

namespace varve::serve::queue_service_test {
namespace {

using namespace test;
using namespace std::chrono_literals;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class QueueService : public ::testing::Test {
 protected:
  QueueServiceBench service_;
};

TEST_F(QueueService, QN02_QE04_ANameIsJudgedBeforeTheCaller) {
  const auto unsigned_put = [this](std::string_view name) {
    return outcome(service_.send(ServiceBench::request("PUT", ServiceBench::path_of(name))));
  };
  EXPECT_EQ(unsigned_put("ab"), "400 OutOfRangeInput");
  EXPECT_EQ(unsigned_put(std::string(64, 'a')), "400 OutOfRangeInput");
  for (const std::string name : {"Orders", "-ab", "ab-", "a--b", "a_b", "a.b"}) {
    EXPECT_EQ(unsigned_put(name), "400 InvalidResourceName") << name;
  }
  EXPECT_EQ(unsigned_put("orders"), "401 NoAuthenticationInformation");
  EXPECT_EQ(unsigned_put("absent"), "401 NoAuthenticationInformation");  // it tells nothing of existence
}

TEST_F(QueueService, QN03_TheHostMayNameTheAccountAndNoOtherService) {
  const auto told_by = [this](const std::string& host) {
    HttpRequest request;
    request.head.verb = "GET";
    EXPECT_TRUE(set_target(request, "/orders?comp=metadata"));
    request.head.headers = {
        {"Host", std::string(kAccount) + host}, {"x-ms-date", std::string(kDateText)}, {"x-ms-version", "2021-12-02"}};
    request.head.headers.emplace_back(
        "Authorization",
        *security::shared_key_authorization(security::SharedKeyScheme::kSharedKey, request.head, credentials(),
                                            security::KeyChoice::kPrimary, StorageService::kQueues));
    return outcome(service_.send(std::move(request)));
  };
  EXPECT_EQ(told_by(".queue.localhost:10001"), "200");
  EXPECT_EQ(told_by(".localhost:10001"), "200");
  EXPECT_EQ(told_by(".blob.localhost:10001"), "400 InvalidUri");
  EXPECT_EQ(told_by(".table.localhost:10001"), "400 InvalidUri");
}

TEST_F(QueueService, QN04_QN07_EachResourceHasItsVerbs) {
  EXPECT_EQ(service_.told("GET", "?comp=list"), "200");
  EXPECT_EQ(service_.told("GET", "?restype=service&comp=properties"), "200");
  EXPECT_EQ(service_.told("PUT", "made"), "201");
  EXPECT_EQ(service_.told("GET", "made?comp=metadata"), "200");
  EXPECT_EQ(service_.told("HEAD", "made?comp=metadata"), "200");
  EXPECT_EQ(service_.told("PUT", "made?comp=metadata"), "204");
  EXPECT_EQ(service_.told("GET", "made?comp=acl"), "200");
  EXPECT_EQ(service_.told("HEAD", "made?comp=acl"), "200");
  EXPECT_EQ(service_.told("PUT", "made?comp=acl"), "204");
  EXPECT_EQ(service_.told("POST", "made/messages", message_body("a")), "201");
  EXPECT_EQ(service_.told("GET", "made/messages"), "200");
  EXPECT_EQ(service_.told("GET", "made/messages?peekonly=TRUE"), "200");
  EXPECT_EQ(service_.told("DELETE", "made/messages"), "204");
  EXPECT_EQ(service_.told("DELETE", "made"), "204");
  for (const std::string verb : {"GET", "HEAD", "PUT"}) {
    for (const std::string part : {"metadata", "acl"}) {
      EXPECT_EQ(service_.told(verb, "made?comp=" + part), "404 QueueNotFound") << verb << part;
    }
  }
  EXPECT_EQ(service_.told("POST", "made/messages", message_body("a")), "404 QueueNotFound");
  EXPECT_EQ(service_.told("GET", "made/messages"), "404 QueueNotFound");
  EXPECT_EQ(service_.told("GET", "made/messages?peekonly=true"), "404 QueueNotFound");
  EXPECT_EQ(service_.told("DELETE", "made/messages"), "404 QueueNotFound");
  EXPECT_EQ(service_.told("DELETE", "made/messages/x?popreceipt=a"), "404 QueueNotFound");
  EXPECT_EQ(service_.told("PUT", "made/messages/x?popreceipt=a&visibilitytimeout=1"), "404 QueueNotFound");
  EXPECT_EQ(service_.told("DELETE", "made"), "404 QueueNotFound");
}

TEST_F(QueueService, QN05_ParametersIgnoreCaseAndUnknownOnesDoNothing) {
  sent(service_.orders, "a");
  const HttpResponse got = service_.send("GET", "orders/messages?NumOfMessages=2&colour=red&VISIBILITYTIMEOUT=5");
  EXPECT_EQ(element(got.body, "MessageText"), "a");
  EXPECT_EQ(service_.told("GET", "orders/messages?timeout=0"), "400 InvalidQueryParameterValue");
  EXPECT_EQ(service_.told("GET", "orders/messages?numofmessages=1&NUMOFMESSAGES=2"), "400 InvalidQueryParameterValue");
  EXPECT_EQ(QueryParameters::parse("numofmessages=%zz").code(), Code::kInvalidArgument);
  EXPECT_EQ(service_.told("GET", "orders/messages?peekonly=yes"), "200");  // a get, as it does not say true
}

TEST_F(QueueService, AL01_AL06_ARequestThatIsRefusedEarlyHasItsOperation) {
  const auto named = [this](HttpRequest made) {
    RequestFacts facts;
    EXPECT_TRUE(wait(service_.dispatcher.handle(std::move(made), nullptr, &facts)).ok());
    return facts.named;
  };
  const std::string body = message_body("a");
  EXPECT_EQ(named(service_.signed_request("POST", "orders/messages", body, {{"Content-MD5", "AAAA"}})),
            Operation::kPutMessage);
  EXPECT_EQ(named(service_.signed_request("GET", "orders/messages?timeout=0")), Operation::kGetMessages);
  HttpRequest unread = service_.signed_request("POST", "orders/messages", body);
  unread.refusal = Status(Code::kBusy, "no memory");
  EXPECT_EQ(named(std::move(unread)), Operation::kPutMessage);
  EXPECT_EQ(named(service_.signed_request("GET", "orders?comp=other")), Operation::kUnresolved);
}

TEST_F(QueueService, QN06_WhatTheServiceDoesNotHaveIsRefused) {
  EXPECT_EQ(service_.told("POST", "orders"), "405 UnsupportedHttpVerb");
  EXPECT_EQ(service_.told("PATCH", "orders/messages"), "405 UnsupportedHttpVerb");
  EXPECT_EQ(service_.told("GET", "orders/messages/x"), "405 UnsupportedHttpVerb");
  EXPECT_EQ(service_.told("PUT", "?comp=list"), "405 UnsupportedHttpVerb");
  EXPECT_EQ(service_.told("PUT", "orders/other"), "400 InvalidUri");
  EXPECT_EQ(service_.told("PUT", "orders/messages/x/y"), "400 InvalidUri");
  EXPECT_EQ(service_.told("GET", "orders?comp=other"), "400 InvalidQueryParameterValue");
  EXPECT_EQ(service_.told("GET", "orders?restype=service"), "400 InvalidQueryParameterValue");
  sent(service_.orders, "a");
  const HttpResponse bare = service_.send("GET", "orders");
  EXPECT_EQ(outcome(bare), "400 MissingRequiredQueryParameter");
  EXPECT_EQ(service_.told("HEAD", "orders"), "400 MissingRequiredQueryParameter");
  EXPECT_THAT(bare.body, Not(HasSubstr("MessageText")));
}

TEST_F(QueueService, QB01_ACreateIsRepeatableWithTheSameMetadata) {
  EXPECT_EQ(service_.told("PUT", "fresh", "", {{"x-ms-meta-Owner", "Ann"}, {"x-ms-meta-step", "1"}}), "201");
  EXPECT_EQ(service_.told("PUT", "fresh", "", {{"x-ms-meta-STEP", "1"}, {"x-ms-meta-owner", "Ann"}}), "204");
  EXPECT_EQ(service_.told("PUT", "fresh", "", {{"x-ms-meta-owner", "ann"}, {"x-ms-meta-step", "1"}}),
            "409 QueueAlreadyExists");
  EXPECT_EQ(service_.told("PUT", "fresh"), "409 QueueAlreadyExists");
  const HttpResponse stored = service_.send("GET", "fresh?comp=metadata");
  EXPECT_EQ(header(stored, "x-ms-meta-Owner"), "Ann");
}

TEST_F(QueueService, QB04_QB06_MetadataAndTheCountAreHeaders) {
  sent(service_.orders, "a");
  sent(service_.orders, "b", {.delay = 1h});
  sent(service_.orders, "c", {.ttl = 1s});
  service_.bench.pass(2s);
  EXPECT_EQ(service_.told("PUT", "orders?comp=metadata", "", {{"x-ms-meta-Owner", "  Ann B  "}}), "204");
  const HttpResponse got = service_.send("GET", "orders?comp=metadata");
  EXPECT_EQ(header(got, "x-ms-meta-Owner"), "Ann B");
  EXPECT_EQ(header(got, "x-ms-approximate-messages-count"), "2");
  EXPECT_EQ(got.body, "");
  EXPECT_EQ(service_.told("PUT", "orders?comp=metadata"), "204");
  EXPECT_EQ(header(service_.send("HEAD", "orders?comp=metadata"), "x-ms-meta-Owner"), "");
}

TEST_F(QueueService, QB05_BadMetadataHasItsError) {
  const auto set = [this](Headers headers) {
    return service_.told("PUT", "orders?comp=metadata", "", std::move(headers));
  };
  EXPECT_EQ(set({{"x-ms-meta-a-b", "1"}}), "400 InvalidMetadata");
  EXPECT_EQ(set({{"x-ms-meta-1a", "1"}}), "400 InvalidMetadata");
  EXPECT_EQ(set({{"x-ms-meta-", "1"}}), "400 EmptyMetadataKey");
  EXPECT_EQ(set({{"x-ms-meta-a", "1"}, {"x-ms-meta-A", "2"}}), "400 InvalidMetadata");
  EXPECT_EQ(set({{"x-ms-meta-a", std::string(8192, 'x')}}), "400 MetadataTooLarge");
  EXPECT_EQ(set({{"x-ms-meta-a", std::string(8191, 'x')}}), "204");
}

TEST_F(QueueService, QB07_QB08_AListingHasPagesAndEchoesItsParameters) {
  for (const std::string name : {"orders-eu", "orders-us", "other", "zoo"}) (void)service_.bench.queue(name);
  const std::string root = "http://127.0.0.1:10002/" + std::string(kAccount) + "/";
  const std::string begin =
      R"(<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint=")" + root + R"(">)";
  EXPECT_EQ(service_.send("GET", "?comp=list&prefix=or&maxresults=2").body,
            begin +
                "<Prefix>or</Prefix><MaxResults>2</MaxResults><Queues><Queue><Name>orders</Name></Queue>"
                "<Queue><Name>orders-eu</Name></Queue></Queues><NextMarker>/" +
                std::string(kAccount) + "/orders-us</NextMarker></EnumerationResults>");
  const std::string marker = "/" + std::string(kAccount) + "/orders-us";
  EXPECT_EQ(service_.send("GET", "?comp=list&marker=" + encoded(marker)).body,
            begin + "<Marker>" + marker +
                "</Marker><Queues><Queue><Name>orders-us</Name></Queue><Queue><Name>other</Name></Queue>"
                "<Queue><Name>zoo</Name></Queue></Queues><NextMarker /></EnumerationResults>");
  EXPECT_EQ(service_.send("GET", "?comp=list&prefix=nothing").body,
            begin + "<Prefix>nothing</Prefix><Queues /><NextMarker /></EnumerationResults>");
}

TEST_F(QueueService, QB07_QB08_AListingShowsMetadataIfAsked) {
  EXPECT_EQ(service_.told("PUT", "orders?comp=metadata", "", {{"x-ms-meta-owner", "A & B"}}), "204");
  (void)service_.bench.queue("plain");
  const HttpResponse listed = service_.send("GET", "?comp=list&include=metadata");
  EXPECT_THAT(listed.body, HasSubstr("<Name>orders</Name><Metadata><owner>A &amp; B</owner></Metadata>"));
  EXPECT_THAT(listed.body, HasSubstr("<Name>plain</Name><Metadata />"));
  EXPECT_EQ(header(listed, "Content-Type"), "application/xml");
}

TEST_F(QueueService, QB07_QB08_AListingRefusesBadParameters) {
  EXPECT_EQ(service_.told("GET", "?comp=list&maxresults=0"), "400 OutOfRangeQueryParameterValue");
  EXPECT_EQ(service_.told("GET", "?comp=list&maxresults=-1"), "400 OutOfRangeQueryParameterValue");
  EXPECT_EQ(service_.told("GET", "?comp=list&maxresults=many"), "400 InvalidQueryParameterValue");
  EXPECT_EQ(service_.told("GET", "?comp=list&maxresults=6000"), "200");
  EXPECT_EQ(service_.told("GET", "?comp=list&marker=No%20name"), "400 InvalidMarker");
}

TEST_F(QueueService, QB07_APageOfAListingSpansPagesOfTheStore) {
  for (int i = 0; i < 1205; ++i) (void)service_.bench.queue("q" + std::to_string(10'000 + i));
  const std::string first = service_.send("GET", "?comp=list&prefix=q&maxresults=1200").body;
  EXPECT_EQ(element(first, "NextMarker"), "/" + std::string(kAccount) + "/q11200");
  const std::string rest = service_.send("GET", "?comp=list&prefix=q&marker=q11200").body;
  EXPECT_THAT(rest, HasSubstr("<Name>q11204</Name></Queue></Queues><NextMarker />"));
}

TEST_F(QueueService, QB09_QB10_PoliciesAreReplacedAsAWhole) {
  const std::string one =
      "<SignedIdentifiers><SignedIdentifier><Id>workers</Id><AccessPolicy><Start>2026-03-03T00:00:00Z</Start>"
      "<Expiry>2026-03-04T00:00:00Z</Expiry><Permission>raup</Permission></AccessPolicy></SignedIdentifier>"
      "</SignedIdentifiers>";
  EXPECT_THAT(service_.send("GET", "orders?comp=acl").body, HasSubstr("<SignedIdentifiers/>"));
  EXPECT_EQ(service_.told("PUT", "orders?comp=acl", one), "204");
  const std::string stored = service_.send("GET", "orders?comp=acl").body;
  EXPECT_EQ(element(stored, "Id"), "workers");
  EXPECT_EQ(element(stored, "Permission"), "raup");
  EXPECT_EQ(element(stored, "Expiry"), "2026-03-04T00:00:00.0000000Z");
  for (const auto& [from, to, error] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"raup", "rd", "400 InvalidXmlNodeValue"},
           {"raup", "rr", "400 InvalidXmlNodeValue"},
           {"2026-03-04T00:00:00Z", "soon", "400 InvalidXmlNodeValue"},
           {"<Id>workers</Id>", "<Id></Id>", "400 InvalidXmlDocument"},
           {"</SignedIdentifiers>", "</Other>", "400 InvalidXmlDocument"}}) {
    std::string bad = one;
    bad.replace(bad.find(from), from.size(), to);
    EXPECT_EQ(service_.told("PUT", "orders?comp=acl", bad), error) << to;
  }
  EXPECT_EQ(element(service_.send("GET", "orders?comp=acl").body, "Id"), "workers");
  EXPECT_EQ(service_.told("PUT", "orders?comp=acl"), "204");
  EXPECT_THAT(service_.send("GET", "orders?comp=acl").body, HasSubstr("<SignedIdentifiers/>"));
}

TEST_F(QueueService, QH01_ABodyMustMatchItsDigest) {
  const std::string body = message_body("a");
  EXPECT_EQ(service_.told("POST", "orders/messages", body, {{"Content-MD5", "1B2M2Y8AsgTpgAmY7PhCfg=="}}),
            "400 Md5Mismatch");
  EXPECT_EQ(service_.told("POST", "orders/messages", body, {{"Content-MD5", "x"}}), "400 InvalidMd5");
  EXPECT_EQ(service_.told("POST", "orders/messages", body, {{"If-Match", "\"x\""}, {"If-None-Match", "*"}}), "201");
}

TEST_F(QueueService, QH02_QH03_EveryAnswerHasTheCommonHeaders) {
  for (const auto& [verb, resource] : std::vector<std::pair<std::string, std::string>>{
           {"GET", "orders?comp=metadata"}, {"GET", "absent?comp=metadata"}, {"GET", "orders/messages"}}) {
    const HttpResponse answer = service_.send(verb, resource, "", {{"x-ms-client-request-id", "c1"}});
    EXPECT_THAT(header(answer, "x-ms-request-id"), ContainsRegex("^[0-9a-f-]{36}$"));
    EXPECT_EQ(header(answer, "x-ms-version"), "2021-12-02");
    EXPECT_EQ(header(answer, "x-ms-client-request-id"), "c1");
    EXPECT_EQ(header(answer, "Cache-Control"), "no-cache");
    EXPECT_NE(header(answer, "Date"), "");
    EXPECT_EQ(header(answer, "Server"), "Varve-Queue/1.0");
  }
  EXPECT_EQ(service_.told("GET", "orders/messages", "", {{"x-ms-version", "new"}}), "400 InvalidHeaderValue");
  EXPECT_EQ(service_.told("GET", "orders/messages", "", {{"x-ms-version", "2026-04-06"}}), "200");
}

TEST_F(QueueService, QH06_QP04_TheSecondaryOnlyReads) {
  const auto at_secondary = [this](std::string_view verb, const std::string& resource) {
    HttpRequest request = ServiceBench::request(verb, "/" + std::string(kAccount) + "-secondary/" + resource);
    request.head.headers.emplace_back("x-ms-version", "2021-12-02");
    request.head.headers.emplace_back(
        "Authorization",
        *security::shared_key_authorization(security::SharedKeyScheme::kSharedKey, request.head, credentials(),
                                            security::KeyChoice::kPrimary, StorageService::kQueues));
    return outcome(service_.send(std::move(request)));
  };
  EXPECT_EQ(at_secondary("GET", "orders?comp=metadata"), "200");
  EXPECT_EQ(at_secondary("GET", "orders/messages?peekonly=true"), "200");
  EXPECT_EQ(at_secondary("GET", "?comp=list"), "200");
  EXPECT_EQ(at_secondary("GET", "?restype=service&comp=stats"), "200");
  EXPECT_EQ(at_secondary("GET", "orders/messages"), "403 InsufficientAccountPermissions");
  EXPECT_EQ(at_secondary("PUT", "orders"), "403 InsufficientAccountPermissions");
  EXPECT_EQ(at_secondary("DELETE", "orders/messages"), "403 InsufficientAccountPermissions");
  EXPECT_EQ(service_.told("GET", "?restype=service&comp=stats"), "400 InvalidQueryParameterValue");
}

TEST_F(QueueService, QE01_QE02_AnErrorIsXmlThatNamesTheParameter) {
  const HttpResponse refused = service_.send("GET", "orders/messages?numofmessages=33");
  EXPECT_EQ(header(refused, "Content-Type"), "application/xml");
  EXPECT_EQ(header(refused, "x-ms-error-code"), "OutOfRangeQueryParameterValue");
  EXPECT_THAT(refused.body, ContainsRegex("^<\\?xml version=\"1.0\" encoding=\"utf-8\"\\?><Error><Code>"
                                          "OutOfRangeQueryParameterValue</Code><Message>[^<]*RequestId:[0-9a-f-]{36}"
                                          "[^<]*Time:[0-9T:.-]*Z</Message>"));
  EXPECT_THAT(refused.body, HasSubstr("<QueryParameterName>numofmessages</QueryParameterName>"
                                      "<QueryParameterValue>33</QueryParameterValue>"));
  EXPECT_THAT(refused.body, HasSubstr("<MinimumAllowed>1</MinimumAllowed><MaximumAllowed>32</MaximumAllowed></Error>"));
  const HttpResponse bare = service_.send("HEAD", "absent?comp=metadata");
  EXPECT_EQ(outcome(bare) + bare.body, "404 QueueNotFound");
}

TEST_F(QueueService, QP01_QP03_PropertiesAreThoseOfQueues) {
  const std::string body =
      "<StorageServiceProperties><Logging><Version>1.0</Version><Delete>true</Delete><Read>false</Read>"
      "<Write>false</Write><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy></Logging>"
      "</StorageServiceProperties>";
  EXPECT_EQ(service_.told("PUT", "?restype=service&comp=properties", body), "202");
  EXPECT_EQ(element(service_.send("GET", "?restype=service&comp=properties").body, "Delete"), "true");
  EXPECT_TRUE((*service_.bench.store->service_properties(kAccount, StorageService::kQueues)).logging.remove);
  EXPECT_FALSE((*service_.bench.store->service_properties(kAccount)).logging.remove);
}

TEST_F(QueueService, QP05_CorsFollowsTheRulesOfQueues) {
  const auto preflight = [this] {
    return service_.send(
        ServiceBench::request("OPTIONS", ServiceBench::path_of("absent/messages"), "",
                              {{"Origin", "http://shop.example"}, {"Access-Control-Request-Method", "PUT"}}));
  };
  EXPECT_EQ(outcome(preflight()), "403 CorsPreflightFailure");
  ServicePropertiesChange change;
  change.cors_rules = {CorsRule{{"http://shop.example"}, {"PUT"}, 60}};
  ASSERT_TRUE(service_.bench.store->set_service_properties(kAccount, change).ok());  // the table service's
  EXPECT_EQ(outcome(preflight()), "403 CorsPreflightFailure");
  const std::string body =
      "<StorageServiceProperties><Cors><CorsRule><AllowedOrigins>http://shop.example</AllowedOrigins>"
      "<AllowedMethods>PUT</AllowedMethods><MaxAgeInSeconds>60</MaxAgeInSeconds><ExposedHeaders></ExposedHeaders>"
      "<AllowedHeaders></AllowedHeaders></CorsRule></Cors></StorageServiceProperties>";
  EXPECT_EQ(service_.told("PUT", "?restype=service&comp=properties", body), "202");
  const HttpResponse allowed = preflight();
  EXPECT_EQ(allowed.status, 200);
  EXPECT_EQ(header(allowed, "Access-Control-Allow-Origin"), "http://shop.example");
}

}  // namespace
}  // namespace varve::serve::queue_service_test
