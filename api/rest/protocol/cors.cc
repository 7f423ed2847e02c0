#include "api/rest/protocol/cors.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "api/rest/protocol/wire_error.h"

namespace varve::serve {
namespace {

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool allows_any_origin(const CorsRule& rule) {
  return contains(rule.allowed_origins, "*");
}

/// Returns the first rule that allows origin and method. Later rules are not tried, whatever headers they allow.
const CorsRule* find_rule(std::span<const CorsRule> rules, std::string_view origin, std::string_view method) {
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const CorsRule& rule) {
    return (allows_any_origin(rule) || contains(rule.allowed_origins, origin)) &&
           contains(rule.allowed_methods, method);
  });
  return found == rules.end() ? nullptr : &*found;
}

/// Returns whether an entry of a list of headers matches this header. An entry with a final `*` matches as a prefix.
bool means_header(std::string_view entry, std::string_view name) {
  if (!entry.ends_with('*')) return equal_ignoring_case(entry, name);
  entry.remove_suffix(1);
  return equal_ignoring_case(entry, name.substr(0, entry.size()));
}

/// Returns whether the rule allows every header in `requested`, the list of names that a preflight sends.
bool allows_headers(const CorsRule& rule, std::string_view requested) {
  while (!requested.empty()) {
    const std::size_t end = std::min(requested.find(','), requested.size());
    const std::string_view name = trimmed(requested.substr(0, end));
    requested.remove_prefix(std::min(end + 1, requested.size()));
    const bool is_allowed = name.empty() || std::any_of(rule.allowed_headers.begin(), rule.allowed_headers.end(),
                                                        [&](const auto& entry) { return means_header(entry, name); });
    if (!is_allowed) return false;
  }
  return true;
}

void add_name(std::string& list, std::string_view name) {
  list.append(list.empty() ? "" : ",").append(name);
}

/// Returns the headers that the rule exposes. A prefix is replaced by the matching headers of the answer.
std::string exposed_headers(const CorsRule& rule, const Headers& headers) {
  std::string list;
  for (const std::string& entry : rule.exposed_headers) {
    if (!entry.ends_with('*')) {
      add_name(list, entry);
      continue;
    }
    for (const auto& header : headers) {
      if (means_header(entry, header.first)) add_name(list, header.first);
    }
  }
  return list;
}

void add_rule_headers(const CorsRule& rule, std::string_view origin, HttpResponse& response) {
  const std::string exposed = exposed_headers(rule, response.headers);
  response.with("Access-Control-Allow-Origin", allows_any_origin(rule) ? "*" : origin);
  if (!exposed.empty()) response.with("Access-Control-Expose-Headers", exposed);
  if (!allows_any_origin(rule)) response.with("Access-Control-Allow-Credentials", "true");
}

}  // namespace

Result<HttpResponse> answer_preflight(const Headers& headers, std::span<const CorsRule> rules) {
  const std::string* const origin = find_header(headers, "origin");
  const std::string* const method = find_header(headers, "access-control-request-method");
  if (origin == nullptr || method == nullptr) {
    return refused("InvalidHeaderValue", "a preflight needs Origin and Access-Control-Request-Method");
  }
  const std::string* const requested = find_header(headers, "access-control-request-headers");
  const CorsRule* const rule = find_rule(rules, *origin, *method);
  if (rule == nullptr || (requested != nullptr && !allows_headers(*rule, *requested))) {
    return refused("CorsPreflightFailure", "no CORS rule allows this origin, method and headers");
  }
  HttpResponse response;
  response.with("Access-Control-Allow-Origin", allows_any_origin(*rule) ? "*" : *origin);
  response.with("Access-Control-Allow-Methods", *method);
  if (requested != nullptr) response.with("Access-Control-Allow-Headers", *requested);
  response.with("Access-Control-Max-Age", std::to_string(rule->max_age_seconds));
  response.with("Access-Control-Allow-Credentials", "true");
  return response;
}

void add_cors_headers(const security::Request& request, std::span<const CorsRule> rules, HttpResponse& response) {
  if (rules.empty()) return;
  const std::string* const origin = find_header(request.headers, "origin");
  const CorsRule* const rule = origin == nullptr ? nullptr : find_rule(rules, *origin, request.verb);
  if (rule != nullptr) add_rule_headers(*rule, *origin, response);
  // Without Vary, a cache could answer a page of one origin with the CORS headers for another origin.
  const bool is_read = request.verb == "GET" || request.verb == "HEAD";
  const bool is_for_any = rule != nullptr
                              ? allows_any_origin(*rule)
                              : origin == nullptr && std::any_of(rules.begin(), rules.end(), allows_any_origin);
  if (is_read && !is_for_any) response.with("Vary", "Origin");
}

}  // namespace varve::serve
