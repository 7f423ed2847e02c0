// Owns: the texts that SharedKey and SharedKeyLite sign, and the verification of a request (shared_key.h).
// Must never: reveal which part of the signed text differs.
#include "varve/security/shared_key.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "api/model/guarded.h"
#include "api/security/error.h"
#include "api/security/headers.h"
#include "api/security/http_date.h"
#include "api/security/query_fields.h"
#include "api/security/wide_string_to_sign.h"

namespace varve::security {
namespace {

constexpr std::string_view kSharedKey = "SharedKey";
constexpr std::string_view kSharedKeyLite = "SharedKeyLite";
constexpr std::string_view kSecondarySuffix = "-secondary";
constexpr std::uint64_t kClockSkewTicksMax = std::uint64_t{15} * 60 * 10'000'000;

/// Returns the date that counts, as it was sent, or an empty text.
std::string date_of(const Request& request) {
  const std::string* const preferred = find_header(request, "x-ms-date");
  return preferred != nullptr ? *preferred : value_of(request, "date");
}

/// Decodes the characters that some clients and HTTP libraries encode and others do not.
std::string with_ambiguous_decoded(std::string_view path) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kAmbiguous = {
      {{"%27", '\''}, {"%28", '('}, {"%29", ')'}, {"%2c", ','}, {"%24", '$'}}};
  std::string decoded;
  for (std::size_t i = 0; i < path.size(); ++i) {
    char c = path[i];
    const std::string escape = lower_case(path.substr(i, 3));
    for (const auto& [text, character] : kAmbiguous) {
      if (escape != text) continue;
      c = character;
      i += text.size() - 1;
    }
    decoded.push_back(c);
  }
  return decoded;
}

std::string with_quotes_encoded(std::string_view path) {
  std::string encoded;
  for (const char c : path) {
    if (c == '\'') {
      encoded.append("%27");
    } else {
      encoded.push_back(c);
    }
  }
  return encoded;
}

/// Returns the forms in which the client may have signed the path. The first one is the path as it was sent.
std::vector<std::string> paths_signed(const std::string& path, const std::string& account) {
  std::vector<std::string> paths = {path};
  const std::string secondary = "/" + account + std::string(kSecondarySuffix);
  if (path == secondary || path.starts_with(secondary + "/")) {
    paths.push_back("/" + account + path.substr(secondary.size()));
  }
  const std::size_t as_sent = paths.size();
  for (std::size_t i = 0; i < as_sent; ++i) {
    for (std::string variant : {with_ambiguous_decoded(paths[i]), with_quotes_encoded(paths[i])}) {
      if (variant != paths[i]) paths.push_back(std::move(variant));
    }
  }
  return paths;
}

struct Authorization {
  SharedKeyScheme scheme;
  std::string_view account;
  std::string_view signature;
};

Result<Authorization> parse_authorization(std::string_view header) {
  const std::size_t space = header.find(' ');
  const std::string_view scheme = header.substr(0, space);
  if (lower_case(scheme) == "bearer")
    return no_authentication_information("bearer tokens are not supported; use SharedKey, SharedKeyLite or a SAS");
  Authorization parsed{SharedKeyScheme::kSharedKey, {}, {}};
  if (scheme == kSharedKeyLite) {
    parsed.scheme = SharedKeyScheme::kSharedKeyLite;
  } else if (scheme != kSharedKey) {
    return invalid_authentication_info("the Authorization header must begin with SharedKey or SharedKeyLite");
  }
  const std::string_view rest = space == std::string_view::npos ? std::string_view() : header.substr(space + 1);
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == rest.size()) {
    return invalid_authentication_info("the Authorization header must have <account>:<signature> after its scheme");
  }
  parsed.account = rest.substr(0, colon);
  parsed.signature = rest.substr(colon + 1);
  return parsed;
}

Status check_date(const Request& request, DateTime now) {
  const std::optional<DateTime> date = parse_http_date(date_of(request));
  if (!date) return authentication_failed("x-ms-date or Date must be an HTTP date");
  const std::uint64_t skew = date->ticks > now.ticks ? date->ticks - now.ticks : now.ticks - date->ticks;
  if (skew <= kClockSkewTicksMax) return Status();
  return authentication_failed("the request's date differs from the server's clock by more than 15 minutes");
}

Result<std::string> string_to_sign(SharedKeyScheme scheme, const Request& request, std::string_view account,
                                   std::string_view path, StorageService service) {
  if (service != StorageService::kTables) return wide_string_to_sign(scheme, request, account, path);
  const std::string date = date_of(request);
  if (date.empty()) return authentication_failed("the request needs x-ms-date or Date");
  const Result<QueryFields> query = QueryFields::parse(request.query, {"comp"});
  if (!query.ok()) return query.status();
  std::string text;
  if (scheme == SharedKeyScheme::kSharedKey) {
    text.append(request.verb).append(1, '\n');
    text.append(value_of(request, "content-md5")).append(1, '\n');
    text.append(value_of(request, "content-type")).append(1, '\n');
  }
  text.append(date).append("\n/").append(account).append(path);
  if (query->has("comp")) text.append("?comp=").append((*query)["comp"]);
  return text;
}

}  // namespace

Result<std::string> shared_key_string_to_sign(SharedKeyScheme scheme, const Request& request, std::string_view account,
                                              StorageService service) {
  return guarded([&] { return string_to_sign(scheme, request, account, request.path, service); });
}

Result<std::string> shared_key_authorization(SharedKeyScheme scheme, const Request& request,
                                             const AccountCredentials& account, KeyChoice choice,
                                             StorageService service) {
  return guarded([&]() -> Result<std::string> {
    const Result<std::string> text = string_to_sign(scheme, request, account.name, request.path, service);
    if (!text.ok()) return text;
    const Result<std::string> signature = account.keys.sign(*text, choice);
    if (!signature.ok()) return signature;
    std::string header(scheme == SharedKeyScheme::kSharedKey ? kSharedKey : kSharedKeyLite);
    return header.append(1, ' ').append(account.name).append(1, ':').append(*signature);
  });
}

Status verify_shared_key(const Request& request, const AccountCredentials& account, DateTime now,
                         StorageService service) {
  return guarded([&]() -> Status {
    if (count_headers(request, "authorization") != 1) {
      return invalid_authentication_info("the request must have exactly one Authorization header");
    }
    const Result<Authorization> given = parse_authorization(*find_header(request, "authorization"));
    if (!given.ok()) return given.status();
    if (given->account != account.name) return authentication_failed("the request is signed for another account");
    if (Status dated = check_date(request, now); !dated.ok()) return dated;
    for (const std::string& path : paths_signed(request.path, account.name)) {
      const Result<std::string> text = string_to_sign(given->scheme, request, account.name, path, service);
      if (!text.ok()) return text.status();
      if (account.keys.verify(*text, given->signature)) return Status();
    }
    return authentication_failed("the signature does not match this request");
  });
}

}  // namespace varve::security
