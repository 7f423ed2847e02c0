#include "api/rest/protocol/message.h"

#include <algorithm>

namespace varve::serve {
namespace {

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Compares texts of one length. Most bytes of a header's name have the case of the name that is asked for.
bool is_same_name(std::string_view left, std::string_view right) noexcept {
  for (std::size_t at = 0; at < left.size(); ++at) {
    if (left[at] != right[at] && lower(left[at]) != lower(right[at])) return false;
  }
  return true;
}

}  // namespace

bool equal_ignoring_case(std::string_view left, std::string_view right) noexcept {
  return left.size() == right.size() && is_same_name(left, right);
}

const std::string* find_header(const Headers& headers, std::string_view name) noexcept {
  for (const auto& [known, value] : headers) {
    if (known.size() == name.size() && is_same_name(known, name)) return &value;
  }
  return nullptr;
}

std::size_t count_headers(const Headers& headers, std::string_view name) noexcept {
  std::size_t count = 0;
  for (const auto& header : headers) count += equal_ignoring_case(header.first, name) ? 1U : 0U;
  return count;
}

std::optional<std::string> joined_header(const Headers& headers, std::string_view name) {
  std::optional<std::string> joined;
  for (const auto& [known, value] : headers) {
    if (!equal_ignoring_case(known, name)) continue;
    if (joined) {
      joined->append(",").append(value);
    } else {
      joined = value;
    }
  }
  return joined;
}

std::string_view trimmed(std::string_view text) noexcept {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool set_target(HttpRequest& request, std::string_view target) {
  const bool names_scheme =
      equal_ignoring_case(target.substr(0, 7), "http://") || equal_ignoring_case(target.substr(0, 8), "https://");
  if (names_scheme) {
    target.remove_prefix(target.find("//") + 2);
    const std::size_t host_end = std::min(target.find_first_of("/?"), target.size());
    request.absolute_host = std::string(target.substr(0, host_end));
    target.remove_prefix(host_end);
  } else if (!target.starts_with('/')) {
    return false;
  }
  const std::size_t mark = std::min(target.find('?'), target.size());
  request.head.path = mark == 0 ? "/" : std::string(target.substr(0, mark));
  request.head.query = mark == target.size() ? std::string() : std::string(target.substr(mark + 1));
  return true;
}

std::string host_of(const HttpRequest& request) {
  if (request.absolute_host) return *request.absolute_host;
  const std::string* const host = find_header(request.head.headers, "host");
  return host == nullptr || count_headers(request.head.headers, "host") > 1 ? std::string() : *host;
}

HttpResponse empty_response(std::uint16_t status) {
  HttpResponse response;
  response.status = status;
  return response;
}

std::string_view reason_phrase(std::uint16_t status) noexcept {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 206: return "Partial Content";
    case 304: return "Not Modified";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 411: return "Length Required";
    case 412: return "Precondition Failed";
    case 413: return "Payload Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 416: return "Range Not Satisfiable";
    case 431: return "Request Header Fields Too Large";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    default: return status < 500 ? "Error" : "Internal Server Error";
  }
}

}  // namespace varve::serve
