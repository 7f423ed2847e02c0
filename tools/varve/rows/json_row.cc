#include "tools/varve/rows/json_row.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include <nlohmann/json.hpp>

#include "format/keys/sort_key.h"
#include "tools/varve/rows/names.h"
#include "tools/varve/rows/not_utf8.h"
#include "tools/varve/text/value_text.h"
#include "varve/limits.h"
#include "varve/names.h"

namespace varve::tool {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kTypeEnding = "@odata.type";

Status in_member(const std::string& name, const Status& status) {
  return status.in_file("\"" + name + "\"");
}

/// The most members of an object. It is more than an entity can have (252 properties and their types), and stops the
/// parser early in a line of a million members.
constexpr std::size_t kMembersMax = 1024;

/// The most values of a row, with those in objects and arrays.
constexpr std::size_t kValuesMax = 200'000;

bool is_metadata(const std::string& name) {
  return name == "Timestamp" || name.starts_with("odata.") || name.ends_with(kTypeEnding);
}

Status nested_fault() {
  return Status::invalid_argument(
      "an object or array cannot be a property value; write it as text, or choose --nested text or --nested flatten");
}

/// Returns an error with the place where the text stops being JSON.
Status syntax_fault(std::string_view line) {
  try {
    // nlohmann::json finds a name faster than the ordered type.
    const auto parsed = nlohmann::json::parse(line);
  } catch (const nlohmann::json::parse_error& error) {
    return Status::invalid_argument("not JSON at byte " + std::to_string(error.byte));
  } catch (const nlohmann::json::exception&) {
    return Status::invalid_argument("a number is too large");
  }
  return Status::invalid_argument("not JSON");
}

/// Checks an object's members while the parser runs. Prevents nested values from being built where none may be, and
/// everywhere below kNestedLevelsMax.
struct MemberCheck {
  const RowShape& shape;
  std::set<std::string> names{};
  std::string last{};
  std::string repeated{};
  std::string nested{};
  /// The members that contain arrays or objects.
  std::vector<std::string> containers{};
  std::size_t values = 0;
  bool too_many = false;
  bool too_deep = false;

  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    // A value takes many times the memory of its text.
    if (++values > kValuesMax) too_many = true;
    if (too_many) return depth == 0;  // the rest is not built
    const bool begins = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (begins && depth > 0) return begin_nested(depth);
    if (event != Json::parse_event_t::key || depth != 1) return true;
    last = parsed.get_ref<const std::string&>();
    if (names.size() == kMembersMax) too_many = true;
    if (!too_many && !names.insert(last).second && repeated.empty()) repeated = last;
    return !too_many;
  }

  bool begin_nested(int depth) {
    too_deep = too_deep || depth >= kNestedLevelsMax;
    if (is_metadata(last) || shape.omitted.contains(last)) return false;
    if (depth == 1) containers.push_back(last);
    if (nested.empty()) nested = last;
    return shape.nested != NestedValues::kRefuse && !too_deep;
  }
};

Status too_many_members() {
  return Status::too_large("more than " + std::to_string(kMembersMax) + " members; an entity has at most " +
                           std::to_string(limits::kCustomPropertiesMax) + " properties");
}

Status given_twice(const std::string& name) {
  return Status::invalid_argument("the member \"" + name + "\" is given twice");
}

/// Adds the members of `object` to `flat`. The names of the objects around a member come before its name.
Status flatten(const std::string& prefix, Json& object, Json& flat) {
  for (const auto& [name, member] : object.items()) {
    const std::string whole = prefix.empty() ? name : prefix + "_" + name;
    if (member.is_object()) {
      if (Status added = flatten(whole, member, flat); !added.ok()) return added;
      continue;
    }
    if (flat.contains(whole)) return given_twice(whole);
    if (flat.size() == kMembersMax) return too_many_members();
    flat[whole] = std::move(member);
  }
  return Status();
}

/// The members of a row, and the names of those that contain other values.
struct ParsedRow {
  Json object;
  std::vector<std::string> containers;
  Status nested_fault;
};

/// Returns an object whose members have different names, or an error.
Result<ParsedRow> parse_object(std::string_view line, const RowShape& shape) {
  MemberCheck check{shape};
  Json object = Json::parse(line, std::ref(check), /*allow_exceptions=*/false);
  if (object.is_discarded()) return syntax_fault(line);
  if (object.is_string() || object.is_number() || object.is_boolean()) {
    Json row = Json::object();
    row["value"] = std::move(object);
    return ParsedRow{std::move(row), {}, Status()};
  }
  if (!object.is_object()) return Status::invalid_argument("not a JSON object");
  if (check.too_many) return too_many_members();
  if (!check.repeated.empty()) return given_twice(check.repeated);
  const bool may_nest = shape.nested != NestedValues::kRefuse;
  if (may_nest && check.too_deep) {
    return Status::too_large("objects and arrays lie in one another more than " + std::to_string(kNestedLevelsMax) +
                             " levels deep");
  }
  ParsedRow row{std::move(object), std::move(check.containers), Status()};
  if (!may_nest && !check.nested.empty()) row.nested_fault = in_member(check.nested, nested_fault());
  if (shape.nested == NestedValues::kFlatten && !row.containers.empty()) {
    Json flat = Json::object();
    if (Status flattened = flatten("", row.object, flat); !flattened.ok()) return flattened;
    row.object = std::move(flat);
  }
  return row;
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
  return Value(json.dump());
}

