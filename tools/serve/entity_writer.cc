#include "tools/serve/entity_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "api/query_options.h"
#include "api/security/base64.h"
#include "tools/serve/json_text.h"
#include "tools/serve/member_names.h"
#include "tools/serve/target.h"

namespace varve::serve {
namespace {

bool has_metadata(const WritingPlace& place) noexcept {
  return place.level != PayloadLevel::kNone;
}

/// The first member of what carries metadata. Source: H-42.
void write_context(JsonText& json, const WritingPlace& place, std::string_view what) {
  if (!has_metadata(place)) return;
  json.member("odata.metadata").text(std::string(place.root) + "/$metadata#" + std::string(what));
}

void write_identity(JsonText& json, const WritingPlace& place, std::string_view type, const std::string& reference) {
  if (place.level != PayloadLevel::kFull) return;
  json.member("odata.type").text(std::string(place.account) + "." + std::string(type));
  json.member("odata.id").text(std::string(place.root) + "/" + reference);
  json.member("odata.editLink").text(reference);
}

void write_type(JsonText& json, std::string_view name, PropertyType type) {
  json.member(std::string(name) + "@odata.type").text(property_type_name(type));
}

/// Whether JSON alone cannot tell the type.
bool needs_type(const Value& value) noexcept {
  switch (value.type()) {
    case PropertyType::kBinary:
    case PropertyType::kDateTime:
    case PropertyType::kGuid:
    case PropertyType::kInt64: return true;
    case PropertyType::kDouble: return !std::isfinite(*value.get_if<double>());
    case PropertyType::kBoolean:
    case PropertyType::kInt32:
    case PropertyType::kString: break;
  }
  return false;
}

void write_double(JsonText& json, double value) {
  if (std::isnan(value)) {
    json.text("NaN");
  } else if (std::isinf(value)) {
    json.text(value > 0 ? "Infinity" : "-Infinity");
  } else {
    json.number(double_text(value));
  }
}

void write_value(JsonText& json, const Value& value) {
  if (const auto* const text = value.get_if<std::string>()) json.text(*text);
  if (const auto* const flag = value.get_if<bool>()) json.boolean(*flag);
  if (const auto* const number = value.get_if<std::int32_t>()) json.integer(*number);
  if (const auto* const number = value.get_if<std::int64_t>()) json.text(std::to_string(*number));
  if (const auto* const number = value.get_if<double>()) write_double(json, *number);
  if (const auto* const date = value.get_if<DateTime>()) json.text(date->to_string());
  if (const auto* const guid = value.get_if<Guid>()) json.text(guid->to_string());
  if (const auto* const binary = value.get_if<Binary>()) json.text(security::encode_base64(binary->bytes));
}

void write_property(JsonText& json, const WritingPlace& place, std::string_view name, const Value& value) {
  if (has_metadata(place) && needs_type(value)) write_type(json, name, value.type());
  json.member(name);
  write_value(json, value);
}

void write_timestamp(JsonText& json, const WritingPlace& place, const Entity& entity) {
  if (place.level == PayloadLevel::kFull) write_type(json, kTimestamp, PropertyType::kDateTime);
  json.member(kTimestamp).text(entity.timestamp().to_string());
}

void write_all(JsonText& json, const WritingPlace& place, const Entity& entity) {
  json.member(kPartitionKey).text(entity.partition_key());
  json.member(kRowKey).text(entity.row_key());
  write_timestamp(json, place, entity);
  for (const Property& property : entity.properties()) write_property(json, place, property.name, property.value);
}

/// What a projection names, each name once, system properties first.
void write_selected(JsonText& json, const WritingPlace& place, const Entity& entity,
                    const std::vector<std::string>& select) {
  const auto is_selected = [&](std::string_view name) {
    return std::find(select.begin(), select.end(), name) != select.end();
  };
  if (is_selected(kPartitionKey)) json.member(kPartitionKey).text(entity.partition_key());
  if (is_selected(kRowKey)) json.member(kRowKey).text(entity.row_key());
  if (is_selected(kTimestamp)) write_timestamp(json, place, entity);
  for (auto name = select.begin(); name != select.end(); ++name) {
    const bool is_system = *name == kPartitionKey || *name == kRowKey || *name == kTimestamp;
    if (is_system || std::find(select.begin(), name, *name) != name) continue;
    if (const Value* const value = entity.find(*name)) {
      write_property(json, place, *name, *value);
    } else {
      json.member(*name).null();
    }
  }
}

void write_members(JsonText& json, const WritingPlace& place, const Entity& entity,
                   const std::vector<std::string>& select) {
  if (place.level == PayloadLevel::kFull) {
    write_identity(json, place, place.table, entity_reference(place.table, entity.partition_key(), entity.row_key()));
  }
  if (has_metadata(place)) json.member("odata.etag").text(entity.etag().to_string());
  if (select.empty()) {
    write_all(json, place, entity);
  } else {
    write_selected(json, place, entity, select);
  }
}

void write_table_members(JsonText& json, const WritingPlace& place, std::string_view name) {
  write_identity(json, place, "Tables", table_reference(name));
  json.member("TableName").text(name);
}

}  // namespace

std::string write_entity(const WritingPlace& place, const Entity& entity, const std::vector<std::string>& select) {
  JsonText json;
  json.begin_object();
  write_context(json, place, std::string(place.table) + "/@Element" + context_suffix(select));
  write_members(json, place, entity, select);
  json.end_object();
  return json.take();
}

std::string write_entities(const WritingPlace& place, std::span<const Entity> entities,
                           const std::vector<std::string>& select) {
  JsonText json;
  json.begin_object();
  write_context(json, place, std::string(place.table) + context_suffix(select));
  json.member("value").begin_array();
  for (const Entity& entity : entities) {
    json.begin_object();
    write_members(json, place, entity, select);
    json.end_object();
  }
  json.end_array().end_object();
  return json.take();
}

std::string write_table(const WritingPlace& place, std::string_view name) {
  JsonText json;
  json.begin_object();
  write_context(json, place, "Tables/@Element");
  write_table_members(json, place, name);
  json.end_object();
  return json.take();
}

std::string write_tables(const WritingPlace& place, std::span<const std::string> names) {
  JsonText json;
  json.begin_object();
  write_context(json, place, "Tables");
  json.member("value").begin_array();
  for (const std::string& name : names) {
    json.begin_object();
    write_table_members(json, place, name);
    json.end_object();
  }
  json.end_array().end_object();
  return json.take();
}

std::string double_text(double value) {
  if (value == 0) return "0.0";  // JSON does not keep the sign of zero
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string text(buffer.data(), end);
  const std::size_t exponent = text.find('e');
  if (exponent != std::string::npos) {
    text[exponent] = 'E';
  } else if (text.find('.') == std::string::npos) {
    text += ".0";
  }
  return text;
}

}  // namespace varve::serve
