// Goal: a line of the log is one JSON object with the same names whatever bytes a client or a message has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include "api/rest/protocol/message.h"
#include "tools/serve/watch/log_text.h"

namespace varve::serve::log_json_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr LogTime kTime{std::chrono::milliseconds(1'795'352'710'007)};

HttpResponse response() {
  HttpResponse made;
  made.with("x-ms-request-id", "5f0c").with("x-ms-error-code", "TableNotFound");
  return made;
}

TEST(JsonLog, OfARequestHasItsFieldsInOneOrder) {
  RequestRecord record;
  record.operation = Operation::kQueryEntities;
  record.status = 404;
  record.duration = std::chrono::microseconds(1'234);
  record.bytes_in = 12'345'678'901;
  record.bytes_out = 5;
  EXPECT_EQ(log_json(kTime, {"127.0.0.1", "GET", "/a/Orders()"}, record, response()),
            "{\"time\":\"2026-11-22T13:05:10.007Z\",\"level\":\"info\",\"event\":\"request\","
            "\"client\":\"127.0.0.1\",\"method\":\"GET\",\"target\":\"/a/Orders()\","
            "\"operation\":\"QueryEntities\",\"status\":404,\"error_code\":\"TableNotFound\","
            "\"bytes_in\":12345678901,\"bytes_out\":5,\"duration_ms\":1.234,\"request_id\":\"5f0c\"}");
  EXPECT_THAT(log_json(kTime, {}, record, HttpResponse()), HasSubstr("\"error_code\":null"));
}

TEST(JsonLog, OfTheServerHasALevelAndPerhapsARequest) {
  EXPECT_EQ(log_json(kTime, "error", "no space", "5f0c"),
            "{\"time\":\"2026-11-22T13:05:10.007Z\",\"level\":\"error\",\"event\":\"server\","
            "\"message\":\"no space\",\"request_id\":\"5f0c\"}");
  EXPECT_THAT(log_json(kTime, "info", "x"), Not(HasSubstr("request_id")));
}

TEST(JsonLog, OfAnyBytesIsOneLineOfValidJson) {
  std::vector<std::string> messages = {"\n\r\t\"\\", "\xED\xA0\x80",     "\xF4\x90\x80\x80", "\xC0\x80",
                                       "\xE2\x82",   "\xF0\x9F\x98\x80", "caf\xC3\xA9",      std::string("a\0b", 3)};
  for (int byte = 0; byte < 256; ++byte) {
    messages.push_back(std::string(1, static_cast<char>(byte)));
    messages.push_back("before" + std::string(1, static_cast<char>(byte)) + "after");
  }
  for (const std::string& message : messages) {
    const std::string line = log_json(kTime, "info", message, message);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    rapidjson::Document parsed;
    parsed.Parse<rapidjson::kParseValidateEncodingFlag>(line.c_str(), line.size());
    ASSERT_FALSE(parsed.HasParseError()) << line;
    const std::string shown(parsed["message"].GetString(), parsed["message"].GetStringLength());
    // Valid text stays; other bytes become U+FFFD.
    if (shown != message) {
      EXPECT_THAT(shown, HasSubstr("\xEF\xBF\xBD")) << line;
    }
  }
  EXPECT_THAT(log_json(kTime, "info", "caf\xC3\xA9 \xF0\x9F\x98\x80"), HasSubstr("caf\xC3\xA9 \xF0\x9F\x98\x80"));
}

}  // namespace
}  // namespace varve::serve::log_json_test
