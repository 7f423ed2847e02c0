#include "api/rest/encoding/service_properties_xml.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "api/model/service_error.h"
#include "api/rest/encoding/xml_elements.h"
#include "api/rest/encoding/xml_reader.h"
#include "api/rest/protocol/message.h"
#include "api/rest/protocol/request_rules.h"
#include "api/rest/protocol/wire_error.h"
#include "varve/limits.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

constexpr const char* kPropertiesRoot = "StorageServiceProperties";
constexpr std::string_view kPropertiesVersion = "1.0";
constexpr const char* kDefaultServiceVersion = "DefaultServiceVersion";
constexpr const char* kDeleteRetention = "DeleteRetentionPolicy";
constexpr const char* kStaticWebsite = "StaticWebsite";

/// Reads the values of one element's children, and keeps the first error. After an error, the returned values have no
/// meaning.
class ElementReader {
 public:
  ElementReader(const XmlDocument::Element& node, std::initializer_list<std::string_view> children) : node_(node) {
    if (!node.has_only_elements(children)) {
      fail(service_error::invalid_xml_document(name() + " contains text or an unknown element"));
    }
  }

  bool has(std::string_view child) const { return node_.has(child); }

  std::string text(std::string_view child) {
    Result<std::optional<std::string>> found = node_.text_of(child);
    if (!found.ok()) fail(found.status());
    if (found.ok() && *found) return **std::move(found);
    if (found.ok()) fail(service_error::invalid_xml_document(name() + " needs the element " + std::string(child)));
    return {};
  }

  void version() {
    if (text("Version") != kPropertiesVersion) fail_value("Version");
  }

  /// Reads a Boolean. Letters have either case, and white space may surround them.
  bool flag(std::string_view child) {
    constexpr std::string_view kSpace = " \t\r\n";
    std::string written = lower_case(text(child));
    written.erase(0, written.find_first_not_of(kSpace));
    written.resize(written.find_last_not_of(kSpace) + 1);
    if (written != "true" && written != "false") fail_value(child);
    return written == "true";
  }

  /// Reads a number. A number too large for the type becomes the largest one, which no field allows.
  std::uint32_t number(std::string_view child) {
    const std::string written = text(child);
    std::uint32_t value = 0;
    const char* const end = written.data() + written.size();
    const auto [stopped, error] = std::from_chars(written.data(), end, value);
    if (error == std::errc::result_out_of_range && stopped == end) return UINT32_MAX;
    if (written.empty() || stopped != end || error != std::errc()) fail_value(child);
    return value;
  }

  /// Reads a list. Spaces around commas are skipped. Stops after the first word above the limits of the rules.
  std::vector<std::string> list(std::string_view child) {
    const std::string written = text(child);
    std::vector<std::string> words;
    std::size_t bytes = 0;
    std::string_view rest = trimmed(written);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      const std::string_view word = trimmed(rest.substr(0, end));
      bytes += word.size() + (words.empty() ? 0 : 1);
      if (bytes > limits::kCorsBytesMax) {
        fail(service_error::invalid_xml_document("the CORS rules have more than 2 KiB; at most 2 KiB are allowed"));
        return words;
      }
      words.emplace_back(word);
      if (end + 1 == rest.size()) words.emplace_back();  // An empty word follows the last comma.
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return words;
  }

  /// Reads a retention policy. Days must be present if, and only if, the retention is enabled (P-02).
  std::optional<std::uint32_t> retention() {
    const Result<XmlDocument::Element> policy = node_.find("RetentionPolicy");
    if (!policy.ok()) fail(policy.status());
    if (policy.ok() && !*policy)
      fail(service_error::invalid_xml_document(name() + " needs the element RetentionPolicy"));
    if (!status_.ok()) return std::nullopt;
    ElementReader reader(*policy, {"Enabled", "Days"});
    std::optional<std::uint32_t> days;
    if (reader.flag("Enabled")) {
      days = reader.number("Days");
    } else if (reader.has("Days")) {
      reader.fail(service_error::invalid_xml_document("Days requires a RetentionPolicy that is enabled"));
    }
    fail(reader.status());
    return days;
  }

  void fail(const Status& fault) {
    if (status_.ok()) status_ = fault;
  }
  const Status& status() const noexcept { return status_; }

 private:
  std::string name() const { return node_.name(); }
  void fail_value(std::string_view child) {
    fail(
        service_error::invalid_xml_node_value(name() + " has a value of " + std::string(child) + " that is not valid"));
  }

  XmlDocument::Element node_;
  Status status_;
};

Result<LoggingProperties> read_logging(const XmlDocument::Element& node) {
  ElementReader reader(node, {"Version", "Read", "Write", "Delete", "RetentionPolicy"});
  reader.version();
  LoggingProperties logging;
  logging.read = reader.flag("Read");
  logging.write = reader.flag("Write");
  logging.remove = reader.flag("Delete");
  logging.retention_days = reader.retention();
  if (!reader.status().ok()) return reader.status();
  return logging;
}

