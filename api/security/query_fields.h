// Owns: the query string of a request, as far as authentication looks at it.
// Must never: pick one of two values: a field that is given twice makes the query unusable.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "varve/result.h"

namespace varve::security {

/// The text with `%hh` replaced; nothing if a `%` is not followed by two hexadecimal digits.
std::optional<std::string> percent_decode(std::string_view text);
/// Everything but letters, digits and `-._~` as `%HH`.
std::string percent_encode(std::string_view text);

/// Some parameters of a query, percent-decoded once (S-10). What is not among them is passed over.
class QueryFields {
 public:
  /// `query` is what follows the `?`, which may stand before it. Errors: kForbidden (AuthenticationFailed: a field
  /// given twice, badly encoded, or with a control character; a query of more than 64 KiB).
  static Result<QueryFields> parse(std::string_view query, std::initializer_list<std::string_view> names);

  /// Empty where it is missing, which is the same to every signature.
  const std::string& operator[](std::string_view name) const;
  bool has(std::string_view name) const noexcept { return find(name) != nullptr; }

 private:
  const std::string* find(std::string_view name) const noexcept;

  std::vector<std::pair<std::string, std::string>> fields_;  // each name once, so few
};

/// Adds `&name=value`, encoded, unless the value is empty; without `&` where nothing stands before it.
void append_field(std::string& query, std::string_view name, std::string_view value);

}  // namespace varve::security
