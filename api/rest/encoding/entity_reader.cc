#include "api/rest/encoding/entity_reader.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <span>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

#include "api/model/base64.h"
#include "api/model/service_error.h"
#include "api/rest/encoding/json_members.h"
#include "api/rest/protocol/member_names.h"
#include "api/rest/protocol/message.h"
#include "api/rest/protocol/wire_error.h"
#include "varve/limits.h"

namespace varve::serve {
namespace {

using service_error::invalid_input;

constexpr std::string_view kTypeSuffix = "@odata.type";

Status does_not_fit(const JsonMember& member, PropertyType type) {
  return invalid_input("the value of \"" + std::string(member.name) + "\" is not a valid " +
                       std::string(property_type_name(type)));
}

template <typename T>
std::optional<T> whole_number(std::string_view text) noexcept {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || stopped != end) return std::nullopt;
  return number;
}

std::optional<double> double_of(std::string_view text) noexcept {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  // from_chars accepts names for infinity and NaN, which JSON does not have.
  if (text.find_first_not_of("+-.0123456789eE") != std::string_view::npos) return std::nullopt;
  return whole_number<double>(text);
}

bool is_integer_text(std::string_view text) noexcept {
  return text.find_first_of(".eE") == std::string_view::npos;
}

/// Returns the value of a member without a type annotation. Source: D-30.
Result<Value> inferred_value(const JsonMember& member) {
  switch (member.kind) {
    case JsonKind::kTrue: return Value(true);
    case JsonKind::kFalse: return Value(false);
    case JsonKind::kText: return Value(std::string(member.text));
    case JsonKind::kNull:
    case JsonKind::kNumber: break;
  }
  if (is_integer_text(member.text)) {
    if (const auto number = whole_number<std::int32_t>(member.text)) return Value(*number);
  }
  if (const auto number = double_of(member.text)) return Value(*number);
  return does_not_fit(member, PropertyType::kDouble);
}

template <typename T>
Result<Value> checked(const std::optional<T>& value, const JsonMember& member, PropertyType type) {
  if (!value) return does_not_fit(member, type);
  return Value(*value);
}

/// Returns a Boolean. The letters of a text may have either case.
Result<Value> boolean_value(const JsonMember& member) {
  const bool is_text = member.kind == JsonKind::kText;
  const bool is_true = member.kind == JsonKind::kTrue || (is_text && equal_ignoring_case(member.text, "true"));
  const bool is_false = member.kind == JsonKind::kFalse || (is_text && equal_ignoring_case(member.text, "false"));
  if (!is_true && !is_false) return does_not_fit(member, PropertyType::kBoolean);
  return Value(is_true);
}

Result<Value> date_value(const JsonMember& member) {
  const Result<DateTime> date = DateTime::parse(member.text);
  if (!date.ok()) return date.status();
  return Value(*date);
}

Result<Value> guid_value(const JsonMember& member) {
  const Result<Guid> guid = Guid::parse(member.text);
  if (!guid.ok()) return guid.status();
  return Value(*guid);
}

Result<Value> binary_value(const JsonMember& member) {
  std::optional<std::string> bytes = decode_base64(member.text);
  if (!bytes) return does_not_fit(member, PropertyType::kBinary);
  return Value(Binary{*std::move(bytes)});
}

/// Returns a value of the annotated type. Texts are parsed as any type, since some clients send only texts. Source:
/// D-31.
Result<Value> annotated_value(const JsonMember& member, PropertyType type) {
  const bool is_text = member.kind == JsonKind::kText;
  const bool has_number = is_text || member.kind == JsonKind::kNumber;
  switch (type) {
    case PropertyType::kBoolean: return boolean_value(member);
    case PropertyType::kInt32:
      if (has_number) return checked(whole_number<std::int32_t>(member.text), member, type);
      break;
    case PropertyType::kInt64:
      if (has_number) return checked(whole_number<std::int64_t>(member.text), member, type);
      break;
    case PropertyType::kDouble:
      if (has_number) return checked(double_of(member.text), member, type);
      break;
    case PropertyType::kString:
      if (is_text) return Value(std::string(member.text));
      break;
    case PropertyType::kDateTime:
      if (is_text) return date_value(member);
      break;
    case PropertyType::kGuid:
      if (is_text) return guid_value(member);
      break;
    case PropertyType::kBinary:
      if (is_text) return binary_value(member);
      break;
    case PropertyType::kLargeValue: break;  // No annotation names it.
  }
  return does_not_fit(member, type);
}

std::optional<PropertyType> type_of(std::string_view name) noexcept {
  for (std::uint8_t number = 1; number <= static_cast<std::uint8_t>(PropertyType::kString); ++number) {
    const auto type = static_cast<PropertyType>(number);
    if (property_type_name(type) == name) return type;
  }
  return std::nullopt;
}

using Members = std::span<const JsonMember>;
using Annotation = std::pair<std::string_view, PropertyType>;

/// Collects annotations first, because an annotation may precede or follow its property (D-32). They are sorted by
/// name, because a body can contain many.
Result<std::vector<Annotation>> gather_annotations(Members members) {
  std::vector<Annotation> annotations;
  for (const JsonMember& member : members) {
    const std::string_view name = member.name;
    if (!name.ends_with(kTypeSuffix)) continue;
    const std::optional<PropertyType> type = type_of(member.text);
    if (member.kind != JsonKind::kText || !type) {
      return invalid_input("\"" + std::string(name) + "\" does not name an Edm type");
    }
    annotations.emplace_back(name.substr(0, name.size() - kTypeSuffix.size()), *type);
  }
  std::sort(annotations.begin(), annotations.end());
  return annotations;
}

const Annotation* find_annotation(std::span<const Annotation> annotations, std::string_view name) noexcept {
  const auto found =
      std::lower_bound(annotations.begin(), annotations.end(), name,
                       [](const Annotation& known, std::string_view asked) { return known.first < asked; });
  return found != annotations.end() && found->first == name ? &*found : nullptr;
}

/// Returns whether a member describes the entity, and is none of its properties.
bool is_metadata(std::string_view name) noexcept {
  return name == kTimestamp || name.starts_with("odata.") || name.ends_with(kTypeSuffix);
}

/// Returns whether a member is a property. A null is no property (D-45), and neither are keys and metadata.
bool is_property(const JsonMember& member) {
  return member.kind != JsonKind::kNull && member.name != kPartitionKey && member.name != kRowKey &&
         !is_metadata(member.name);
}

bool are_distinct(Members members) {
  std::vector<std::string_view> names;
  names.reserve(members.size());
  for (const JsonMember& member : members) names.push_back(member.name);
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) == names.end();
}

