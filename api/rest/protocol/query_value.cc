#include "api/rest/protocol/query_value.h"

#include <algorithm>
#include <utility>

#include "api/model/percent.h"
#include "api/rest/protocol/wire_error.h"

namespace varve::serve {
namespace {

std::optional<std::string> decoded(std::string_view text) {
  return percent_decode(text, PlusSign::kSpace);
}

/// The name of a parameter, as the query spells it.
struct WrittenName {
  std::string_view text;
  bool is_encoded = false;
};

/// Takes the name from the front of the query, up to `=` or `&`.
WrittenName take_name(std::string_view& query) noexcept {
  WrittenName name;
  std::size_t end = 0;
  for (; end < query.size() && query[end] != '=' && query[end] != '&'; ++end) {
    if (query[end] == '%' || query[end] == '+') name.is_encoded = true;
  }
  name.text = query.substr(0, end);
  query.remove_prefix(end);
  return name;
}

/// Compares a written name. Returns nothing if it is badly encoded.
std::optional<bool> is_name(const WrittenName& written, std::string_view name) {
  if (!written.is_encoded) return written.text == name;
  const std::optional<std::string> plain = decoded(written.text);
  return plain ? std::optional(*plain == name) : std::nullopt;
}

}  // namespace

Result<std::optional<std::string>> query_value(std::string_view query, std::string_view name) {
  std::optional<std::string> found;
  while (!query.empty()) {
    const WrittenName written = take_name(query);
    const std::string_view rest = query.substr(0, query.find('&'));  // `=` and the value, or nothing
    query.remove_prefix(std::min(rest.size() + 1, query.size()));
    const std::optional<bool> is_asked = is_name(written, name);
    if (!is_asked) return refused("InvalidQueryParameterValue", "the name of a query parameter is badly encoded");
    if (!*is_asked) continue;
    std::optional<std::string> value = decoded(rest.substr(std::min<std::size_t>(1, rest.size())));
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
