#include "tools/varve/text/value_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "api/model/base64.h"

namespace varve::tool {

namespace {

constexpr std::array<PropertyType, 8> kTypes{PropertyType::kBinary, PropertyType::kBoolean, PropertyType::kDateTime,
                                             PropertyType::kDouble, PropertyType::kGuid,    PropertyType::kInt32,
                                             PropertyType::kInt64,  PropertyType::kString};

Status not_a(PropertyType type, std::string_view text) {
  return Status::invalid_argument("\"" + std::string(text.substr(0, 60)) + "\" is not a valid " +
                                  std::string(property_type_name(type)));
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> parse_double(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  const bool digits_only = text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  return digits_only ? parse_number<double>(text) : std::nullopt;
}

std::string double_text(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  std::array<char, 40> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  std::string text(buffer.data(), end);
  if (text.find_first_of(".eE") == std::string::npos) text += ".0";  // so that it is never read as a whole number
  return text;
}

/// Returns whether the text consists of the characters of a number.
bool looks_like_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  return text.front() != '0' || text.size() == 1 || text[1] < '0' || text[1] > '9';
}

}  // namespace

Result<PropertyType> parse_type(std::string_view name) {
  if (name == property_type_name(PropertyType::kLargeValue)) return PropertyType::kLargeValue;
  for (const PropertyType type : kTypes) {
    const std::string_view full = property_type_name(type);
    if (name == full || name == full.substr(4)) return type;
  }
  return Status::invalid_argument("\"" + std::string(name) +
                                  "\" is not a type; use Edm.Binary, Edm.Boolean, Edm.DateTime, Edm.Double, "
                                  "Edm.Guid, Edm.Int32, Edm.Int64 or Edm.String");
}

Result<std::map<std::string, PropertyType>> parse_types(const std::vector<std::string>& definitions) {
  std::map<std::string, PropertyType> types;
  for (const std::string& definition : definitions) {
    const std::size_t equals = definition.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Status::invalid_argument("--type must be NAME=TYPE, not \"" + definition + "\"");
    }
    const Result<PropertyType> type = parse_type(std::string_view(definition).substr(equals + 1));
    if (!type.ok()) return type.status();
    types[definition.substr(0, equals)] = *type;
  }
  return types;
}

Result<Value> parse_value(PropertyType type, std::string_view text) {
  switch (type) {
    case PropertyType::kString: return Value(text);
    case PropertyType::kBoolean:
      if (text == "true") return Value(true);
      if (text == "false") return Value(false);
      break;
    case PropertyType::kInt32:
      if (const auto number = parse_number<std::int32_t>(text)) return Value(*number);
      break;
    case PropertyType::kInt64:
      if (const auto number = parse_number<std::int64_t>(text)) return Value(*number);
      break;
    case PropertyType::kDouble:
      if (const auto number = parse_double(text)) return Value(*number);
      break;
    case PropertyType::kDateTime: {
      const Result<DateTime> time = DateTime::parse(text);
      if (!time.ok()) return time.status();
      return Value(*time);
    }
    case PropertyType::kGuid: {
      const Result<Guid> guid = Guid::parse(text);
      if (!guid.ok()) return guid.status();
      return Value(*guid);
    }
    case PropertyType::kBinary: {
      std::optional<std::string> bytes = decode_base64(text, UnusedBits::kMayBeSet);
      if (!bytes) return Status::invalid_argument("not base64 with padding");
      return Value(Binary{*std::move(bytes)});
    }
    case PropertyType::kLargeValue:
      return Status::invalid_argument(
          "no text has the content of a large value; name a file by put --content, or files by import --contents");
  }
  return not_a(type, text);
}

Value infer_value(std::string_view text) {
  if (text == "true") return Value(true);
  if (text == "false") return Value(false);
  if (looks_like_number(text)) {
    if (const auto number = parse_number<std::int32_t>(text)) return Value(*number);
    if (const auto number = parse_number<std::int64_t>(text)) return Value(*number);
    const bool fraction = text.find_first_of(".eE") != std::string_view::npos;
    if (const auto number = parse_double(text); fraction && number) return Value(*number);
  }
  if (text.size() >= 20 && text.ends_with('Z') && text[10] == 'T') {
    if (const Result<DateTime> time = DateTime::parse(text); time.ok()) return Value(*time);
  }
  return Value(text);
}

Result<std::vector<Property>> parse_properties(const std::vector<std::string>& definitions,
                                               const std::map<std::string, PropertyType>& types) {
  std::vector<Property> properties;
  for (const std::string& property : definitions) {
    const std::size_t equals = property.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Status::invalid_argument("a property must be NAME=VALUE, not \"" + property + "\"");
    }
    const std::string name = property.substr(0, equals);
    if (name == "Timestamp") return Status::invalid_argument("Timestamp cannot be given; the store sets it");
    const std::string_view text = std::string_view(property).substr(equals + 1);
    const auto chosen = types.find(name);
    Result<Value> value = chosen != types.end() ? parse_value(chosen->second, text) : Result<Value>(infer_value(text));
    if (!value.ok()) return value.status().in_file("\"" + name + "\"");
    properties.push_back({name, *std::move(value)});
  }
  return properties;
}

Status check_types_used(const std::map<std::string, PropertyType>& types, const std::vector<Property>& properties) {
  for (const auto& [name, type] : types) {
    const bool is_used = std::any_of(properties.begin(), properties.end(),
                                     [&named = name](const Property& property) { return property.name == named; });
    if (is_used) continue;
    return Status::invalid_argument("--type gives the property \"" + name + "\" the type " +
                                    std::string(property_type_name(type)) + ", but no value is given for it");
  }
  return Status();
}

std::string to_text(const Value& value, LargeValueText large_values) {
  struct ToText {
    std::string operator()(const Binary& binary) const { return encode_base64(binary.bytes); }
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(const DateTime& time) const { return time.to_string(); }
    std::string operator()(double number) const { return double_text(number); }
    std::string operator()(const Guid& guid) const { return guid.to_string(); }
    std::string operator()(std::int32_t number) const { return std::to_string(number); }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const LargeValue& value) const {
      if (large_values == LargeValueText::kFileName) return std::to_string(value.id());
      return "content " + std::to_string(value.id()) + ", " + std::to_string(value.length()) + " bytes";
    }
    const LargeValueText large_values;
  };
  return std::visit(ToText{large_values}, value.variant());
}

}  // namespace varve::tool
