// Owns: the parts of a query string that authentication uses.
// Must never: choose between two values. A field that occurs twice makes the query invalid.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "varve/result.h"

namespace varve::security {

/// Some parameters of a query, percent-decoded once (S-10). Parameters with other names are ignored.
class QueryFields {
 public:
  /// Reads the parameters `names` from the part of a URL after the `?`. A leading `?` is ignored. Errors: kForbidden
  /// (AuthenticationFailed: a field occurs twice, is badly encoded, or has a control character; a query above 64 KiB).
  static Result<QueryFields> parse(std::string_view query, std::initializer_list<std::string_view> names);

  /// Returns the value, or an empty text if the field is missing. A signature does not distinguish the two.
  const std::string& operator[](std::string_view name) const;
  bool has(std::string_view name) const noexcept { return find(name) != nullptr; }

 private:
  const std::string* find(std::string_view name) const noexcept;

  std::vector<std::pair<std::string, std::string>> fields_;  // each name once, so few
};

/// Appends `name=value` with the value percent-encoded, and `&` before it unless the query is empty. Appends nothing if
/// the value is empty.
void append_field(std::string& query, std::string_view name, std::string_view value);

}  // namespace varve::security
