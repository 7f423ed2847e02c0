// Owns: the lines of the log as JSON, one object a line.
// Must never: write a line that is not valid JSON, whatever bytes a message has.
#include <array>
#include <cstdio>
#include <ctime>

#include "api/rest/encoding/json_text.h"
#include "tools/serve/watch/log_text.h"

namespace varve::serve {
namespace {

/// Returns the time in the form of RFC 3339, in UTC with milliseconds.
std::string time_text(LogTime time) {
  using std::chrono::milliseconds;
  const auto since = std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count();
  const auto seconds = static_cast<std::time_t>(since / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%s.%03dZ", date.data(), static_cast<int>(since % 1000));
  return text.data();
}

/// Returns the length of the valid UTF-8 sequence at the start of a text, or 0 if there is none.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t place) { return static_cast<unsigned char>(text[place]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  if (first == 0xE0 && second < 0xA0) return 0;  // too long a form
  if (first == 0xED && second > 0x9F) return 0;  // a surrogate
  if (first == 0xF0 && second < 0x90) return 0;  // too long a form
  if (first == 0xF4 && second > 0x8F) return 0;  // above U+10FFFF
  return length;
}

std::string as_utf8(std::string_view text) {
  std::string made;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    made += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return made;
}

void begin_line(JsonText& json, LogTime time, std::string_view level, std::string_view event) {
  json.begin_object().member("time").text(time_text(time));
  json.member("level").text(level).member("event").text(event);
}

void write_header(JsonText& json, std::string_view name, const std::string* value) {
  json.member(name);
  if (value == nullptr) {
    json.null();
  } else {
    json.text(as_utf8(*value));
  }
}

}  // namespace

std::string log_json(LogTime time, const LoggedRequest& request, const RequestRecord& record,
                     const HttpResponse& response) {
  std::array<char, 32> duration{};
  std::snprintf(duration.data(), duration.size(), "%.3f",
                std::chrono::duration<double, std::milli>(record.duration).count());
  JsonText json;
  begin_line(json, time, "info", "request");
  json.member("client").text(as_utf8(request.client)).member("method").text(as_utf8(request.verb));
  json.member("target").text(as_utf8(request.target)).member("operation").text(operation_name(record.operation));
  json.member("status").integer(record.status);
  write_header(json, "error_code", find_header(response.headers, "x-ms-error-code"));
  json.member("bytes_in").number(std::to_string(record.bytes_in));
  json.member("bytes_out").number(std::to_string(record.bytes_out));
  json.member("duration_ms").number(duration.data());
  write_header(json, "request_id", find_header(response.headers, "x-ms-request-id"));
  json.end_object();
  return json.take();
}

std::string log_json(LogTime time, std::string_view level, std::string_view message, std::string_view request_id) {
  JsonText json;
  begin_line(json, time, level, "server");
  json.member("message").text(as_utf8(message));
  if (!request_id.empty()) json.member("request_id").text(as_utf8(request_id));
  json.end_object();
  return json.take();
}

}  // namespace varve::serve
