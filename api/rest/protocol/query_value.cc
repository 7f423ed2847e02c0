#include "api/rest/protocol/query_value.h"

#include <algorithm>
#include <utility>

#include "api/rest/protocol/wire_error.h"
#include "api/security/query_fields.h"

namespace varve::serve {
namespace {

std::optional<std::string> decoded(std::string_view text) {
  if (text.find('+') == std::string_view::npos) return security::percent_decode(text);
  std::string spaced(text);
  std::replace(spaced.begin(), spaced.end(), '+', ' ');
  return security::percent_decode(spaced);
}

/// Compares a written name. The first check is a fast path: most names are not encoded, and most belong to other
/// parameters. Returns nothing if a name is badly encoded.
std::optional<bool> is_name(std::string_view written, std::string_view name) {
  if (written.find_first_of("%+") == std::string_view::npos) return written == name;
  const std::optional<std::string> plain = decoded(written);
  return plain ? std::optional(*plain == name) : std::nullopt;
}

}  // namespace

Result<std::optional<std::string>> query_value(std::string_view query, std::string_view name) {
  std::optional<std::string> found;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::optional<bool> is_asked = is_name(pair.substr(0, equals), name);
    if (!is_asked) return refused("InvalidQueryParameterValue", "the name of a query parameter is badly encoded");
    if (!*is_asked) continue;
    std::optional<std::string> value = decoded(pair.substr(std::min(equals + 1, pair.size())));
    if (found || !value) {
      return refused("InvalidQueryParameterValue",
                     "the parameter " + std::string(name) + " is given twice or badly encoded");
    }
    found = std::move(value);
  }
  return found;
}

Result<std::string> query_text(std::string_view query, std::string_view name) {
  Result<std::optional<std::string>> value = query_value(query, name);
  if (!value.ok()) return value.status();
  return std::move(*value).value_or(std::string());
}

}  // namespace varve::serve
