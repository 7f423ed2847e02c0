#include "tools/serve/service_properties_xml.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "api/service_error.h"
#include "tools/serve/message.h"
#include "tools/serve/wire_error.h"
#include "tools/serve/xml_elements.h"

namespace varve::serve {
namespace {

constexpr const char* kPropertiesRoot = "StorageServiceProperties";
constexpr std::string_view kPropertiesVersion = "1.0";

/// Takes the values of one element's children, and keeps the first fault; after it, values mean nothing.
class ElementReader {
 public:
  /// Reads nothing, and so finds no fault, where there is no such element.
  ElementReader(const pugi::xml_node& node, std::initializer_list<std::string_view> children) : node_(node) {
    if (!has_only_elements(node, children)) {
      fail(service_error::invalid_xml_document(name() + " holds an unknown element"));
    }
  }

  bool has(const char* child) const { return static_cast<bool>(node_.child(child)); }

  std::string text(const char* child) {
    Result<std::optional<std::string>> found = element_text(node_, child);
    if (!found.ok()) fail(found.status());
    if (found.ok() && *found) return **std::move(found);
    if (found.ok()) fail(service_error::invalid_xml_document(name() + " lacks its " + child));
    return {};
  }

  void version() {
    if (text("Version") != kPropertiesVersion) fail_value("Version");
  }

  bool flag(const char* child) {
    const std::string written = text(child);
    if (written != "true" && written != "false") fail_value(child);
    return written == "true";
  }

  std::uint32_t number(const char* child) {
    const std::string written = text(child);
    std::uint32_t value = 0;
    const char* const end = written.data() + written.size();
    const auto [stopped, error] = std::from_chars(written.data(), end, value);
    if (written.empty() || stopped != end || error != std::errc()) fail_value(child);
    return value;
  }

  /// Spaces around commas are passed over.
  std::vector<std::string> list(const char* child) {
    const std::string written = text(child);
    std::vector<std::string> words;
    std::string_view rest = trimmed(written);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      words.emplace_back(trimmed(rest.substr(0, end)));
      if (end + 1 == rest.size()) words.emplace_back();  // Behind the last comma stands an empty word.
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return words;
  }

  /// Days stand there if, and only if, the retention is enabled (P-02).
  std::optional<std::uint32_t> retention() {
    const Result<pugi::xml_node> policy = find_element(node_, "RetentionPolicy");
    if (!policy.ok()) fail(policy.status());
    if (policy.ok() && !*policy) fail(service_error::invalid_xml_document(name() + " lacks its RetentionPolicy"));
    if (!status_.ok()) return std::nullopt;
    ElementReader reader(*policy, {"Enabled", "Days"});
    std::optional<std::uint32_t> days;
    if (reader.flag("Enabled")) {
      days = reader.number("Days");
    } else if (reader.has("Days")) {
      reader.fail(service_error::invalid_xml_document("a retention that is not enabled has days"));
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
  void fail_value(const char* child) {
    fail(service_error::invalid_xml_node_value(name() + " has a " + child + " that is none"));
  }

  pugi::xml_node node_;
  Status status_;
};

Result<LoggingProperties> read_logging(const pugi::xml_node& node) {
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

/// IncludeAPIs stands there if, and only if, the metrics are enabled (P-02).
Result<MetricsProperties> read_metrics(const pugi::xml_node& node) {
  ElementReader reader(node, {"Version", "Enabled", "IncludeAPIs", "RetentionPolicy"});
  reader.version();
  MetricsProperties metrics;
  metrics.enabled = reader.flag("Enabled");
  if (metrics.enabled) {
    metrics.include_apis = reader.flag("IncludeAPIs");
  } else if (reader.has("IncludeAPIs")) {
    reader.fail(service_error::invalid_xml_document("metrics that are not enabled include APIs"));
  }
  metrics.retention_days = reader.retention();
  if (!reader.status().ok()) return reader.status();
  return metrics;
}

Result<CorsRule> read_cors_rule(const pugi::xml_node& node) {
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

Result<std::vector<CorsRule>> read_cors_rules(const pugi::xml_node& node) {
  if (!has_only_elements(node, {"CorsRule"})) {
    return service_error::invalid_xml_document("Cors holds other elements than rules");
  }
  std::vector<CorsRule> rules;
  for (const pugi::xml_node& child : node.children("CorsRule")) {
    Result<CorsRule> rule = read_cors_rule(child);
    if (!rule.ok()) return rule.status();
    rules.push_back(*std::move(rule));
  }
  return rules;
}

/// Reads an element of the root, if it is there.
template <typename Value>
Status read_part(const pugi::xml_node& root, const char* name, Result<Value> (*read)(const pugi::xml_node&),
                 std::optional<Value>& part) {
  const Result<pugi::xml_node> node = find_element(root, name);
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

}  // namespace

Result<ServicePropertiesChange> read_service_properties(std::string_view body, bool knows_cors) {
  pugi::xml_document document;
  const Result<pugi::xml_node> root = read_xml_root(document, body, kPropertiesRoot);
  if (!root.ok()) return root.status();
  ServicePropertiesChange change;
  Status read = read_part(*root, "Logging", read_logging, change.logging);
  if (read.ok()) read = read_part(*root, "HourMetrics", read_metrics, change.hour_metrics);
  if (read.ok() && knows_cors) read = read_part(*root, "MinuteMetrics", read_metrics, change.minute_metrics);
  if (read.ok() && knows_cors) read = read_part(*root, "Cors", read_cors_rules, change.cors_rules);
  if (!read.ok()) return read;
  if (change == ServicePropertiesChange()) {
    return service_error::invalid_xml_document("the body holds no service properties");
  }
  const bool is_understood = knows_cors ? has_only_elements(*root, {"Logging", "HourMetrics", "MinuteMetrics", "Cors"})
                                        : has_only_elements(*root, {"Logging", "HourMetrics"});
  if (!is_understood) return refused("UnsupportedXmlNode", "the body holds unknown service properties");
  return change;
}

std::string write_service_properties(const ServiceProperties& properties, bool knows_cors) {
  pugi::xml_document document;
  pugi::xml_node root = begin_xml(document, kPropertiesRoot);
  write_logging(root, properties.logging);
  write_metrics(root, "HourMetrics", properties.hour_metrics);
  if (knows_cors) {
    write_metrics(root, "MinuteMetrics", properties.minute_metrics);
    pugi::xml_node cors = root.append_child("Cors");
    for (const CorsRule& rule : properties.cors_rules) write_cors_rule(cors, rule);
  }
  return xml_text(document);
}

}  // namespace varve::serve
