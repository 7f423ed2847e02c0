#include "api/rest/encoding/entity_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "api/model/base64.h"
#include "api/rest/protocol/member_names.h"
#include "api/rest/protocol/target.h"
#include "varve/query_options.h"

namespace varve::serve {
namespace {

bool has_metadata(const WritingPlace& place) noexcept {
  return place.level != PayloadLevel::kNone;
}

/// Writes the first member of an answer with metadata. Source: H-42.
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

/// Returns whether the JSON value alone does not show its type.
bool needs_type(const ValueView& value) noexcept {
  switch (property_type_of(value)) {
    case PropertyType::kBinary:
    case PropertyType::kDateTime:
    case PropertyType::kGuid:
    case PropertyType::kInt64: return true;
    case PropertyType::kDouble: return !std::isfinite(std::get<double>(value));
    case PropertyType::kBoolean:
    case PropertyType::kInt32:
    case PropertyType::kString:
    case PropertyType::kLargeValue: break;
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

/// Returns a host without its port.
std::string_view without_port(std::string_view host) noexcept {
  const std::size_t bracket = host.rfind(']');  // The colons of an IPv6 address are in brackets.
  return host.substr(0, host.find(':', bracket == std::string_view::npos ? 0 : bracket));
}

struct ValueWriter {
  JsonText& json;
  const WritingPlace& place;

  void operator()(std::string_view value) const { json.text(value); }
  void operator()(bool value) const { json.boolean(value); }
  void operator()(std::int32_t value) const { json.integer(value); }
  void operator()(std::int64_t value) const { json.text(std::to_string(value)); }
  void operator()(double value) const { write_double(json, value); }
  void operator()(DateTime value) const { json.text(value.to_string()); }
  void operator()(const Guid& value) const { json.text(value.to_string()); }
  void operator()(const LargeValue& value) const { json.text(large_value_address(place, value)); }
  void operator()(BinaryView value) const { json.text(encode_base64(value.bytes)); }
};

void write_property(JsonText& json, const WritingPlace& place, std::string_view name, const ValueView& value) {
  if (has_metadata(place) && needs_type(value)) write_type(json, name, property_type_of(value));
  json.member(name);
  std::visit(ValueWriter{json, place}, value);
}

void write_timestamp(JsonText& json, const WritingPlace& place, const EntityView& entity) {
  if (place.level == PayloadLevel::kFull) write_type(json, kTimestamp, PropertyType::kDateTime);
  json.member(kTimestamp).text(entity.etag.timestamp().to_string());
}

void write_all(JsonText& json, const WritingPlace& place, const EntityView& entity) {
  json.member(kPartitionKey).text(entity.partition_key);
  json.member(kRowKey).text(entity.row_key);
  write_timestamp(json, place, entity);
  for (const PropertyView& property : entity.properties) write_property(json, place, property.name, property.value);
}

/// Up to this number of names, pairwise comparison is used. Above it, names are looked up.
constexpr std::size_t kComparedPairwiseMax = 24;

/// Writes one selected property. `value` is null if the entity lacks the property.
void write_selected_property(JsonText& json, const WritingPlace& place, std::string_view name, const ValueView* value) {
  if (value != nullptr) {
    write_property(json, place, name, *value);
  } else {
    json.member(name).null();
  }
}

void write_many_selected(JsonText& json, const WritingPlace& place, const EntityView& entity,
                         const std::vector<std::string>& select) {
  std::unordered_map<std::string_view, const ValueView*> values;
  for (const PropertyView& property : entity.properties) values.emplace(property.name, &property.value);
  std::unordered_set<std::string_view> written = {kPartitionKey, kRowKey, kTimestamp};
  for (const std::string& name : select) {
    if (!written.insert(name).second) continue;
    const auto value = values.find(name);
    write_selected_property(json, place, name, value == values.end() ? nullptr : value->second);
  }
}

/// Writes the properties of a projection, each name once, system properties first.
void write_selected(JsonText& json, const WritingPlace& place, const EntityView& entity,
                    const std::vector<std::string>& select) {
  const auto is_selected = [&](std::string_view name) {
    return std::find(select.begin(), select.end(), name) != select.end();
  };
  if (is_selected(kPartitionKey)) json.member(kPartitionKey).text(entity.partition_key);
  if (is_selected(kRowKey)) json.member(kRowKey).text(entity.row_key);
  if (is_selected(kTimestamp)) write_timestamp(json, place, entity);
  if (select.size() > kComparedPairwiseMax) {
    write_many_selected(json, place, entity, select);
    return;
  }
  for (auto name = select.begin(); name != select.end(); ++name) {
    const bool is_system = *name == kPartitionKey || *name == kRowKey || *name == kTimestamp;
    if (is_system || std::find(select.begin(), name, *name) != name) continue;
    write_selected_property(json, place, *name, entity.find(*name));
  }
}

void write_members(JsonText& json, const WritingPlace& place, const EntityView& entity,
                   const std::vector<std::string>& select) {
  if (place.level == PayloadLevel::kFull) {
    write_identity(json, place, place.table, entity_reference(place.table, entity.partition_key, entity.row_key));
  }
  if (has_metadata(place)) json.member("odata.etag").text(entity.etag.to_string());
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

/// Returns a view of an entity. `properties` is overwritten, and stores the properties of the view.
EntityView viewed(const Entity& entity, std::vector<PropertyView>& properties) {
  properties.clear();
  for (const Property& property : entity.properties()) {
    properties.push_back({property.name, view_of(property.value)});
  }
  return {entity.partition_key(), entity.row_key(), properties, entity.etag()};
}

}  // namespace

std::string write_entity(const WritingPlace& place, const Entity& entity, const std::vector<std::string>& select) {
  std::vector<PropertyView> properties;
  JsonText json;
  json.begin_object();
  write_context(json, place, std::string(place.table) + "/@Element" + context_suffix(select));
  write_members(json, place, viewed(entity, properties), select);
  json.end_object();
  return json.take();
}

PageWriter::PageWriter(const WritingPlace& place, std::vector<std::string> select)
    : place_(place), select_(std::move(select)) {
  json_.begin_object();
  write_context(json_, place_, std::string(place_.table) + context_suffix(select_));
  json_.member("value").begin_array();
}

void PageWriter::add(const EntityView& entity) {
  json_.begin_object();
  write_members(json_, place_, entity, select_);
  json_.end_object();
}

std::size_t PageWriter::size() const noexcept {
  return json_.size();
}

std::string PageWriter::take() {
  json_.end_array().end_object();
  return json_.take();
}

std::string write_entities(const WritingPlace& place, std::span<const Entity> entities) {
  PageWriter page(place);
  std::vector<PropertyView> properties;
  for (const Entity& entity : entities) page.add(viewed(entity, properties));
  return page.take();
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

std::string large_value_address(const WritingPlace& place, const LargeValue& value) {
  const std::string name = "$values/" + std::to_string(value.id());
  if (place.blob_port == 0) return name;
  const std::size_t host = place.root.find("://") + 3;
  const std::size_t host_end = std::min(place.root.find('/', host), place.root.size());
  std::string address(place.root.substr(0, host));
  address.append(without_port(place.root.substr(host, host_end - host)))
      .append(":")
      .append(std::to_string(place.blob_port))
      .append(place.root.substr(host_end));
  return address.append("/").append(name);
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
