#include "tools/serve/http_exchange.h"

#include <string_view>
#include <utility>

#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>

#include "api/service_error.h"
#include "tools/serve/wire_error.h"

namespace varve::serve {
namespace {

namespace http = boost::beast::http;

std::string_view view_of(boost::beast::string_view text) noexcept {
  return {text.data(), text.size()};
}

bool has_body_verb(std::string_view verb) noexcept {
  return verb == "POST" || verb == "PUT" || verb == "MERGE" || verb == "PATCH";
}

Status check_sizes(const http::request_header<>& header, const ConnectionLimits& limits) {
  if (header.target().size() > limits.target_bytes_max) return refused("InvalidUri", "the URL is too long");
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (const auto& field : header) {
    ++count;
    bytes += field.name_string().size() + field.value().size() + 4;  // ": " and the line's end
  }
  if (count <= limits.headers_max && bytes <= limits.header_bytes_max) return Status();
  return refused("InvalidHeaderValue", "the headers are too many or too long");
}

}  // namespace

Status check_framing(const RequestParser& parser, const ConnectionLimits& limits) {
  const http::request_header<>& header = parser.get();
  if (Status sized = check_sizes(header, limits); !sized.ok()) return sized;
  const std::size_t encodings = header.count(http::field::transfer_encoding);
  const std::size_t lengths = header.count(http::field::content_length);
  // Two ways to tell where a body ends are two bodies to whoever else reads this request.
  const bool is_clear =
      encodings + lengths <= 1 &&
      (encodings == 0 || equal_ignoring_case(view_of(header[http::field::transfer_encoding]), "chunked"));
  if (!is_clear) return service_error::invalid_input("the length of the body is not clear");
  if (encodings + lengths == 0 && has_body_verb(view_of(header.method_string()))) {
    return refused("MissingContentLengthHeader", "the body has no length");
  }
  return Status();
}

bool wants_continue(const RequestParser& parser) {
  return equal_ignoring_case(view_of(parser.get()[http::field::expect]), "100-continue");
}

std::uint64_t body_bytes_expected(const RequestParser& parser, const ConnectionLimits& limits) {
  const boost::optional<std::uint64_t> length = parser.content_length();
  return length ? *length : limits.body_bytes_max;
}

bool take_request(RequestParser& parser, HttpRequest& request) {
  http::request<http::string_body> message = parser.release();
  request.head.verb = view_of(message.method_string());
  for (const auto& field : message) {
    request.head.headers.emplace_back(view_of(field.name_string()), view_of(field.value()));
  }
  request.body = std::move(message.body());
  return set_target(request, view_of(message.target()));
}

Status bad_target() {
  return refused("InvalidUri", "the request line names no path");
}

std::optional<Status> answer_to(const boost::system::error_code& error) {
  if (error == http::error::end_of_stream || error == http::error::partial_message) return std::nullopt;
  if (error == http::error::body_limit) return service_error::request_body_too_large("the body is over 4 MiB");
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return refused("InvalidHeaderValue", "the request line and headers are too long");
  }
  if (error.category() == make_error_code(http::error::bad_method).category()) {
    return service_error::invalid_input("this is no HTTP request");
  }
  return std::nullopt;
}

ResponseMessage to_message(HttpResponse response, bool keeps_alive) {
  ResponseMessage message;
  message.version(11);
  message.result(response.status);
  message.reason(
      boost::beast::string_view(reason_phrase(response.status).data(), reason_phrase(response.status).size()));
  for (const auto& [name, value] : response.headers) message.insert(name, value);
  message.body() = std::move(response.body);
  message.prepare_payload();
  message.keep_alive(keeps_alive);
  return message;
}

}  // namespace varve::serve
