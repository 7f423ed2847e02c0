#include "tools/serve/transport/http_exchange.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>

#include "api/model/header_text.h"
#include "api/model/service_error.h"
#include "api/rest/protocol/wire_error.h"

namespace varve::serve {
namespace {

namespace http = boost::beast::http;

/// Bytes for the verb, the version and line ends.
constexpr std::uint32_t kHeaderSlackBytes = 1024;
/// The usual number of headers. A request with more headers reallocates the list.
constexpr std::size_t kUsualHeaders = 16;

std::string_view view_of(boost::beast::string_view text) noexcept {
  return {text.data(), text.size()};
}

/// Appends a value without controls, which would end the header. A store of an earlier build may have such a text.
void append_value(std::string& head, std::string_view value) {
  const auto begin = static_cast<std::ptrdiff_t>(head.size());
  head.append(value);
  std::replace_if(head.begin() + begin, head.end(), is_header_control, ' ');
}

bool has_body_verb(std::string_view verb) noexcept {
  return verb == "POST" || verb == "PUT" || verb == "MERGE" || verb == "PATCH";
}

}  // namespace

RequestReader::RequestReader(const ConnectionLimits& limits, bool allows_pieces) : limits_(limits) {
  header_limit(kHeaderSlackBytes + limits.target_bytes_max + limits.header_bytes_max);
  body_limit(allows_pieces ? std::numeric_limits<std::uint64_t>::max() : limits.body_bytes_max);
}

void RequestReader::on_request_impl(Verb /*verb*/, Text verb_text, Text target, int /*version*/, ErrorCode& error) {
  error = {};
  request_.head.verb = view_of(verb_text);
  request_.head.headers.reserve(kUsualHeaders);
  target_ = view_of(target);
}

/// Fields after the body are dropped. They come after the headers were judged, and no rule of the services uses them.
void RequestReader::on_field_impl(Field /*field*/, Text name, Text value, ErrorCode& error) {
  error = {};
  if (has_all_headers_) return;
  header_bytes_ += name.size() + value.size() + 4;  // ": " and the line's end
  request_.head.headers.emplace_back(view_of(name), view_of(value));
}

void RequestReader::on_body_init_impl(const Length& length, ErrorCode& error) {
  error = {};
  if (length && !is_in_pieces_) request_.body.reserve(static_cast<std::size_t>(*length));  // its limit was checked
}

std::size_t RequestReader::on_body_impl(Text body, ErrorCode& error) {
  error = {};
  if (!is_in_pieces_) {
    request_.body.append(body.data(), body.size());
    return body.size();
  }
  const std::uint64_t left = is_piece_cut() ? 0 : kBodyKeptBytes - bytes_of_pieces_ % kBodyKeptBytes;
  const std::size_t taken = static_cast<std::size_t>(std::min<std::uint64_t>(left, body.size()));
  request_.body.append(body.data(), taken);
  bytes_of_pieces_ += taken;
  if (taken < body.size()) error = make_error_code(http::error::need_buffer);
  return taken;
}

Status RequestReader::check_sizes() const {
  if (target_.size() > limits_.target_bytes_max) return refused("InvalidUri", "the URL is too long");
  if (request_.head.headers.size() <= limits_.headers_max && header_bytes_ <= limits_.header_bytes_max) return Status();
  return refused("InvalidHeaderValue", "the headers are too many or too long");
}

std::size_t RequestReader::read(std::string_view bytes, ErrorCode& error) {
  constexpr std::size_t kLastChunkBytes = 5;  // "0", and two ends of a line: more always follows anything shorter
  const bool is_short = is_header_done() && !is_done() && chunked() && bytes.size() < kLastChunkBytes;
  if (!is_short) return put(boost::asio::buffer(bytes), error);
  error = http::error::need_more;
  return 0;
}

Status RequestReader::check_framing() const {
  if (Status sized = check_sizes(); !sized.ok()) return sized;
  const Headers& headers = request_.head.headers;
  const std::string* const encoding = find_header(headers, "transfer-encoding");
  const std::size_t bodies = count_headers(headers, "transfer-encoding") + count_headers(headers, "content-length");
  // If a request states its body's length in two ways, another reader of the request could see a different body.
  const bool is_clear = bodies <= 1 && (encoding == nullptr || equal_ignoring_case(*encoding, "chunked"));
  if (!is_clear)
    return service_error::invalid_input(
        "the length of the body is not clear; give Content-Length or Transfer-Encoding: chunked, once");
  if (encoding != nullptr && limits_.body_bytes_max == 0) {
    return service_error::request_body_too_large("requests to this address must not have a body");
  }
  if (bodies == 0 && has_body_verb(request_.head.verb)) {
    return refused("MissingContentLengthHeader", "the request needs Content-Length or Transfer-Encoding: chunked");
  }
  return Status();
}

Status RequestReader::limit_kept_body() {
  body_limit(limits_.body_bytes_max);  // counts the chunks of a body without a length
  if (!tells_body_bytes() || *content_length() <= limits_.body_bytes_max) return Status();
  return service_error::request_body_too_large("the body is larger than the largest allowed body");
}

bool RequestReader::wants_continue() const {
  const std::string* const expected = find_header(request_.head.headers, "expect");
  return expected != nullptr && equal_ignoring_case(*expected, "100-continue");
}

std::uint64_t RequestReader::body_bytes_expected() const {
  const Length length = content_length();
  return length ? *length : limits_.body_bytes_max;
}

bool RequestReader::complete_head(security::Arrival arrival) {
  request_.arrival = std::move(arrival);
  return set_target(request_, target_);
}

Status bad_target() {
  return refused("InvalidUri", "the request line must name a path");
}

std::optional<Status> answer_to(const boost::system::error_code& error) {
  if (error == http::error::end_of_stream || error == http::error::partial_message) return std::nullopt;
  if (error == http::error::body_limit)
    return service_error::request_body_too_large("the body is larger than the largest allowed body");
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return refused("InvalidHeaderValue", "the request line and headers are too long");
  }
  if (error.category() == make_error_code(http::error::bad_method).category()) {
    return service_error::invalid_input("the request is not an HTTP request");
  }
  return std::nullopt;
}

AnswerBytes to_bytes(HttpResponse response, bool keeps_alive) {
  const std::string_view reason = reason_phrase(response.status);
  std::array<char, 20> length{};
  const std::uint64_t stated = response.stated_bytes.value_or(response.body.size());
  const auto written = std::to_chars(length.data(), length.data() + length.size(), stated);
  const std::string_view body_bytes(length.data(), static_cast<std::size_t>(written.ptr - length.data()));
  constexpr std::size_t kLineBytes = 64;  // of the status line, and of the last lines
  std::size_t bytes = 2 * kLineBytes + reason.size();
  for (const auto& [name, value] : response.headers) bytes += name.size() + value.size() + 4;
  const bool is_joined = response.body.size() <= kJoinedBodyMax;
  if (is_joined) bytes += response.body.size();

  AnswerBytes answer;
  std::string& head = answer.head;
  head.reserve(bytes);
  head.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ").append(reason).append("\r\n");
  for (const auto& [name, value] : response.headers) {
    assert(!equal_ignoring_case(name, "content-length"));
    head.append(name).append(": ");
    append_value(head, value);
    head.append("\r\n");
  }
  head.append("Content-Length: ").append(body_bytes).append("\r\n");
  if (!keeps_alive) head.append("Connection: close\r\n");
  head.append("\r\n");
  if (is_joined) {
    head.append(response.body);
  } else {
    answer.body = std::move(response.body);
  }
  return answer;
}

}  // namespace varve::serve
