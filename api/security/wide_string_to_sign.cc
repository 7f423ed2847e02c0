// Owns: the canonical headers, resource and query (wide_string_to_sign.h).
// Must never: change the order of equal names.
#include "api/security/wide_string_to_sign.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "api/model/percent.h"
#include "api/security/error.h"
#include "api/security/headers.h"

namespace varve::security {
namespace {

/// From this version on, a length of zero is signed as an empty line (QS-02). A request without a version has the newest
/// one (QH-02), like the parts of a batch.
constexpr std::string_view kEmptyLengthVersion = "2015-02-21";

bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// Returns the value without outer blanks, and with one blank for each run of inner ones.
std::string with_single_blanks(std::string_view value) {
  std::string text;
  bool is_pending = false;
  for (const char c : value) {
    if (is_blank(c)) {
      is_pending = !text.empty();
      continue;
    }
    if (is_pending) text.push_back(' ');
    is_pending = false;
    text.push_back(c);
  }
  return text;
}

/// Returns a line for each header `x-ms-...`, in the order of the names (QS-03).
std::string canonical_headers(const Request& request) {
  std::map<std::string, std::string> headers;
  for (const auto& [name, value] : request.headers) {
    const std::string lower = lower_case(name);
    if (!lower.starts_with("x-ms-")) continue;
    const auto [place, is_new] = headers.emplace(lower, with_single_blanks(value));
    if (!is_new) place->second.append(1, ',').append(with_single_blanks(value));
  }
  std::string lines;
  for (const auto& [name, value] : headers) lines.append(name).append(1, ':').append(value).append(1, '\n');
  return lines;
}

/// The parameters of a query by their lower-case names, decoded.
Result<std::map<std::string, std::vector<std::string>>> parameters_of(std::string_view query) {
  std::map<std::string, std::vector<std::string>> parameters;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (part.empty()) continue;
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::optional<std::string> name = percent_decode(part.substr(0, equals));
    const std::optional<std::string> value = percent_decode(part.substr(std::min(equals + 1, part.size())));
    if (!name || !value) return authentication_failed("the query is badly encoded");
    parameters[lower_case(*name)].push_back(*value);
  }
  return parameters;
}

}  // namespace

Result<std::string> wide_string_to_sign(SharedKeyScheme scheme, const Request& request, std::string_view account,
                                        std::string_view path) {
  const bool has_ms_date = find_header(request, "x-ms-date") != nullptr;
  if (!has_ms_date && value_of(request, "date").empty()) {
    return authentication_failed("the request needs x-ms-date or Date");
  }
  Result<std::map<std::string, std::vector<std::string>>> parameters = parameters_of(request.query);
  if (!parameters.ok()) return parameters.status();
  const std::string date = has_ms_date ? std::string() : value_of(request, "date");
  std::string text = request.verb + '\n';
  const auto add = [&](std::string_view header) { text.append(value_of(request, header)).append(1, '\n'); };
  if (scheme == SharedKeyScheme::kSharedKeyLite) {
    for (const std::string_view header : {"content-md5", "content-type"}) add(header);
    text.append(date).append(1, '\n').append(canonical_headers(request)).append(1, '/').append(account).append(path);
    const auto comp = parameters->find("comp");
    if (comp != parameters->end()) text.append("?comp=").append(comp->second.front());
    return text;
  }
  for (const std::string_view header : {"content-encoding", "content-language"}) add(header);
  const std::string length = value_of(request, "content-length");
  const std::string version = value_of(request, "x-ms-version");
  const bool is_left_out = length == "0" && (version.empty() || version >= kEmptyLengthVersion);
  text.append(is_left_out ? std::string() : length).append(1, '\n');
  for (const std::string_view header : {"content-md5", "content-type"}) add(header);
  text.append(date).append(1, '\n');
  for (const std::string_view header :
       {"if-modified-since", "if-match", "if-none-match", "if-unmodified-since", "range"}) {
    add(header);
  }
  text.append(canonical_headers(request)).append(1, '/').append(account).append(path);
  for (auto& [name, values] : *parameters) {
    std::sort(values.begin(), values.end());
    text.append(1, '\n').append(name).append(1, ':');
    for (std::size_t i = 0; i < values.size(); ++i) text.append(i == 0 ? "" : ",").append(values[i]);
  }
  return text;
}

}  // namespace varve::security
