// Owns: a request and its answer as values, whatever carried them.
// Must never: know a socket, or interpret what it holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rest/protocol/answer_room.h"
#include "varve/security/request.h"
#include "varve/status.h"

namespace varve::serve {

/// In the order in which they were sent or will be.
using Headers = std::vector<std::pair<std::string, std::string>>;

/// Letters of ASCII are equal in either case.
bool equal_ignoring_case(std::string_view left, std::string_view right) noexcept;
/// The first header of this name, in any case of letters, or null.
const std::string* find_header(const Headers& headers, std::string_view name) noexcept;
std::size_t count_headers(const Headers& headers, std::string_view name) noexcept;
/// The values of all headers of this name as one list, with commas between them; nothing where there is none.
std::optional<std::string> joined_header(const Headers& headers, std::string_view name);
std::string_view trimmed(std::string_view text) noexcept;

struct HttpRequest {
  /// Verb, path and query as they stood on the request line.
  security::Request head;
  /// Of a request line that named the host itself (`GET http://host/path`); else the Host header counts.
  std::optional<std::string> absolute_host{};
  std::string body{};
  security::Arrival arrival{"127.0.0.1", false};
  /// Why its body was not read: the answer, and all that is made of the request.
  std::optional<Status> refusal{};
  /// Of a read's answer; null where nobody counts.
  AnswerRoom* room = nullptr;
};

/// Takes `path?query` or `http://host/path?query` apart into a request. False: it is neither.
bool set_target(HttpRequest& request, std::string_view target);

/// What the request says its host is; empty where it says nothing, or two things.
std::string host_of(const HttpRequest& request);

struct HttpResponse {
  std::uint16_t status = 200;
  Headers headers{};
  std::string body{};

  HttpResponse& with(std::string_view name, std::string_view value) {
    headers.emplace_back(name, value);
    return *this;
  }
};

/// "Not Found" for 404.
std::string_view reason_phrase(std::uint16_t status) noexcept;

}  // namespace varve::serve