Result<Value> typed_value(const Json& json, PropertyType type) {
  if (json.is_string()) return parse_value(type, json.get_ref<const std::string&>());
  if (type == PropertyType::kDouble && json.is_number()) return Value(json.get<double>());
  if (type == PropertyType::kString) return Value(json.dump());
  Result<Value> value = untyped_value(json);
  if (!value.ok() || value->type() == type) return value;
  return parse_value(type, to_text(*value));
}

Result<std::optional<PropertyType>> type_of(const Json& object, const std::string& name, const RowShape& shape) {
  if (const auto chosen = shape.types.find(name); chosen != shape.types.end()) return std::optional(chosen->second);
  const auto annotation = object.find(name + std::string(kTypeEnding));
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

std::vector<std::string> names_of(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, member] : object.items()) names.push_back(name);
  return names;
}

Status wrong_key(const std::string& name) {
  return Status::invalid_argument("\"" + name + "\" is a key and must be a text or a whole number");
}

Status no_key(const std::string& name, const ParsedRow& row) {
  if (std::find(row.containers.begin(), row.containers.end(), name) != row.containers.end()) return wrong_key(name);
  std::string reason = "the key member \"" + name + "\" is missing; name the key columns by --partition-key and " +
                       "--row-key" + names_hint(name, "members", names_of(row.object));
  if (!row.containers.empty() && row.object.size() <= 2 * row.containers.size()) {
    reason += "; if the rows are inside \"" + row.containers.front() + "\", add --records " + row.containers.front();
  }
  return Status::invalid_argument(reason);
}

/// Returns the first column of the key that the row lacks, or null.
const std::string* missing_column(const KeyTemplate& key, const Json& object) {
  for (const KeyPart& part : key.parts()) {
    if (part.kind == KeyPart::Kind::kColumn && !has_value(object, part.text)) return &part.text;
  }
  return nullptr;
}

/// Returns the text of a key member, which exists.
Result<std::string> text_of_key(const Json& object, const std::string& name) {
  const auto member = object.find(name);
  if (member->is_string()) return member->get<std::string>();
  // Keys are often a column of numbers. The number's text is the sort key.
  if (member->is_number_integer()) return member->dump();
  return wrong_key(name);
}

Result<std::string> key_of(const KeyTemplate& key, const Json& object, const RowShape& shape, const RowOrigin& origin) {
  Result<std::string> made =
      key.make(origin, [&object](const KeyPart& part) { return text_of_key(object, part.text); });
  if (!made.ok() || !shape.key_replacement) return made;
  return with_replaced_characters(*made, *shape.key_replacement);
}

/// Returns whether a member becomes no property.
bool is_left_out(const std::string& name, const RowShape& shape) {
  if (is_metadata(name) || shape.omitted.contains(name)) return true;
  const KeyPart* partition = shape.partition_key.only_column();
  const KeyPart* row = shape.row_key.only_column();
  const bool is_key = (partition != nullptr && partition->text == name) || (row != nullptr && row->text == name);
  return is_key && (!shape.keeps_key_columns || name == "PartitionKey" || name == "RowKey");
}

Status add_properties(const Json& object, const RowShape& shape, Entity& entity, std::vector<std::string>* contents) {
  for (const auto& [name, json] : object.items()) {
    if (is_left_out(name, shape) || json.is_null()) continue;
    const Result<std::optional<PropertyType>> type = type_of(object, name, shape);
    if (!type.ok()) return in_member(name, type.status());
    const std::optional<PropertyType>& chosen = *type;
    const std::string property = shape.fixes_names ? fixed_property_name(name) : name;
    if (chosen == PropertyType::kLargeValue && shape.takes_contents && contents != nullptr && json.is_string()) {
      contents->push_back(property);
      entity.add(property, Value(json.get_ref<const std::string&>()));
      continue;
    }
    Result<Value> value = chosen ? typed_value(json, *chosen) : untyped_value(json);
    if (!value.ok()) return in_member(name, value.status());
    entity.add(property, *std::move(value));
  }
  return Status();
}

}  // namespace

Result<Entity> entity_from_json(std::string_view text, const RowShape& shape, const RowOrigin& origin,
                                JsonRowFault& fault, std::vector<std::string>* contents) {
  fault = {RowFault::kSyntax, 0};
  const Result<ParsedRow> parsed = parse_object(text, shape);
  if (!parsed.ok() && !format::is_valid_utf8(text)) {
    fault = {RowFault::kUtf8, kUtf8ShapeFault};
    return not_utf8(text);
  }
  if (!parsed.ok()) return parsed.status();
  const ParsedRow& row = *parsed;
  const std::string* no_row_key = missing_column(shape.row_key, row.object);
  const std::string* no_partition_key = missing_column(shape.partition_key, row.object);
  fault = {RowFault::kKey, 0};
  if (no_partition_key != nullptr || no_row_key != nullptr) {
    fault.shape_fault = no_partition_key != nullptr ? 1 : 2;
    return no_key(no_partition_key != nullptr ? *no_partition_key : *no_row_key, row);
  }
  if (!row.nested_fault.ok()) {
    fault = {RowFault::kNested, 0};
    return row.nested_fault;
  }
  Result<std::string> partition_key = key_of(shape.partition_key, row.object, shape, origin);
  if (!partition_key.ok()) return partition_key.status();
  Result<std::string> row_key = key_of(shape.row_key, row.object, shape, origin);
  if (!row_key.ok()) return row_key.status();
  Entity entity(*std::move(partition_key), *std::move(row_key));
  fault = {RowFault::kValue, 0};
  if (Status added = add_properties(row.object, shape, entity, contents); !added.ok()) return added;
  fault = {};
  return entity;
}

}  // namespace varve::tool
