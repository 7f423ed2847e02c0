// Owns: the encoding of service properties as properties of a row (service_property_rows.h).
// Must never: return properties that break a limit.
#include "api/catalog/service_property_rows.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "api/catalog/row_numbers.h"
#include "format/keys/entity.h"
#include "varve/limits.h"

namespace varve {
namespace {

constexpr std::string_view kLogging = "Logging";
constexpr std::string_view kHourMetrics = "HourMetrics";
constexpr std::string_view kMinuteMetrics = "MinuteMetrics";
constexpr std::string_view kCors = "Cors";
constexpr std::string_view kDefaultVersion = "DefaultVersion";
constexpr std::array kPropertyGroups = {kLogging, kHourMetrics, kMinuteMetrics, kCors, kDefaultVersion};

std::string group_member(std::string_view group, std::string_view part) {
  return std::string(group).append(part);
}

std::string cors_group(std::size_t number) {
  return std::string(kCors).append(std::to_string(number));
}

std::string comma_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : ",").append(word);
  return text;
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// Reads properties of a row by name and type. Keeps the error of the first property with another type.
class ServiceRowReader {
 public:
  explicit ServiceRowReader(const format::EncodedEntity& row) : row_(row) {}

  bool flag(std::string_view group, std::string_view part) {
    const auto property = find(group, part, format::PropertyType::kBoolean);
    return property && property->as_boolean();
  }
  /// A negative number becomes one that is above every limit.
  std::optional<std::uint32_t> number(std::string_view group, std::string_view part) {
    const auto property = find(group, part, format::PropertyType::kInt32);
    if (!property) return std::nullopt;
    return static_cast<std::uint32_t>(property->as_int32());
  }
  std::vector<std::string> list(std::string_view group, std::string_view part) {
    const auto property = find(group, part, format::PropertyType::kString);
    return property ? split_list(property->value) : std::vector<std::string>();
  }
  std::string text(std::string_view name) {
    const auto property = find(name, "", format::PropertyType::kString);
    return property ? std::string(property->value) : std::string();
  }
  bool has(std::string_view group, std::string_view part) const {
    return row_.find(group_member(group, part)).has_value();
  }
  const Status& status() const noexcept { return status_; }

 private:
  std::optional<format::PropertyView> find(std::string_view group, std::string_view part, format::PropertyType type) {
    std::optional<format::PropertyView> property = row_.find(group_member(group, part));
    if (!property || property->type == type) return property;
    if (status_.ok())
      status_ = Status::corruption(group_member(group, part) + " of the service properties has the wrong type");
    return std::nullopt;
  }

  const format::EncodedEntity& row_;
  Status status_;
};

MetricsProperties decode_metrics(ServiceRowReader& reader, std::string_view group) {
  return {reader.flag(group, "Enabled"), reader.flag(group, "IncludeAPIs"), reader.number(group, "Days")};
}

std::vector<CorsRule> decode_cors_rules(ServiceRowReader& reader) {
  std::vector<CorsRule> rules;
  for (std::size_t number = 0; number < limits::kCorsRulesMax; ++number) {
    const std::string group = cors_group(number);
    if (!reader.has(group, "Origins")) break;
    rules.push_back({reader.list(group, "Origins"), reader.list(group, "Methods"),
                     reader.number(group, "MaxAge").value_or(0), reader.list(group, "ExposedHeaders"),
                     reader.list(group, "AllowedHeaders")});
  }
  return rules;
}

void add_flag(format::EntityBuilder& builder, std::string_view group, std::string_view part, bool value) {
  if (value) builder.add_boolean(group_member(group, part), true);
}

void add_number(format::EntityBuilder& builder, std::string_view group, std::string_view part, std::uint32_t value) {
  if (value != 0) builder.add_int32(group_member(group, part), static_cast<std::int32_t>(value));
}

void add_list(format::EntityBuilder& builder, std::string_view group, std::string_view part,
              const std::vector<std::string>& words) {
  if (!words.empty()) builder.add_string(group_member(group, part), comma_list(words));
}

void add_metrics(format::EntityBuilder& builder, std::string_view group, const MetricsProperties& metrics) {
  add_flag(builder, group, "Enabled", metrics.enabled);
  add_flag(builder, group, "IncludeAPIs", metrics.include_apis);
  add_number(builder, group, "Days", metrics.retention_days.value_or(0));
}

void add_cors_rule(format::EntityBuilder& builder, std::string_view group, const CorsRule& rule) {
  add_list(builder, group, "Origins", rule.allowed_origins);
  add_list(builder, group, "Methods", rule.allowed_methods);
  add_number(builder, group, "MaxAge", rule.max_age_seconds);
  add_list(builder, group, "ExposedHeaders", rule.exposed_headers);
  add_list(builder, group, "AllowedHeaders", rule.allowed_headers);
}

bool is_service_property(std::string_view name) {
  return std::any_of(kPropertyGroups.begin(), kPropertyGroups.end(),
                     [&](std::string_view group) { return name.starts_with(group); });
}

constexpr std::string_view kAccountNumber = "Number";

}  // namespace

