// Owns: the rules from an answer to its request status (request_outcome.h).
// Must never: compare the text of a message.
#include "tools/serve/analytics/request_outcome.h"

#include <array>
#include <optional>

#include "api/model/ascii.h"

namespace varve::serve {
namespace {

constexpr std::array<std::string_view, kCallers> kPrefixes = {"", "Anonymous", "SAS"};
constexpr std::array<std::string_view, kCallers> kAuthenticationTypes = {"authenticated", "anonymous", "SAS"};
constexpr std::array<std::string_view, kOutcomes> kOutcomeNames = {
    "Success",          "ThrottlingError",  "ClientTimeoutError", "ServerTimeoutError",
    "ClientOtherError", "ServerOtherError", "AuthorizationError", "NetworkError"};

/// Returns whether the decoded text is this name. Decodes as QueryFields does, but allocates nothing.
bool decodes_to(std::string_view text, std::string_view name) noexcept {
  for (const char wanted : name) {
    if (text.empty()) return false;
    char byte = text.front();
    std::size_t taken = 1;
    if (byte == '%' && text.size() >= 3) {
      const std::optional<unsigned> high = hex_digit(text[1]);
      const std::optional<unsigned> low = hex_digit(text[2]);
      if (!high || !low) return false;
      byte = static_cast<char>(*high << 4 | *low);
      taken = 3;
    }
    if (byte != wanted) return false;
    text.remove_prefix(taken);
  }
  return text.empty();
}

/// Returns whether a parameter of the query has this name in any encoding, and a value.
bool has_parameter(std::string_view query, std::string_view name) noexcept {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    const std::size_t equals = pair.find('=');
    if (equals < pair.size() && decodes_to(pair.substr(0, equals), name)) return true;
    query.remove_prefix(pair.size() == query.size() ? query.size() : pair.size() + 1);
  }
  return false;
}

}  // namespace

Caller caller_of(const HttpRequest& request) noexcept {
  if (request.is_operator || find_header(request.head.headers, "authorization") != nullptr) {
    return Caller::kAuthenticated;
  }
  return has_parameter(request.head.query, "sig") ? Caller::kSas : Caller::kAnonymous;
}

Outcome outcome_of(const HttpRequest& request, const HttpResponse& response) noexcept {
  const std::uint16_t status = response.status;
  if (status < 400 && status != 304) return Outcome::kSuccess;
  if (status == 503) return Outcome::kThrottlingError;
  if (status == 401 || status == 403) return Outcome::kAuthorizationError;
  if (status == 408) return Outcome::kClientTimeoutError;
  if (status < 500 || status == 501) return Outcome::kClientOtherError;  // 501: the client asks for what is left out
  const std::string* const code = find_header(response.headers, "x-ms-error-code");
  if (code == nullptr || *code != "OperationTimedOut") return Outcome::kServerOtherError;
  return has_parameter(request.head.query, "timeout") ? Outcome::kClientTimeoutError : Outcome::kServerTimeoutError;
}

std::string request_status(Caller caller, Outcome outcome) {
  std::string text(kPrefixes[static_cast<std::size_t>(caller)]);
  return text.append(kOutcomeNames[static_cast<std::size_t>(outcome)]);
}

std::string_view authentication_type(Caller caller) noexcept {
  return kAuthenticationTypes[static_cast<std::size_t>(caller)];
}

}  // namespace varve::serve
