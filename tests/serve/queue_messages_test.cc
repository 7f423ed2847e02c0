// Goal: the queue service puts, holds, updates and deletes messages as the specification says.
#include <future>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/queue_service_bench.h"

namespace varve::serve::queue_messages_test {
namespace {

using namespace test;
using namespace std::chrono_literals;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class QueueMessages : public ::testing::Test {
 protected:
  QueueServiceBench service_;
};

TEST_F(QueueMessages, QM01_QH04_APutAnswersWithTheMessage) {
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

TEST_F(QueueMessages, QM02_QM03_TimesOfAPutHaveRangesThatAreTold) {
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

TEST_F(QueueMessages, QM02_QM03_AnyTimeToLiveAboveZeroIsTaken) {
  for (const std::string ttl : {"2147483648", "315360000000", "9223372036854775"}) {
    const HttpResponse put = service_.send("POST", "orders/messages?messagettl=" + ttl, message_body("x"));
    EXPECT_EQ(outcome(put), "201") << ttl;
    const bool is_capped = ttl != "2147483648";  // 68 years
    EXPECT_EQ(element(put.body, "ExpirationTime") == "Fri, 31 Dec 9999 23:59:59 GMT", is_capped) << ttl;
  }
}

TEST_F(QueueMessages, QM04_QM06_TextArrivesAndLeavesUnchanged) {
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

TEST_F(QueueMessages, QM04_QM06_BadDocumentsAreRefused) {
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

TEST_F(QueueMessages, QM05_QE02_TextHas65536BytesAtMost) {
  EXPECT_EQ(service_.told("POST", "orders/messages", message_body(std::string(65'536, 'x'))), "201");
  std::string escaped;
  for (int i = 0; i < 65'536; ++i) escaped.append("&lt;");
  EXPECT_EQ(service_.told("POST", "orders/messages", message_body(escaped)), "201");
  const HttpResponse longer = service_.send("POST", "orders/messages", message_body(std::string(65'537, 'x')));
  EXPECT_EQ(outcome(longer), "413 RequestBodyTooLarge");
  EXPECT_EQ(element(longer.body, "MaxLimit"), "65536");
}

TEST_F(QueueMessages, QM10_QM11_QM13_QX19_AGetHoldsMessages) {
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

TEST_F(QueueMessages, QM20_APeekShowsNoReceipt) {
  sent(service_.orders, "a");
  const HttpResponse seen = service_.send("GET", "orders/messages?peekonly=true&numofmessages=5&visibilitytimeout=0");
  EXPECT_THAT(seen.body, HasSubstr("</ExpirationTime><DequeueCount>0</DequeueCount><MessageText>a</MessageText>"));
  EXPECT_THAT(seen.body, Not(HasSubstr("PopReceipt")));
  EXPECT_EQ(service_.told("GET", "orders/messages?peekonly=true&numofmessages=33"),
            "400 OutOfRangeQueryParameterValue");
}

TEST_F(QueueMessages, QM30_QM33_QM39_ADeleteNeedsTheReceipt) {
  sent(service_.orders, "a");
  const HttpResponse got = service_.send("GET", "orders/messages");
  std::string blank = element(got.body, "PopReceipt");
  std::replace(blank.begin(), blank.end(), '+', ' ');
  const std::string path = "orders/messages/" + element(got.body, "MessageId") + "?popreceipt=" + encoded(blank);
  EXPECT_EQ(service_.told("DELETE", path), "204");
  EXPECT_EQ(service_.told("DELETE", path), "404 MessageNotFound");
}

TEST_F(QueueMessages, QM34_EachBadReceiptHasItsError) {
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

TEST_F(QueueMessages, QM35_QM37_AnUpdateReturnsTheNewReceipt) {
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

TEST_F(QueueMessages, QM38_AClearTakesAll) {
  sent(service_.orders, "a");
  (void)got(service_.orders);
  sent(service_.orders, "b");
  EXPECT_EQ(service_.told("DELETE", "orders/messages"), "204");
  EXPECT_EQ(counted(service_.orders), 0U);
}

TEST_F(QueueMessages, QM40_QM42_TimesAreTheServersInWholeSeconds) {
  service_.bench.pass(1'999ms);
  const SentMessage put = sent(service_.orders, "a");
  const HttpResponse seen = service_.send("GET", "orders/messages?peekonly=true");
  const Result<DateTime> shown = DateTime::parse(put.inserted.to_string().substr(0, 19) + "Z");
  ASSERT_TRUE(shown.ok());
  EXPECT_THAT(element(seen.body, "InsertionTime"), HasSubstr(put.inserted.to_string().substr(11, 8)));
}

TEST_F(QueueMessages, QX13_AHeaderMayNameADeduplicationKey) {
  const Headers key = {{"x-varve-deduplication-key", "order-1"}};
  const HttpResponse first = service_.send("POST", "orders/messages", message_body("a"), key);
  const HttpResponse second = service_.send("POST", "orders/messages", message_body("a"), key);
  EXPECT_EQ(element(first.body, "MessageId"), element(second.body, "MessageId"));
  EXPECT_EQ(counted(service_.orders), 1U);
}

TEST_F(QueueMessages, QX19_AGetWaitsOnlyIfAsked) {
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

TEST_F(QueueMessages, QX19_AWaitEndsWithTheServer) {
  Task<Result<HttpResponse>> waiting =
      service_.dispatcher.handle(service_.signed_request("GET", "orders/messages?x-varve-wait=30"));
  std::promise<HttpResponse> answered;
  start(std::move(waiting), [&](Result<HttpResponse> response) { answered.set_value(*std::move(response)); });
  service_.dispatcher.stop();
  EXPECT_THAT(outcome(answered.get_future().get()), ::testing::AnyOf("200", "500 OperationTimedOut"));
}

TEST(QueueMessageRules, QX12_AMessageThatWasDeliveredTooOftenMoves) {
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

}  // namespace
}  // namespace varve::serve::queue_messages_test
