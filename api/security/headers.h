// Owns: finding headers in a request.
// Must never: distinguish the case of header names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "varve/names.h"
#include "varve/security/request.h"

namespace varve::security {

/// Returns the first header with this name, or null. `lower_name` is in lower case.
inline const std::string* find_header(const Request& request, std::string_view lower_name) {
  for (const auto& [name, value] : request.headers) {
    if (lower_case(name) == lower_name) return &value;
  }
  return nullptr;
}

/// Returns the value of the first header with this name, or an empty text.
inline std::string value_of(const Request& request, std::string_view lower_name) {
  const std::string* const value = find_header(request, lower_name);
  return value == nullptr ? std::string() : *value;
}

inline std::size_t count_headers(const Request& request, std::string_view lower_name) {
  std::size_t count = 0;
  for (const auto& [name, value] : request.headers) count += lower_case(name) == lower_name ? 1U : 0U;
  return count;
}

}  // namespace varve::security
