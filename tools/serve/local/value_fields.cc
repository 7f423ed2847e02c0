#include "tools/serve/local/value_fields.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include "api/model/large_value_maker.h"
#include "api/model/service_error.h"

namespace varve::serve {
namespace {

constexpr std::string_view kLarge = "large:";

Status malformed_value() {
  return service_error::invalid_input("the fields of a large value are malformed");
}

std::optional<std::uint64_t> whole_number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

void add_fields(Fields& fields, const LargeValue& value) {
  fields.emplace_back("id", std::to_string(value.id()));
  fields.emplace_back("length", std::to_string(value.length()));
}

void add_fields(Fields& fields, const EntityFields& entity) {
  fields.emplace_back("entity", entity.json);
  for (const auto& [name, value] : entity.large_values) {
    fields.emplace_back(std::string(kLarge) + name, std::to_string(value.id()) + ":" + std::to_string(value.length()));
  }
}

Result<LargeValue> large_value_of(const Fields& fields) {
  std::optional<std::uint64_t> id;
  std::optional<std::uint64_t> length;
  for (const auto& [name, value] : fields) {
    if (name == "id") id = whole_number_of(value);
    if (name == "length") length = whole_number_of(value);
  }
  if (!id || !length) return malformed_value();
  return LargeValueMaker::make({*id, *length});
}

Result<EntityFields> entity_fields_of(const Fields& fields) {
  EntityFields entity;
  for (const auto& [name, value] : fields) {
    if (name == "entity") entity.json = value;
    if (!name.starts_with(kLarge)) continue;
    const std::size_t colon = value.find(':');
    if (colon == std::string::npos) return malformed_value();
    const std::optional<std::uint64_t> id = whole_number_of(std::string_view(value).substr(0, colon));
    const std::optional<std::uint64_t> length = whole_number_of(std::string_view(value).substr(colon + 1));
    if (!id || !length) return malformed_value();
    entity.large_values.emplace_back(name.substr(kLarge.size()), LargeValueMaker::make({*id, *length}));
  }
  return entity;
}

}  // namespace varve::serve
