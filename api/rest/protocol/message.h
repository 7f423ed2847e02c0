// Owns: a request and its answer as values, independent of the connection.
// Must never: know a socket, or interpret the content of a message.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rest/protocol/answer_room.h"
#include "api/rest/protocol/body_stream.h"
#include "varve/security/request.h"
#include "varve/status.h"

namespace varve::serve {

/// Headers as name and value, in the order of sending.
using Headers = std::vector<std::pair<std::string, std::string>>;

/// Compares texts. ASCII letters of either case are equal.
bool equal_ignoring_case(std::string_view left, std::string_view right) noexcept;
/// Returns the value of the first header of this name, or null. Ignores the case of letters.
const std::string* find_header(const Headers& headers, std::string_view name) noexcept;
std::size_t count_headers(const Headers& headers, std::string_view name) noexcept;
/// Returns the values of all headers of this name, joined with commas. Returns nothing if there is no such header.
std::optional<std::string> joined_header(const Headers& headers, std::string_view name);
std::string_view trimmed(std::string_view text) noexcept;

struct HttpRequest {
  /// The verb, path and query as the request line spells them, with the headers.
  security::Request head;
  /// The host of a request line with an absolute URL (`GET http://host/path`). Otherwise the Host header counts.
  std::optional<std::string> absolute_host{};
  /// The whole body, unless `source` has it.
  std::string body{};
  /// The body, if it is read piece by piece. Null if `body` has it. Valid until the request is answered.
  BodySource* source = nullptr;
  security::Arrival arrival{"127.0.0.1", false};
  /// The client's port, or 0 if it has none.
  std::uint16_t client_port = 0;
  /// The reason why the server did not read the body. The server answers with this error, and does nothing else.
  std::optional<Status> refusal{};
  /// The memory for the answer of a read. Null if the connection does not limit the memory.
  AnswerRoom* room = nullptr;
  /// An object that the connection keeps until it ends or a later request replaces the object. Null if there is no
  /// connection.
  std::shared_ptr<void>* kept = nullptr;
  /// Whether the operating system has shown that the caller owns the store. Such a caller needs no signature. Never set
  /// from the bytes of a request.
  bool is_operator = false;
  /// When the headers had arrived, if the body arrived later.
  std::optional<std::chrono::steady_clock::time_point> headers_arrived{};
};

/// Splits `path?query` or `http://host/path?query` into a request's fields. Returns false if the target has neither
/// form.
bool set_target(HttpRequest& request, std::string_view target);

/// Returns the request's host. Returns an empty text if the request names no host, or two hosts.
std::string host_of(const HttpRequest& request);

struct HttpResponse {
  std::uint16_t status = 200;
  Headers headers{};
  /// The body, or its beginning if `source` has the rest.
  std::string body{};
  /// The length that the answer states, if `body` is not the whole body: `source` has the rest, or the answer to a HEAD
  /// has no body.
  std::optional<std::uint64_t> stated_bytes{};
  std::shared_ptr<AnswerSource> source{};

  /// Returns the bytes of the body that are sent.
  std::uint64_t bytes_sent() const noexcept { return source && stated_bytes ? *stated_bytes : body.size(); }
  HttpResponse& with(std::string_view name, std::string_view value) {
    headers.emplace_back(name, value);
    return *this;
  }
};

/// Returns an answer without a body.
HttpResponse empty_response(std::uint16_t status);

/// Returns the reason phrase: "Not Found" for 404.
std::string_view reason_phrase(std::uint16_t status) noexcept;

}  // namespace varve::serve
