#include "tools/varve/entity_json.h"

#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

#include "tools/varve/value_text.h"
#include "varve/limits.h"

namespace varve::tool {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kTypeSuffix = "@odata.type";

Status in_member(const std::string& name, const Status& status) {
  return status.in_file("\"" + name + "\"");
}

/// The most members of an object. It is more than an entity can have (252 properties and their types), and stops the
/// parser early in a line of a million members.
constexpr std::size_t kMembersMax = 1024;

bool is_metadata(const std::string& name) {
  return name == "Timestamp" || name.starts_with("odata.") || name.ends_with(kTypeSuffix);
}

/// Returns an error with the place where the text stops being JSON.
Status syntax_fault(std::string_view line) {
  try {
    // nlohmann::json finds a name faster than the ordered type.
    const auto parsed = nlohmann::json::parse(line);
  } catch (const nlohmann::json::parse_error& error) {
    const bool bad_text = std::string_view(error.what()).find("UTF-8") != std::string_view::npos;
    return Status::invalid_argument((bad_text ? "not UTF-8 at byte " : "not JSON at byte ") +
                                    std::to_string(error.byte));
  } catch (const nlohmann::json::exception&) {
    return Status::invalid_argument("a number is too large");
  }
  return Status::invalid_argument("not JSON");
}

/// Checks an object's members while the parser runs, and prevents nested values from being built.
struct MemberCheck {
  std::set<std::string> names;
  std::string last;
  std::string repeated;
  std::string nested;
  bool too_many = false;

  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    const bool begins = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (begins && depth > 0) {
      if (nested.empty() && !is_metadata(last)) nested = last;
      return false;
    }
    if (event != Json::parse_event_t::key || depth != 1) return true;
    last = parsed.get_ref<const std::string&>();
    if (names.size() == kMembersMax) too_many = true;
    if (!too_many && !names.insert(last).second && repeated.empty()) repeated = last;
    return !too_many;
  }
};

/// Returns an object whose members have different names and plain values, or an error.
Result<Json> parse_object(std::string_view line) {
  MemberCheck check;
  Json object = Json::parse(line, std::ref(check), /*allow_exceptions=*/false);
  if (object.is_discarded()) return syntax_fault(line);
  if (!object.is_object()) return Status::invalid_argument("not a JSON object");
  if (check.too_many) {
    return Status::too_large("more than " + std::to_string(kMembersMax) + " members; an entity has at most " +
                             std::to_string(limits::kCustomPropertiesMax) + " properties");
  }
  if (!check.repeated.empty()) return Status::invalid_argument("the member \"" + check.repeated + "\" is given twice");
  if (!check.nested.empty()) {
    return in_member(check.nested,
                     Status::invalid_argument("an object or array cannot be a property value; write it as text"));
  }
  return object;
}

Result<Value> number_value(const Json& json) {
  if (json.is_number_float()) return Value(json.get<double>());
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
    return Status::invalid_argument("the number does not fit Edm.Int64");
  }
  const auto number = json.get<std::int64_t>();
  const bool small =
      number >= std::numeric_limits<std::int32_t>::min() && number <= std::numeric_limits<std::int32_t>::max();
  return small ? Value(static_cast<std::int32_t>(number)) : Value(number);
}

Result<Value> untyped_value(const Json& json) {
  if (json.is_string()) return Value(json.get_ref<const std::string&>());
  if (json.is_boolean()) return Value(json.get<bool>());
  if (json.is_number()) return number_value(json);
  return Status::invalid_argument("an object or array cannot be a property value; write it as text");
}

Result<Value> typed_value(const Json& json, PropertyType type) {
  if (json.is_string()) return parse_value(type, json.get_ref<const std::string&>());
  if (type == PropertyType::kDouble && json.is_number()) return Value(json.get<double>());
  if (type == PropertyType::kString && (json.is_number() || json.is_boolean())) return Value(json.dump());
  Result<Value> value = untyped_value(json);
  if (!value.ok() || value->type() == type) return value;
  return parse_value(type, to_text(*value));
}

Result<std::optional<PropertyType>> type_of(const Json& object, const std::string& name, const RowShape& shape) {
  if (const auto chosen = shape.types.find(name); chosen != shape.types.end()) return std::optional(chosen->second);
  const auto annotation = object.find(name + std::string(kTypeSuffix));
  if (annotation == object.end()) return std::optional<PropertyType>();
  if (!annotation->is_string()) return Status::invalid_argument("its type must be a text");
  const Result<PropertyType> type = parse_type(annotation->get_ref<const std::string&>());
  if (!type.ok()) return type.status();
  return std::optional(*type);
}

bool has_value(const Json& object, const std::string& name) {
  const auto member = object.find(name);
  return member != object.end() && !member->is_null();
}

Status no_key(const std::string& name) {
  return Status::invalid_argument("the key member \"" + name +
                                  "\" is missing; name the key columns by --partition-key and --row-key");
}

/// Returns the text of a key member, which exists.
Result<std::string> key_of(const Json& object, const std::string& name) {
  const auto member = object.find(name);
  if (member->is_string()) return member->get<std::string>();
  // Keys are often a column of numbers. The number's text is the sort key.
  if (member->is_number_integer()) return member->dump();
  return Status::invalid_argument("\"" + name + "\" is a key and must be a text or a whole number");
}

Json value_to_json(const Value& value) {
  if (const bool* flag = value.get_if<bool>()) return *flag;
  if (const std::int32_t* number = value.get_if<std::int32_t>()) return *number;
  if (const double* number = value.get_if<double>(); number != nullptr && std::isfinite(*number)) return *number;
  return to_text(value);
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

std::string to_line(const Entity& entity, bool with_timestamp) {
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
    object[property.name] = value_to_json(property.value);
  }
  return object.dump();
}

}  // namespace

Result<Entity> entity_from_json(std::string_view line, const RowShape& shape, MissingKey* missing) {
  *missing = MissingKey::kNone;
  Result<Json> object = parse_object(line);
  if (!object.ok()) return object.status();
  if (!has_value(*object, shape.row_key)) *missing = MissingKey::kRowKey;
  if (!has_value(*object, shape.partition_key)) *missing = MissingKey::kPartitionKey;
  if (*missing != MissingKey::kNone)
    return no_key(*missing == MissingKey::kRowKey ? shape.row_key : shape.partition_key);
  Result<std::string> partition_key = key_of(*object, shape.partition_key);
  if (!partition_key.ok()) return partition_key.status();
  Result<std::string> row_key = key_of(*object, shape.row_key);
  if (!row_key.ok()) return row_key.status();
  Entity entity(*std::move(partition_key), *std::move(row_key));
  for (const auto& [name, json] : object->items()) {
    if (name == shape.partition_key || name == shape.row_key || is_metadata(name) || json.is_null()) continue;
    const Result<std::optional<PropertyType>> type = type_of(*object, name, shape);
    if (!type.ok()) return in_member(name, type.status());
    Result<Value> value = *type ? typed_value(json, **type) : untyped_value(json);
    if (!value.ok()) return in_member(name, value.status());
    entity.add(name, *std::move(value));
  }
  return entity;
}

std::string entity_to_json(const Entity& entity) {
  return to_line(entity, true);
}

std::string entity_to_row(const Entity& entity) {
  return to_line(entity, false);
}

}  // namespace varve::tool
