#include "tools/serve/local/table_fields.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "api/model/large_value_maker.h"
#include "api/model/service_error.h"

namespace varve::serve {
namespace {

constexpr std::string_view kSet = "set:";
constexpr std::string_view kIncrement = "increment:";
constexpr std::string_view kRemoved = "removed";

Status malformed_table_fields() {
  return service_error::invalid_input("the fields of a table, an entity or a change are malformed");
}

template <typename Number>
std::optional<Number> field_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Returns the value of the last field with this name, or null.
const std::string* find_field(const Fields& fields, std::string_view name) noexcept {
  const auto found =
      std::find_if(fields.rbegin(), fields.rend(), [name](const auto& one) { return one.first == name; });
  return found == fields.rend() ? nullptr : &found->second;
}

std::string field_text(const Fields& fields, std::string_view name) {
  const std::string* const found = find_field(fields, name);
  return found == nullptr ? std::string() : *found;
}

// -- Values of properties: a digit that names the type, and the value ---------------------------------------------------

template <typename T>
std::string payload_of(const T& value) {
  if constexpr (std::is_same_v<T, Binary>) return value.bytes;
  if constexpr (std::is_same_v<T, std::string>) return value;
  if constexpr (std::is_same_v<T, bool>) return value ? "1" : "0";
  if constexpr (std::is_same_v<T, DateTime>) return std::to_string(value.ticks);
  if constexpr (std::is_same_v<T, double>) return std::to_string(std::bit_cast<std::uint64_t>(value));
  if constexpr (std::is_same_v<T, Guid>) return value.to_string();
  if constexpr (std::is_same_v<T, LargeValue>) return std::to_string(value.id()) + ":" + std::to_string(value.length());
  if constexpr (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>) return std::to_string(value);
}

std::string text_of_value(const Value& value) {
  const auto type = static_cast<unsigned>(value.type());
  return std::to_string(type) + std::visit([](const auto& held) { return payload_of(held); }, value.variant());
}

template <typename T>
std::optional<Value> number_value(std::string_view payload) {
  const std::optional<T> number = field_number<T>(payload);
  return number ? std::optional<Value>(Value(*number)) : std::nullopt;
}

std::optional<Value> large_value_field(std::string_view payload) {
  const std::size_t colon = payload.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint64_t> id = field_number<std::uint64_t>(payload.substr(0, colon));
  const std::optional<std::uint64_t> length = field_number<std::uint64_t>(payload.substr(colon + 1));
  if (!id || !length) return std::nullopt;
  return Value(LargeValueMaker::make({*id, *length}));
}

std::optional<Value> value_of_text(std::string_view text) {
  if (text.empty() || text.front() < '1' || text.front() > '9') return std::nullopt;
  const std::string_view payload = text.substr(1);
  switch (static_cast<PropertyType>(text.front() - '0')) {
    case PropertyType::kBinary: return Value(Binary{std::string(payload)});
    case PropertyType::kBoolean:
      if (payload != "0" && payload != "1") return std::nullopt;
      return Value(payload == "1");
    case PropertyType::kDateTime: {
      const std::optional<std::uint64_t> ticks = field_number<std::uint64_t>(payload);
      return ticks ? std::optional<Value>(Value(DateTime{*ticks})) : std::nullopt;
    }
    case PropertyType::kDouble: {
      const std::optional<std::uint64_t> bits = field_number<std::uint64_t>(payload);
      return bits ? std::optional<Value>(Value(std::bit_cast<double>(*bits))) : std::nullopt;
    }
    case PropertyType::kGuid: {
      const Result<Guid> guid = Guid::parse(payload);
      return guid.ok() ? std::optional<Value>(Value(*guid)) : std::nullopt;
    }
    case PropertyType::kInt32: return number_value<std::int32_t>(payload);
    case PropertyType::kInt64: return number_value<std::int64_t>(payload);
    case PropertyType::kString: return Value(payload);
    case PropertyType::kLargeValue: break;
  }
  return large_value_field(payload);
}

void add_property(Fields& fields, std::string_view prefix, const Property& property) {
  fields.emplace_back(std::string(prefix) + property.name, text_of_value(property.value));
}

/// Calls `take` with the name and the value of each property whose field has the prefix. Returns false if one is malformed.
template <typename Take>
bool take_properties(const Fields& fields, std::string_view prefix, const Take& take) {
  for (const auto& [name, text] : fields) {
    if (!name.starts_with(prefix)) continue;
    std::optional<Value> value = value_of_text(text);
    if (!value) return false;
    take(name.substr(prefix.size()), *std::move(value));
  }
  return true;
}

std::vector<std::string> removed_of(const Fields& fields) {
  std::vector<std::string> names;
  for (const auto& [name, value] : fields) {
    if (name == kRemoved) names.push_back(value);
  }
  return names;
}

Result<ETag> etag_field(const Fields& fields, std::string_view name) {
  const std::string* const text = find_field(fields, name);
  return text == nullptr ? Result<ETag>(ETag()) : ETag::parse(*text);
}

void add_etag(Fields& fields, std::string_view name, ETag etag) {
  if (!etag.is_none()) fields.emplace_back(name, etag.to_string());
}

Result<ScanRange> range_of(const Fields& fields) {
  const std::optional<std::uint8_t> kind = field_number<std::uint8_t>(field_text(fields, "range"));
  const std::string partition = field_text(fields, "partition");
  const std::string from = field_text(fields, "from");
  const std::string* const end = find_field(fields, "to");
  const std::optional<std::string> to = end == nullptr ? std::nullopt : std::optional<std::string>(*end);
  if (!kind || *kind > static_cast<std::uint8_t>(ScanRange::Kind::kPartitions)) return malformed_table_fields();
  switch (static_cast<ScanRange::Kind>(*kind)) {
    case ScanRange::Kind::kTable: break;
    case ScanRange::Kind::kPartition: return ScanRange::partition(partition);
    case ScanRange::Kind::kRows: return ScanRange::rows(partition, from, to);
    case ScanRange::Kind::kRowPrefix: return ScanRange::rows_with_prefix(partition, from);
    case ScanRange::Kind::kPartitions: return ScanRange::partitions(from, to);
  }
  return ScanRange::whole_table();
}

}  // namespace

void add_fields(Fields& fields, const Entity& entity) {
  fields.emplace_back("partition", entity.partition_key());
  fields.emplace_back("row", entity.row_key());
  for (const Property& property : entity.properties()) add_property(fields, kSet, property);
  add_etag(fields, "etag", entity.etag());
}

void add_fields(Fields& fields, const WriteOperation& operation) {
  fields.emplace_back("kind", std::to_string(static_cast<unsigned>(operation.kind)));
  add_fields(fields, operation.entity);
  add_etag(fields, "if_match", operation.if_match);
  for (const std::string& name : operation.removed) fields.emplace_back(kRemoved, name);
  for (const Property& property : operation.increments) add_property(fields, kIncrement, property);
  fields.emplace_back("condition", operation.condition);
}

void add_fields(Fields& fields, const Where& where) {
  fields.emplace_back("range", std::to_string(static_cast<unsigned>(where.range.kind())));
  fields.emplace_back("partition", where.range.partition_key());
  fields.emplace_back("from", where.range.from());
  if (where.range.to()) fields.emplace_back("to", *where.range.to());
  fields.emplace_back("filter", where.filter);
  if (where.all) fields.emplace_back("all", "1");
}

void add_fields(Fields& fields, const PropertyChanges& changes) {
  for (const Property& property : changes.set) add_property(fields, kSet, property);
  for (const std::string& name : changes.remove) fields.emplace_back(kRemoved, name);
}

void add_fields(Fields& fields, const WhereProgress& progress) {
  fields.emplace_back("matched", std::to_string(progress.matched));
  fields.emplace_back("changed", std::to_string(progress.changed));
  fields.emplace_back("left", std::to_string(progress.left));
  if (progress.continuation) fields.emplace_back("continuation", *progress.continuation);
}

void add_fields(Fields& fields, const TableOptions& options) {
  if (options.has_large_values) fields.emplace_back("large_values", "1");
  if (!options.expiry) return;
  fields.emplace_back("expire_at", options.expiry->property);
  fields.emplace_back("expire_after_ms", std::to_string(options.expiry->age.count()));
}

Result<Entity> entity_of(const Fields& fields) {
  Entity entity(field_text(fields, "partition"), field_text(fields, "row"));
  const auto add = [&entity](std::string name, Value value) { entity.add(std::move(name), std::move(value)); };
  if (!take_properties(fields, kSet, add)) return malformed_table_fields();
  const Result<ETag> etag = etag_field(fields, "etag");
  if (!etag.ok()) return etag.status();
  entity.set_etag(*etag);
  return entity;
}

Result<WriteOperation> write_operation_of(const Fields& fields) {
  const std::optional<std::uint8_t> kind = field_number<std::uint8_t>(field_text(fields, "kind"));
  if (!kind || *kind > static_cast<std::uint8_t>(WriteOperation::Kind::kInsertOrPatch)) return malformed_table_fields();
  Result<Entity> entity = entity_of(fields);
  if (!entity.ok()) return entity.status();
  const Result<ETag> if_match = etag_field(fields, "if_match");
  if (!if_match.ok()) return if_match.status();
  WriteOperation operation{static_cast<WriteOperation::Kind>(*kind), *std::move(entity), *if_match};
  operation.removed = removed_of(fields);
  operation.condition = field_text(fields, "condition");
  const auto add = [&operation](std::string name, Value value) {
    operation.increments.push_back({std::move(name), std::move(value)});
  };
  if (!take_properties(fields, kIncrement, add)) return malformed_table_fields();
  return operation;
}

Result<Where> where_of(const Fields& fields) {
  Result<ScanRange> range = range_of(fields);
  if (!range.ok()) return range.status();
  const std::string* const all = find_field(fields, "all");
  if (all != nullptr && *all != "0" && *all != "1") return malformed_table_fields();
  return Where{*std::move(range), field_text(fields, "filter"), all != nullptr && *all == "1"};
}

Result<PropertyChanges> changes_of(const Fields& fields) {
  PropertyChanges changes;
  const auto add = [&changes](std::string name, Value value) {
    changes.set.push_back({std::move(name), std::move(value)});
  };
  if (!take_properties(fields, kSet, add)) return malformed_table_fields();
  changes.remove = removed_of(fields);
  return changes;
}

Result<WhereProgress> where_progress_of(const Fields& fields) {
  const auto count = [&fields](std::string_view name) { return field_number<std::uint64_t>(field_text(fields, name)); };
  const std::optional<std::uint64_t> matched = count("matched");
  const std::optional<std::uint64_t> changed = count("changed");
  const std::optional<std::uint64_t> left = count("left");
  if (!matched || !changed || !left) return malformed_table_fields();
  WhereProgress progress{*matched, *changed, *left};
  if (const std::string* const token = find_field(fields, "continuation")) progress.continuation = *token;
  return progress;
}

Result<TableOptions> table_options_of(const Fields& fields) {
  TableOptions options;
  options.has_large_values = find_field(fields, "large_values") != nullptr;
  const std::string* const age = find_field(fields, "expire_after_ms");
  if (age == nullptr) return options;
  const std::optional<std::int64_t> milliseconds = field_number<std::int64_t>(*age);
  if (!milliseconds) return malformed_table_fields();
  options.expiry = TableExpiry{field_text(fields, "expire_at"), std::chrono::milliseconds(*milliseconds)};
  return options;
}

}  // namespace varve::serve