std::string service_properties_key(std::string_view account, StorageService service) {
  return *format::encode_sort_key(kServicePropertiesTable, account,
                                  service == StorageService::kQueues ? "queues" : "blobs");
}

bool is_row_of_account(std::string_view row, std::uint32_t number) {
  const Result<format::EncodedEntity> view = format::EncodedEntity::open(row);
  return view.ok() && find_number(*view, kAccountNumber, number, number).has_value();
}

std::string encode_service_row(std::uint32_t account_number) {
  format::EntityBuilder builder;
  builder.add_int64(kAccountNumber, account_number);
  return builder.finish();
}

Result<ServiceProperties> decode_service_properties(std::string_view row) {
  const Result<format::EncodedEntity> view = format::EncodedEntity::open(row);
  if (!view.ok()) return view.status();
  ServiceRowReader reader(*view);
  ServiceProperties properties;
  properties.logging = {reader.flag(kLogging, "Read"), reader.flag(kLogging, "Write"), reader.flag(kLogging, "Remove"),
                        reader.number(kLogging, "Days")};
  properties.hour_metrics = decode_metrics(reader, kHourMetrics);
  properties.minute_metrics = decode_metrics(reader, kMinuteMetrics);
  properties.cors_rules = decode_cors_rules(reader);
  properties.default_version = reader.text(kDefaultVersion);
  if (!reader.status().ok()) return reader.status();
  const Status checked =
      check_service_properties({properties.logging, properties.hour_metrics, properties.minute_metrics,
                                properties.cors_rules, properties.default_version});
  if (!checked.ok()) return Status::corruption(checked.message());
  return properties;
}

Result<std::string> with_service_properties(std::string_view row, const ServiceProperties& properties) {
  const Result<format::EncodedEntity> view = format::EncodedEntity::open(row);
  if (!view.ok()) return view.status();
  format::EntityBuilder builder;
  for (std::size_t i = 0; i < view->property_count(); ++i) {
    const format::PropertyView property = view->property(i);
    if (!is_service_property(property.name)) builder.add(property);
  }
  add_flag(builder, kLogging, "Read", properties.logging.read);
  add_flag(builder, kLogging, "Write", properties.logging.write);
  add_flag(builder, kLogging, "Remove", properties.logging.remove);
  add_number(builder, kLogging, "Days", properties.logging.retention_days.value_or(0));
  add_metrics(builder, kHourMetrics, properties.hour_metrics);
  add_metrics(builder, kMinuteMetrics, properties.minute_metrics);
  for (std::size_t number = 0; number < properties.cors_rules.size(); ++number) {
    add_cors_rule(builder, cors_group(number), properties.cors_rules[number]);
  }
  if (!properties.default_version.empty()) builder.add_string(kDefaultVersion, properties.default_version);
  return builder.finish();
}

}  // namespace varve
