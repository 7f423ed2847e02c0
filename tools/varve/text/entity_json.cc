#include "tools/varve/text/entity_json.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace varve::tool {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kTypeSuffix = "@odata.type";

Json value_to_json(const Value& value, LargeValueText large_values) {
  if (const bool* flag = value.get_if<bool>()) return *flag;
  if (const std::int32_t* number = value.get_if<std::int32_t>()) return *number;
  if (const double* number = value.get_if<double>(); number != nullptr && std::isfinite(*number)) return *number;
  return to_text(value, large_values);
}

bool needs_annotation(const Value& value) {
  switch (value.type()) {
    case PropertyType::kBoolean:
    case PropertyType::kInt32:
    case PropertyType::kString: return false;
    case PropertyType::kDouble: return !std::isfinite(*value.get_if<double>());
    default: return true;
  }
}

std::string to_line(const Entity& entity, bool with_timestamp, LargeValueText large_values) {
  Json object;
  object["PartitionKey"] = entity.partition_key();
  object["RowKey"] = entity.row_key();
  if (with_timestamp) {
    object["Timestamp"] = entity.timestamp().to_string();
    object["odata.etag"] = entity.etag().to_string();
  }
  for (const Property& property : entity.properties()) {
    if (needs_annotation(property.value)) {
      object[property.name + std::string(kTypeSuffix)] = property_type_name(property.value.type());
    }
    object[property.name] = value_to_json(property.value, large_values);
  }
  return object.dump();
}

}  // namespace

std::string entity_to_json(const Entity& entity) {
  return to_line(entity, true, LargeValueText::kDescription);
}

std::string entity_to_row(const Entity& entity, LargeValueText large_values) {
  return to_line(entity, false, large_values);
}

}  // namespace varve::tool