/// Returns the error for the first member whose name occurred earlier.
Status given_twice(Members members) {
  std::unordered_set<std::string_view> names;
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const JsonMember& member) { return !names.insert(member.name).second; });
  const std::string text = "\"" + std::string(found->name) + "\" is given twice";
  if (found->name == kPartitionKey || found->name == kRowKey) return service_error::duplicate_key_property(text);
  return service_error::duplicate_properties(text);
}

Result<std::string> key_of(Members members, std::string_view name) {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const JsonMember& member) { return member.name == name; });
  if (found == members.end() || found->kind == JsonKind::kNull) {
    return refused("PropertiesNeedValue", std::string(name) + " needs a value");
  }
  if (found->kind != JsonKind::kText) return invalid_input(std::string(name) + " must be a text");
  return std::string(found->text);
}

/// Checks the annotations of keys. Such an annotation has no effect (D-32), so it may only name the type of keys.
Status check_key_types(Members members) {
  const auto wrong = std::find_if(members.begin(), members.end(), [](const JsonMember& member) {
    const bool is_of_key = member.name.ends_with(kTypeSuffix) &&
                           (member.name.substr(0, member.name.size() - kTypeSuffix.size()) == kPartitionKey ||
                            member.name.substr(0, member.name.size() - kTypeSuffix.size()) == kRowKey);
    return is_of_key && member.text != property_type_name(PropertyType::kString);
  });
  if (wrong == members.end()) return Status();
  return invalid_input("\"" + std::string(wrong->name) + "\" must be Edm.String");
}

Status add_properties(Members members, Entity& entity) {
  const Result<std::vector<Annotation>> annotations = gather_annotations(members);
  if (!annotations.ok()) return annotations.status();
  entity.reserve(std::min(members.size(), limits::kCustomPropertiesMax));
  for (const JsonMember& member : members) {
    if (!is_property(member)) continue;
    const Annotation* const annotation = find_annotation(*annotations, member.name);
    Result<Value> value = annotation == nullptr ? inferred_value(member) : annotated_value(member, annotation->second);
    if (!value.ok()) return value.status();
    entity.add(std::string(member.name), *std::move(value));
  }
  return Status();
}

/// Each property can have an annotation and some nulls, and clients add further members.
constexpr std::size_t kMembersForEachProperty = 8;
constexpr std::size_t kOtherMembersMax = 32;

Result<JsonObject> read_distinct_members(std::string_view body, std::size_t properties_max) {
  Result<JsonObject> object = JsonObject::read(
      body, {properties_max * kMembersForEachProperty + kOtherMembersMax, properties_max, is_property});
  if (object.ok() && !are_distinct(object->members())) return given_twice(object->members());
  return object;
}

}  // namespace

Result<Entity> read_entity(std::string_view body, std::size_t properties_max) {
  const Result<JsonObject> object = read_distinct_members(body, properties_max);
  if (!object.ok()) return object.status();
  if (Status typed = check_key_types(object->members()); !typed.ok()) return typed;
  Result<std::string> partition_key = key_of(object->members(), kPartitionKey);
  if (!partition_key.ok()) return partition_key.status();
  Result<std::string> row_key = key_of(object->members(), kRowKey);
  if (!row_key.ok()) return row_key.status();
  Entity entity(*std::move(partition_key), *std::move(row_key));
  if (Status added = add_properties(object->members(), entity); !added.ok()) return added;
  return entity;
}

Result<Entity> read_entity(std::string_view body, std::string_view partition_key, std::string_view row_key,
                           std::size_t properties_max) {
  const Result<JsonObject> object = read_distinct_members(body, properties_max);
  if (!object.ok()) return object.status();
  Entity entity{std::string(partition_key), std::string(row_key)};
  if (Status added = add_properties(object->members(), entity); !added.ok()) return added;
  return entity;
}

Result<std::string> read_table_name(std::string_view body) {
  const Result<JsonObject> object = read_distinct_members(body, limits::kCustomPropertiesMax);
  if (!object.ok()) return object.status();
  return key_of(object->members(), "TableName");
}

}  // namespace varve::serve
