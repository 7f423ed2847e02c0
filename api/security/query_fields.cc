// Owns: parsing and composing queries (query_fields.h).
// Must never: decode a text twice.
#include "api/security/query_fields.h"

#include <algorithm>
#include <utility>

#include "api/model/percent.h"
#include "api/security/error.h"

namespace varve::security {
namespace {

constexpr std::size_t kQueryBytesMax = 65'536;

/// In the text to sign, a line feed inside a field could be taken for the end of the field.
bool has_control_character(std::string_view text) noexcept {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
}

}  // namespace

Result<QueryFields> QueryFields::parse(std::string_view query, std::initializer_list<std::string_view> names) {
  if (query.size() > kQueryBytesMax)
    return authentication_failed("the query has more than 65536 bytes, the most that are allowed");
  if (query.starts_with('?')) query.remove_prefix(1);
  QueryFields fields;
  fields.fields_.reserve(names.size());
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    const std::optional<std::string> name = percent_decode(pair.substr(0, equals));
    if (!name) return authentication_failed("the name of a query parameter is badly encoded");
    if (std::find(names.begin(), names.end(), *name) == names.end()) continue;
    std::optional<std::string> value =
        equals == std::string_view::npos ? std::string() : percent_decode(pair.substr(equals + 1));
    if (!value || has_control_character(*value)) {
      return authentication_failed("the query parameter " + *name + " is badly encoded");
    }
    if (fields.has(*name)) return authentication_failed("the query parameter " + *name + " is given twice");
    fields.fields_.emplace_back(*name, *std::move(value));
  }
  return fields;
}

const std::string* QueryFields::find(std::string_view name) const noexcept {
  const auto field =
      std::find_if(fields_.begin(), fields_.end(), [&](const auto& known) { return known.first == name; });
  return field == fields_.end() ? nullptr : &field->second;
}

const std::string& QueryFields::operator[](std::string_view name) const {
  static const std::string missing;
  const std::string* const field = find(name);
  return field == nullptr ? missing : *field;
}

void append_field(std::string& query, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  if (!query.empty()) query.push_back('&');
  query.append(name).append(1, '=').append(percent_encode(value));
}

}  // namespace varve::security
