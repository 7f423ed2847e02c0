// Owns: the calls of the C interface on the properties of services (service_properties.h).
#include "api/c/service_properties.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/c/call.h"
#include "api/c/objects.h"
#include "api/c/sized.h"

namespace vc = varve::c;

namespace varve::c {
namespace {

constexpr std::size_t kListsOfRule = 4;

varve_logging from_logging(const LoggingProperties& logging) noexcept {
  return {logging.read, logging.write, logging.remove, logging.retention_days.value_or(0)};
}
varve_metrics from_metrics(const MetricsProperties& metrics) noexcept {
  return {metrics.enabled, metrics.include_apis, metrics.retention_days.value_or(0)};
}

std::optional<std::uint32_t> to_retention(std::uint32_t days) noexcept {
  return days == 0 ? std::nullopt : std::optional(days);
}
std::optional<MetricsProperties> to_metrics(const varve_metrics* metrics) noexcept {
  if (metrics == nullptr) return std::nullopt;
  return MetricsProperties{metrics->enabled, metrics->include_apis, to_retention(metrics->retention_days)};
}

Result<CorsRule> read_rule(const varve_cors_rule& given) {
  CorsRule rule;
  rule.max_age_seconds = given.max_age_s;
  const struct {
    const varve_text* texts;
    std::size_t count;
    const char* what;
    std::vector<std::string>* to;
  } lists[kListsOfRule] = {
      {given.allowed_origins, given.allowed_origin_count, "allowed_origins", &rule.allowed_origins},
      {given.allowed_methods, given.allowed_method_count, "allowed_methods", &rule.allowed_methods},
      {given.exposed_headers, given.exposed_header_count, "exposed_headers", &rule.exposed_headers},
      {given.allowed_headers, given.allowed_header_count, "allowed_headers", &rule.allowed_headers}};
  for (const auto& list : lists) {
    Result<std::vector<std::string>> read = read_names(list.texts, list.count, list.what);
    if (!read.ok()) return read.status();
    *list.to = *std::move(read);
  }
  return rule;
}

Result<ServicePropertiesChange> read_change(const varve_service_properties* change) {
  if (change == nullptr) return null_pointer("change");
  const Result<varve_service_properties> given = read_sized(change);
  if (!given.ok()) return given.status();
  ServicePropertiesChange read;
  if (given->logging != nullptr) {
    const varve_logging& logging = *given->logging;
    read.logging = LoggingProperties{logging.read, logging.write, logging.remove, to_retention(logging.retention_days)};
  }
  read.hour_metrics = to_metrics(given->hour_metrics);
  read.minute_metrics = to_metrics(given->minute_metrics);
  if (!given->has_cors_rules && given->cors_rule_count != 0) {
    return Status::invalid_argument("has_cors_rules is false, but cors_rule_count is not zero");
  }
  if (given->has_cors_rules) {
    if (given->cors_rules == nullptr && given->cors_rule_count != 0) return null_pointer("cors_rules");
    std::vector<CorsRule>& rules = read.cors_rules.emplace();
    for (std::size_t i = 0; i < given->cors_rule_count; ++i) {
      Result<CorsRule> rule = read_rule(given->cors_rules[i]);
      if (!rule.ok()) return rule.status();
      rules.push_back(*std::move(rule));
    }
  }
  const Result<std::string_view> version = read_text(given->default_version, "default_version");
  if (!version.ok()) return version.status();
  if (given->default_version.data != nullptr) read.default_version = std::string(*version);
  return read;
}

Result<StorageService> read_service(std::int32_t service) {
  if (service >= VARVE_SERVICE_TABLES && service <= VARVE_SERVICE_BLOBS) return static_cast<StorageService>(service);
  return Status::invalid_argument("service is " + std::to_string(service) + "; expected a VARVE_SERVICE number");
}

}  // namespace

PropertiesObject::PropertiesObject(ServiceProperties properties)
    : Object(kKind),
      properties_(std::move(properties)),
      logging_(from_logging(properties_.logging)),
      hour_(from_metrics(properties_.hour_metrics)),
      minute_(from_metrics(properties_.minute_metrics)) {
  texts_.reserve(kListsOfRule * properties_.cors_rules.size());  // the views below stay valid
  const auto shown = [this](const std::vector<std::string>& names) -> const std::vector<varve_text>& {
    std::vector<varve_text>& texts = texts_.emplace_back();
    for (const std::string& name : names) texts.push_back(text_of(name));
    return texts;
  };
  for (const CorsRule& rule : properties_.cors_rules) {
    const std::vector<varve_text>& origins = shown(rule.allowed_origins);
    const std::vector<varve_text>& methods = shown(rule.allowed_methods);
    const std::vector<varve_text>& exposed = shown(rule.exposed_headers);
    const std::vector<varve_text>& allowed = shown(rule.allowed_headers);
    rules_.push_back({origins.data(), origins.size(), methods.data(), methods.size(), exposed.data(), exposed.size(),
                      allowed.data(), allowed.size(), rule.max_age_seconds});
  }
}

}  // namespace varve::c

varve_status* varve_service_properties_of(varve_store* store, varve_text account, int32_t service,
                                          varve_properties** properties) {
  if (properties != nullptr) *properties = nullptr;
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    if (properties == nullptr) return vc::null_pointer("properties");
    const varve::Result<std::string_view> owner = vc::read_text(account, "account");
    if (!owner.ok()) return owner.status();
    const varve::Result<varve::StorageService> of = vc::read_service(service);
    if (!of.ok()) return of.status();
    varve::Result<varve::ServiceProperties> found = held.store->service_properties(*owner, *of);
    if (!found.ok()) return found.status();
    return vc::give_handle(std::make_unique<vc::PropertiesObject>(*std::move(found)), properties);
  });
}

varve_status* varve_properties_read(const varve_properties* properties, varve_service_properties* view) {
  return vc::call_on<vc::PropertiesObject>(
      properties, [&](const vc::PropertiesObject& held) { return vc::write_sized(held.view(), view); });
}

varve_status* varve_service_set_properties(varve_store* store, varve_text account, int32_t service,
                                           const varve_service_properties* change) {
  return vc::call_on<vc::StoreObject>(store, [&](const vc::StoreObject& held) -> varve::Status {
    const varve::Result<std::string_view> owner = vc::read_text(account, "account");
    if (!owner.ok()) return owner.status();
    const varve::Result<varve::StorageService> of = vc::read_service(service);
    if (!of.ok()) return of.status();
    const varve::Result<varve::ServicePropertiesChange> read = vc::read_change(change);
    if (!read.ok()) return read.status();
    return held.store->set_service_properties(*owner, *read, *of);
  });
}

void varve_properties_free(varve_properties* properties) {
  vc::free_handle(properties, vc::Kind::kProperties);
}