/// Reads metrics. IncludeAPIs must be present if, and only if, the metrics are enabled (P-02).
Result<MetricsProperties> read_metrics(const XmlDocument::Element& node) {
  ElementReader reader(node, {"Version", "Enabled", "IncludeAPIs", "RetentionPolicy"});
  reader.version();
  MetricsProperties metrics;
  metrics.enabled = reader.flag("Enabled");
  if (metrics.enabled) {
    metrics.include_apis = reader.flag("IncludeAPIs");
  } else if (reader.has("IncludeAPIs")) {
    reader.fail(service_error::invalid_xml_document("IncludeAPIs requires metrics that are enabled"));
  }
  metrics.retention_days = reader.retention();
  if (!reader.status().ok()) return reader.status();
  return metrics;
}

Result<CorsRule> read_cors_rule(const XmlDocument::Element& node) {
  ElementReader reader(node,
                       {"AllowedOrigins", "AllowedMethods", "MaxAgeInSeconds", "ExposedHeaders", "AllowedHeaders"});
  CorsRule rule;
  rule.allowed_origins = reader.list("AllowedOrigins");
  rule.allowed_methods = reader.list("AllowedMethods");
  rule.max_age_seconds = reader.number("MaxAgeInSeconds");
  rule.exposed_headers = reader.list("ExposedHeaders");
  rule.allowed_headers = reader.list("AllowedHeaders");
  if (!reader.status().ok()) return reader.status();
  return rule;
}

Result<std::vector<CorsRule>> read_cors_rules(const XmlDocument::Element& node) {
  if (!node.has_only_elements({"CorsRule"})) {
    return service_error::invalid_xml_document("Cors may contain only CorsRule");
  }
  std::vector<CorsRule> rules;
  for (XmlDocument::Element child = node.first_child(); child; child = child.next_sibling()) {
    if (rules.size() == limits::kCorsRulesMax) {
      return service_error::invalid_xml_document("at most 5 CORS rules are allowed");
    }
    Result<CorsRule> rule = read_cors_rule(child);
    if (!rule.ok()) return rule.status();
    rules.push_back(*std::move(rule));
  }
  return rules;
}

/// Reads an element that switches on a feature that this server does not have. Returns whether the root has it.
Result<bool> read_idle_part(const XmlDocument::Element& root, std::string_view name,
                            std::initializer_list<std::string_view> children, std::string_view feature) {
  const Result<XmlDocument::Element> node = root.find(name);
  if (!node.ok()) return node.status();
  if (!*node) return false;
  ElementReader reader(*node, children);
  const bool is_enabled = reader.flag("Enabled");
  if (!reader.status().ok()) return reader.status();
  if (is_enabled) return service_error::not_implemented(std::string(feature) + " is not supported");
  return true;
}

/// Reads the elements that only the blob service has. Returns whether there was one. Source: BQ-01.
Result<bool> read_blob_parts(const XmlDocument::Element& root, ServicePropertiesChange& change) {
  const Result<bool> deletes =
      read_idle_part(root, kDeleteRetention, {"Enabled", "Days", "AllowPermanentDelete"}, "soft delete");
  if (!deletes.ok()) return deletes;
  const Result<bool> website = read_idle_part(
      root, kStaticWebsite, {"Enabled", "IndexDocument", "DefaultIndexDocumentPath", "ErrorDocument404Path"},
      "a static website");
  if (!website.ok()) return website;
  Result<std::optional<std::string>> version = root.text_of(kDefaultServiceVersion);
  if (!version.ok()) return version.status();
  if (*version && !(*version)->empty() && !is_protocol_version(**version)) {
    return service_error::invalid_xml_node_value("DefaultServiceVersion must be a date from 2009-09-19 on");
  }
  change.default_version = *std::move(version);
  return *deletes || *website || change.default_version.has_value();
}

/// Returns whether the root has no other elements than those of the service under the protocol version.
bool is_understood(const XmlDocument::Element& root, bool knows_cors, bool is_of_blobs) {
  if (!knows_cors) return root.has_only_elements({"Logging", "HourMetrics"});
  if (!is_of_blobs) return root.has_only_elements({"Logging", "HourMetrics", "MinuteMetrics", "Cors"});
  return root.has_only_elements(
      {"Logging", "HourMetrics", "MinuteMetrics", "Cors", kDefaultServiceVersion, kDeleteRetention, kStaticWebsite});
}

/// Reads an element of the root, if the root contains it.
template <typename Value>
Status read_part(const XmlDocument::Element& root, std::string_view name,
                 Result<Value> (*read)(const XmlDocument::Element&), std::optional<Value>& part) {
  const Result<XmlDocument::Element> node = root.find(name);
  if (!node.ok()) return node.status();
  if (!*node) return Status();
  Result<Value> value = read(*node);
  if (!value.ok()) return value.status();
  part = *std::move(value);
  return Status();
}

