// Goal: the queue service answers as the specification says: resources, queues, messages, errors.
#include <future>
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

TEST_F(QueueService, QN03_TheHostMayNameTheAccount) {
  HttpRequest request;
  request.head.verb = "GET";
  ASSERT_TRUE(set_target(request, "/orders?comp=metadata"));
  request.head.headers = {{"Host", std::string(kAccount) + ".queue.localhost:10001"},
                          {"x-ms-date", std::string(kDateText)},
                          {"x-ms-version", "2021-12-02"}};
  request.head.headers.emplace_back(
      "Authorization",
      *security::shared_key_authorization(security::SharedKeyScheme::kSharedKey, request.head, credentials(),
                                          security::KeyChoice::kPrimary, StorageService::kQueues));
  EXPECT_EQ(outcome(service_.send(request)), "200");
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
  EXPECT_EQ(bare.status, 405);
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

TEST_F(QueueService, QM01_QH04_APutAnswersWithTheMessage) {
  const HttpResponse put =
      service_.send("POST", "orders/messages?messagettl=-1&visibilitytimeout=5", message_body("x"));
  EXPECT_EQ(put.status, 201);
  EXPECT_EQ(header(put, "Content-Type"), "application/xml");
  EXPECT_THAT(put.body, ContainsRegex("^<\\?xml version=\"1.0\" encoding=\"utf-8\"\\?><QueueMessagesList><QueueMessage>"
                                      "<MessageId>[0-9a-f-]{36}</MessageId><InsertionTime>[^<]* GMT</InsertionTime>"
                                      "<ExpirationTime>Fri, 31 Dec 9999 23:59:59 GMT</ExpirationTime>"
                                      "<PopReceipt>[^<]+</PopReceipt><TimeNextVisible>[^<]* GMT</TimeNextVisible>"
                                      "</QueueMessage></QueueMessagesList>$"));
  const HttpResponse old =
      service_.send("POST", "orders/messages", message_body("y"), {{"x-ms-version", "2015-12-11"}});
  EXPECT_EQ(outcome(old) + old.body, "201");
}

TEST_F(QueueService, QM02_QM03_TimesOfAPutHaveRangesThatAreTold) {
  const auto put = [this](const std::string& query, const std::string& version = "2021-12-02") {
    return service_.told("POST", "orders/messages?" + query, message_body("x"), {{"x-ms-version", version}});
  };
  EXPECT_EQ(put("messagettl=1"), "201");
  EXPECT_EQ(put("messagettl=604801"), "201");
  EXPECT_EQ(put("messagettl=604801", "2016-05-31"), "400 OutOfRangeQueryParameterValue");
  EXPECT_EQ(put("messagettl=-1", "2016-05-31"), "400 OutOfRangeQueryParameterValue");
  EXPECT_EQ(put("messagettl=0"), "400 InvalidQueryParameterValue");
  EXPECT_EQ(put("messagettl=-2"), "400 OutOfRangeQueryParameterValue");
  EXPECT_EQ(put("messagettl=soon"), "400 InvalidQueryParameterValue");
  EXPECT_EQ(put("messagettl="), "400 InvalidQueryParameterValue");
  EXPECT_EQ(put("messagettl=99999999999999999999"), "400 OutOfRangeQueryParameterValue");
  EXPECT_EQ(put("visibilitytimeout=604801&messagettl=-1"), "400 OutOfRangeQueryParameterValue");
  EXPECT_EQ(put("visibilitytimeout=-1"), "400 OutOfRangeQueryParameterValue");
  EXPECT_EQ(put("visibilitytimeout=604800"), "400 InvalidQueryParameterValue");  // the time to live by default
  EXPECT_EQ(put("visibilitytimeout=5&messagettl=5"), "400 InvalidQueryParameterValue");
  EXPECT_EQ(put("visibilitytimeout=4&messagettl=5"), "201");
  EXPECT_EQ(counted(service_.orders), 3U);
}

TEST_F(QueueService, QM04_QM06_TextArrivesAndLeavesUnchanged) {
  const std::string text = "  a &lt;b&gt; &amp;&#xD;&#10;\t<![CDATA[<c>]]> \xC3\xA4\xF0\x9F\x98\x80 ";
  EXPECT_EQ(service_.told("POST", "orders/messages", "\xEF\xBB\xBF<?xml version=\"1.0\"?>" + message_body(text)),
            "201");
  EXPECT_EQ(peeked(service_.orders).front(), "  a <b> &\r\n\t<c> \xC3\xA4\xF0\x9F\x98\x80 ");
  EXPECT_EQ(element(service_.send("GET", "orders/messages?peekonly=true").body, "MessageText"),
            "  a &lt;b&gt; &amp;&#xD;\n\t&lt;c&gt; \xC3\xA4\xF0\x9F\x98\x80 ");
  ASSERT_TRUE(service_.orders.clear().ok());
  EXPECT_EQ(service_.told("POST", "orders/messages", message_body("a\r\nb")), "201");
  EXPECT_EQ(service_.told("POST", "orders/messages", message_body("")), "201");
  EXPECT_THAT(peeked(service_.orders), ::testing::ElementsAre("a\nb", ""));
}

TEST_F(QueueService, QM04_QM06_BadDocumentsAreRefused) {
  for (const std::string bad :
       {"", "text", "<QueueMessage>", "<Other><MessageText>a</MessageText></Other>", "<QueueMessage/>",
        "<QueueMessage><messagetext>a</messagetext></QueueMessage>",
        "<!DOCTYPE x [<!ENTITY a 'b'>]><QueueMessage><MessageText>&a;</MessageText></QueueMessage>",
        "<QueueMessage><MessageText>&#1;</MessageText></QueueMessage>",
        "<QueueMessage><MessageText>&#xFFFE;</MessageText></QueueMessage>",
        "<QueueMessage><MessageText>&#xD800;</MessageText></QueueMessage>",
        "<QueueMessage><MessageText>\xFF</MessageText></QueueMessage>"}) {
    EXPECT_EQ(service_.told("POST", "orders/messages", bad), "400 InvalidXmlDocument") << bad;
  }
  EXPECT_EQ(counted(service_.orders), 0U);
}

TEST_F(QueueService, QM05_QE02_TextHas65536BytesAtMost) {
  EXPECT_EQ(service_.told("POST", "orders/messages", message_body(std::string(65'536, 'x'))), "201");
  std::string escaped;
  for (int i = 0; i < 65'536; ++i) escaped.append("&lt;");
  EXPECT_EQ(service_.told("POST", "orders/messages", message_body(escaped)), "201");
  const HttpResponse longer = service_.send("POST", "orders/messages", message_body(std::string(65'537, 'x')));
  EXPECT_EQ(outcome(longer), "413 RequestBodyTooLarge");
  EXPECT_EQ(element(longer.body, "MaxLimit"), "65536");
}

TEST_F(QueueService, QM10_QM11_QM13_QX19_AGetHoldsMessages) {
  sent(service_.orders, "a");
  sent(service_.orders, "b");
  const HttpResponse got = service_.send("GET", "orders/messages?numofmessages=32&visibilitytimeout=60");
  EXPECT_THAT(got.body, ContainsRegex("<QueueMessage><MessageId>[0-9a-f-]{36}</MessageId><InsertionTime>[^<]*"
                                      "</InsertionTime><ExpirationTime>[^<]*</ExpirationTime><PopReceipt>[^<]*"
                                      "</PopReceipt><TimeNextVisible>[^<]*</TimeNextVisible><DequeueCount>1"
                                      "</DequeueCount><MessageText>a</MessageText></QueueMessage><QueueMessage>"));
  const HttpResponse none = service_.send("GET", "orders/messages");
  EXPECT_EQ(none.status, 200);
  EXPECT_EQ(none.body, R"(<?xml version="1.0" encoding="utf-8"?><QueueMessagesList />)");
  service_.bench.pass(61s);
  EXPECT_EQ(element(service_.send("GET", "orders/messages").body, "DequeueCount"), "2");
  for (const std::string query :
       {"numofmessages=0", "numofmessages=33", "visibilitytimeout=0", "visibilitytimeout=604801", "numofmessages=-1"}) {
    EXPECT_EQ(service_.told("GET", "orders/messages?" + query), "400 OutOfRangeQueryParameterValue") << query;
  }
}

TEST_F(QueueService, QM20_APeekShowsNoReceipt) {
  sent(service_.orders, "a");
  const HttpResponse seen = service_.send("GET", "orders/messages?peekonly=true&numofmessages=5&visibilitytimeout=0");
  EXPECT_THAT(seen.body, HasSubstr("</ExpirationTime><DequeueCount>0</DequeueCount><MessageText>a</MessageText>"));
  EXPECT_THAT(seen.body, Not(HasSubstr("PopReceipt")));
  EXPECT_EQ(service_.told("GET", "orders/messages?peekonly=true&numofmessages=33"),
            "400 OutOfRangeQueryParameterValue");
}

TEST_F(QueueService, QM30_QM33_QM39_ADeleteNeedsTheReceipt) {
  sent(service_.orders, "a");
  const HttpResponse got = service_.send("GET", "orders/messages");
  std::string blank = element(got.body, "PopReceipt");
  std::replace(blank.begin(), blank.end(), '+', ' ');
  const std::string path = "orders/messages/" + element(got.body, "MessageId") + "?popreceipt=" + encoded(blank);
  EXPECT_EQ(service_.told("DELETE", path), "204");
  EXPECT_EQ(service_.told("DELETE", path), "404 MessageNotFound");
}

TEST_F(QueueService, QM34_EachBadReceiptHasItsError) {
  const HttpResponse put = service_.send("POST", "orders/messages", message_body("a"));
  const std::string id = element(put.body, "MessageId");
  const std::string receipt = encoded(element(put.body, "PopReceipt"));
  const std::string other =
      encoded(element(service_.send("POST", "orders/messages", message_body("b")).body, "PopReceipt"));
  const auto told = [this](const std::string& id_and_query) {
    return service_.told("DELETE", "orders/messages/" + id_and_query);
  };
  EXPECT_EQ(told(id), "400 MissingRequiredQueryParameter");
  EXPECT_EQ(told(id + "?popreceipt="), "400 MissingRequiredQueryParameter");
  const HttpResponse junk = service_.send("DELETE", "orders/messages/" + id + "?popreceipt=junk");
  EXPECT_EQ(outcome(junk), "400 InvalidQueryParameterValue");
  EXPECT_EQ(element(junk.body, "QueryParameterName"), "popreceipt");
  EXPECT_NE(element(junk.body, "Reason"), "(none)");
  EXPECT_EQ(told("nothing?popreceipt=" + receipt), "404 MessageNotFound");
  EXPECT_EQ(told("0f1e2d3c-0000-4000-8000-00000000abcd?popreceipt=" + receipt), "404 MessageNotFound");
  EXPECT_THAT(told(id + "?popreceipt=" + other), ::testing::AnyOf("400 PopReceiptMismatch", "404 MessageNotFound"));
  (void)service_.send("GET", "orders/messages");
  EXPECT_EQ(told(id + "?popreceipt=" + receipt), "404 MessageNotFound");
  EXPECT_EQ(counted(service_.orders), 2U);
}

TEST_F(QueueService, QM35_QM37_AnUpdateReturnsTheNewReceipt) {
  const HttpResponse put = service_.send("POST", "orders/messages", message_body("a"));
  const std::string path = message_path(put);
  const HttpResponse updated = service_.send("PUT", path + "&visibilitytimeout=0", message_body("b"));
  EXPECT_EQ(outcome(updated), "204");
  EXPECT_THAT(header(updated, "x-ms-time-next-visible"), HasSubstr(" GMT"));
  EXPECT_EQ(service_.told("PUT", path + "&visibilitytimeout=0"), "404 MessageNotFound");
  const std::string next = "orders/messages/" + element(put.body, "MessageId") +
                           "?popreceipt=" + encoded(header(updated, "x-ms-popreceipt"));
  EXPECT_EQ(service_.told("PUT", next), "400 MissingRequiredQueryParameter");
  EXPECT_EQ(service_.told("PUT", next + "&visibilitytimeout=604801"), "400 OutOfRangeQueryParameterValue");
  EXPECT_EQ(service_.told("PUT", next + "&visibilitytimeout=x"), "400 InvalidQueryParameterValue");
  EXPECT_EQ(service_.told("PUT", next + "&visibilitytimeout=0", "<QueueMessage"), "400 InvalidXmlDocument");
  EXPECT_THAT(peeked(service_.orders), ::testing::ElementsAre("b"));
  EXPECT_EQ(service_.told("PUT", next + "&visibilitytimeout=0", "<QueueMessage/>"), "204");
  EXPECT_THAT(peeked(service_.orders), ::testing::ElementsAre("b"));
}

TEST_F(QueueService, QM38_AClearTakesAll) {
  sent(service_.orders, "a");
  (void)got(service_.orders);
  sent(service_.orders, "b");
  EXPECT_EQ(service_.told("DELETE", "orders/messages"), "204");
  EXPECT_EQ(counted(service_.orders), 0U);
}

TEST_F(QueueService, QM40_QM42_TimesAreTheServersInWholeSeconds) {
  service_.bench.pass(1'999ms);
  const SentMessage put = sent(service_.orders, "a");
  const HttpResponse seen = service_.send("GET", "orders/messages?peekonly=true");
  const Result<DateTime> shown = DateTime::parse(put.inserted.to_string().substr(0, 19) + "Z");
  ASSERT_TRUE(shown.ok());
  EXPECT_THAT(element(seen.body, "InsertionTime"), HasSubstr(put.inserted.to_string().substr(11, 8)));
}

TEST_F(QueueService, QX13_AHeaderMayNameADeduplicationKey) {
  const Headers key = {{"x-varve-deduplication-key", "order-1"}};
  const HttpResponse first = service_.send("POST", "orders/messages", message_body("a"), key);
  const HttpResponse second = service_.send("POST", "orders/messages", message_body("a"), key);
  EXPECT_EQ(element(first.body, "MessageId"), element(second.body, "MessageId"));
  EXPECT_EQ(counted(service_.orders), 1U);
}

TEST_F(QueueService, QX19_AGetWaitsOnlyIfAsked) {
  Task<Result<HttpResponse>> waiting =
      service_.dispatcher.handle(service_.signed_request("GET", "orders/messages?x-varve-wait=30"));
  std::optional<HttpResponse> answer;
  std::promise<void> answered;
  start(std::move(waiting), [&](Result<HttpResponse> response) {
    answer = *std::move(response);
    answered.set_value();
  });
  EXPECT_EQ(service_.told("POST", "orders/messages", message_body("late")), "201");
  answered.get_future().wait();
  EXPECT_EQ(element(answer->body, "MessageText"), "late");
  EXPECT_EQ(service_.told("GET", "orders/messages?x-varve-wait=31"), "400 OutOfRangeQueryParameterValue");
  EXPECT_EQ(service_.told("GET", "orders/messages?x-varve-wait=0"), "200");
}

TEST_F(QueueService, QX19_AWaitEndsWithTheServer) {
  Task<Result<HttpResponse>> waiting =
      service_.dispatcher.handle(service_.signed_request("GET", "orders/messages?x-varve-wait=30"));
  std::promise<HttpResponse> answered;
  start(std::move(waiting), [&](Result<HttpResponse> response) { answered.set_value(*std::move(response)); });
  service_.dispatcher.stop();
  EXPECT_THAT(outcome(answered.get_future().get()), ::testing::AnyOf("200", "500 OperationTimedOut"));
}

TEST(QueueServiceRules, QX12_AMessageThatWasDeliveredTooOftenMoves) {
  QueueServiceBench service({{std::string(kAccount), "orders", 2, "orders-failed"}});
  sent(service.orders, "bad");
  for (int delivery = 1; delivery <= 2; ++delivery) {
    EXPECT_EQ(element(service.send("GET", "orders/messages").body, "MessageText"), "bad") << delivery;
    service.bench.pass(31s);
  }
  EXPECT_THAT(service.send("GET", "orders/messages").body, HasSubstr("<QueueMessagesList />"));
  EXPECT_EQ(counted(service.orders), 0U);
  EXPECT_EQ(element(service.send("GET", "orders-failed/messages?peekonly=true").body, "MessageText"), "bad");
  Queue other = service.bench.queue("other");
  sent(other, "bad");
  for (int delivery = 1; delivery <= 4; ++delivery) {
    EXPECT_EQ(element(service.send("GET", "other/messages").body, "MessageText"), "bad") << delivery;
    service.bench.pass(31s);
  }
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