void write_retention(pugi::xml_node& parent, const std::optional<std::uint32_t>& days) {
  pugi::xml_node policy = parent.append_child("RetentionPolicy");
  add_element(policy, "Enabled", days ? "true" : "false");
  if (days) add_element(policy, "Days", std::to_string(*days));
}

void write_flag(pugi::xml_node& parent, const char* name, bool value) {
  add_element(parent, name, value ? "true" : "false");
}

void write_logging(pugi::xml_node& root, const LoggingProperties& logging) {
  pugi::xml_node node = root.append_child("Logging");
  add_element(node, "Version", std::string(kPropertiesVersion));
  write_flag(node, "Read", logging.read);
  write_flag(node, "Write", logging.write);
  write_flag(node, "Delete", logging.remove);
  write_retention(node, logging.retention_days);
}

void write_metrics(pugi::xml_node& root, const char* name, const MetricsProperties& metrics) {
  pugi::xml_node node = root.append_child(name);
  add_element(node, "Version", std::string(kPropertiesVersion));
  write_flag(node, "Enabled", metrics.enabled);
  if (metrics.enabled) write_flag(node, "IncludeAPIs", metrics.include_apis);
  write_retention(node, metrics.retention_days);
}

void write_list(pugi::xml_node& parent, const char* name, const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : ",").append(word);
  add_element(parent, name, text);
}

void write_cors_rule(pugi::xml_node& cors, const CorsRule& rule) {
  pugi::xml_node node = cors.append_child("CorsRule");
  write_list(node, "AllowedOrigins", rule.allowed_origins);
  write_list(node, "AllowedMethods", rule.allowed_methods);
  add_element(node, "MaxAgeInSeconds", std::to_string(rule.max_age_seconds));
  write_list(node, "ExposedHeaders", rule.exposed_headers);
  write_list(node, "AllowedHeaders", rule.allowed_headers);
}

void write_cors_rules(pugi::xml_node& root, const std::vector<CorsRule>& rules) {
  pugi::xml_node cors = root.append_child("Cors");
  for (const CorsRule& rule : rules) write_cors_rule(cors, rule);
}

}  // namespace

Result<ServicePropertiesChange> read_service_properties(std::string_view body, bool knows_cors,
                                                        StorageService service) {
  const Result<XmlDocument> document = XmlDocument::read(body, kPropertiesRoot);
  if (!document.ok()) return document.status();
  const XmlDocument::Element root = document->root();
  ServicePropertiesChange change;
  Status read = read_part(root, "Logging", read_logging, change.logging);
  if (read.ok()) read = read_part(root, "HourMetrics", read_metrics, change.hour_metrics);
  if (read.ok() && knows_cors) read = read_part(root, "MinuteMetrics", read_metrics, change.minute_metrics);
  if (read.ok() && knows_cors) read = read_part(root, "Cors", read_cors_rules, change.cors_rules);
  if (!read.ok()) return read;
  const bool is_of_blobs = service == StorageService::kBlobs;
  Result<bool> has_more = false;
  if (knows_cors && is_of_blobs) has_more = read_blob_parts(root, change);
  if (!has_more.ok()) return has_more.status();
  if (!*has_more && change == ServicePropertiesChange()) {
    return service_error::invalid_xml_document("the body contains no service properties");
  }
  if (!is_understood(root, knows_cors, is_of_blobs))
    return refused("UnsupportedXmlNode", "the body contains unknown service properties");
  return change;
}

std::string write_service_properties(const ServiceProperties& properties, bool knows_cors, StorageService service) {
  pugi::xml_document document;
  pugi::xml_node root = begin_xml(document, kPropertiesRoot);
  write_logging(root, properties.logging);
  write_metrics(root, "HourMetrics", properties.hour_metrics);
  if (knows_cors) {
    write_metrics(root, "MinuteMetrics", properties.minute_metrics);
    write_cors_rules(root, properties.cors_rules);
  }
  if (knows_cors && service == StorageService::kBlobs) {
    if (!properties.default_version.empty()) {
      add_element(root, kDefaultServiceVersion, properties.default_version);
    }
    for (const char* const idle : {kDeleteRetention, kStaticWebsite}) {
      pugi::xml_node node = root.append_child(idle);
      write_flag(node, "Enabled", false);
    }
  }
  return xml_text(document);
}

std::string write_properties_change(const ServicePropertiesChange& change) {
  pugi::xml_document document;
  pugi::xml_node root = begin_xml(document, kPropertiesRoot);
  if (change.logging) write_logging(root, *change.logging);
  if (change.hour_metrics) write_metrics(root, "HourMetrics", *change.hour_metrics);
  if (change.minute_metrics) write_metrics(root, "MinuteMetrics", *change.minute_metrics);
  if (change.cors_rules) write_cors_rules(root, *change.cors_rules);
  if (change.default_version) add_element(root, kDefaultServiceVersion, *change.default_version);
  return xml_text(document);
}

}  // namespace varve::serve
