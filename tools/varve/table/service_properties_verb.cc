#include "tools/varve/table/service_properties_verb.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/varve/session/named_table.h"
#include "tools/varve/session/words.h"
#include "tools/varve/terminal/outcome.h"
#include "tools/varve/terminal/terminal.h"

namespace varve::tool {

namespace {

using PropertiesJson = nlohmann::ordered_json;

constexpr const char* kNoProperty = "none";
/// The value of a number that the line does not have.
constexpr std::int64_t kNotGiven = -1;
constexpr std::size_t kPropertyColumns = 17;

/// The words for one kind of metrics.
struct MetricsWords {
  std::string level;
  std::int64_t days = kNotGiven;

  bool is_given() const noexcept { return !level.empty() || days != kNotGiven; }
};

/// The words for a new CORS rule.
struct CorsWords {
  std::string origins;
  std::string methods;
  std::string exposed;
  std::string headers;
  std::int64_t max_age = kNotGiven;
  bool clears = false;

  bool has_terms() const noexcept {
    return !methods.empty() || !exposed.empty() || !headers.empty() || max_age != kNotGiven;
  }
  bool is_given() const noexcept { return clears || !origins.empty(); }
};

struct PropertiesWords {
  Place place;
  std::string service;
  std::string log;
  std::int64_t log_days = kNotGiven;
  MetricsWords hour;
  MetricsWords minute;
  CorsWords cors;
  std::string default_version;
  bool json = false;

  bool has_log() const noexcept { return !log.empty() || log_days != kNotGiven; }
  bool changes() const noexcept {
    return has_log() || hour.is_given() || minute.is_given() || cors.is_given() || !default_version.empty();
  }
};

StorageService service_of(const PropertiesWords& words) noexcept {
  if (words.service == "queues") return StorageService::kQueues;
  return words.service == "blobs" ? StorageService::kBlobs : StorageService::kTables;
}

/// Returns the words between commas, without spaces around them.
std::vector<std::string> words_in(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view word = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    word = word.substr(0, word.find_last_not_of(' ') + 1);
    words.emplace_back(word);
  }
  return words;
}

std::string list_of_words(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ",") + word;
  return list.empty() ? "-" : list;
}

/// Returns which requests --log names, or nothing if it has another word.
std::optional<LoggingProperties> logged_requests(const std::string& list) {
  LoggingProperties logging;
  if (list == kNoProperty) return logging;
  for (const std::string& word : words_in(list)) {
    if (word == "read") {
      logging.read = true;
    } else if (word == "write") {
      logging.write = true;
    } else if (word == "delete") {
      logging.remove = true;
    } else {
      return std::nullopt;
    }
  }
  return logging;
}

/// Returns the mistake in the combination of the words, or an empty text.
std::string misuse_of_properties(const PropertiesWords& words) {
  if (!words.log.empty() && !logged_requests(words.log)) {
    return "--log takes read, write and delete, separated by commas, or none";
  }
  if (words.cors.origins.empty() && words.cors.has_terms()) {
    return "--cors-methods, --cors-max-age, --cors-headers and --cors-exposed need --cors-origins";
  }
  if (!words.cors.origins.empty() && words.cors.methods.empty()) return "--cors-origins needs --cors-methods";
  if (!words.default_version.empty() && service_of(words) != StorageService::kBlobs) {
    return "only the service of blobs has --default-version";
  }
  return "";
}

/// Returns a number that the line has. A larger one than the properties can hold becomes their largest, which is refused.
std::uint32_t property_number(std::int64_t given) noexcept {
  return static_cast<std::uint32_t>(std::min<std::int64_t>(given, UINT32_MAX));
}

void set_days(std::int64_t given, std::optional<std::uint32_t>& days) noexcept {
  if (given == kNotGiven) return;
  days = given == 0 ? std::nullopt : std::optional<std::uint32_t>(property_number(given));
}

LoggingProperties changed_logging(LoggingProperties logging, const PropertiesWords& words) {
  if (const std::optional<LoggingProperties> logged = logged_requests(words.log); logged && !words.log.empty()) {
    logging.read = logged->read;
    logging.write = logged->write;
    logging.remove = logged->remove;
  }
  set_days(words.log_days, logging.retention_days);
  return logging;
}

MetricsProperties changed_metrics(MetricsProperties metrics, const MetricsWords& words) {
  if (!words.level.empty()) {
    metrics.enabled = words.level != kNoProperty;
    metrics.include_apis = words.level == "operations";
  }
  set_days(words.days, metrics.retention_days);
  return metrics;
}

std::vector<CorsRule> changed_cors(std::vector<CorsRule> rules, const CorsWords& words) {
  if (words.clears) rules.clear();
  if (words.origins.empty()) return rules;
  CorsRule rule{words_in(words.origins), words_in(words.methods)};
  if (words.max_age != kNotGiven) rule.max_age_seconds = property_number(words.max_age);
  rule.exposed_headers = words_in(words.exposed);
  rule.allowed_headers = words_in(words.headers);
  rules.push_back(std::move(rule));
  return rules;
}

/// Returns the properties that the words name, with their new values.
ServicePropertiesChange change_of(const ServiceProperties& present, const PropertiesWords& words) {
  ServicePropertiesChange change;
  if (words.has_log()) change.logging = changed_logging(present.logging, words);
  if (words.hour.is_given()) change.hour_metrics = changed_metrics(present.hour_metrics, words.hour);
  if (words.minute.is_given()) change.minute_metrics = changed_metrics(present.minute_metrics, words.minute);
  if (words.cors.is_given()) change.cors_rules = changed_cors(present.cors_rules, words.cors);
  if (words.default_version == kNoProperty) {
    change.default_version = "";
  } else if (!words.default_version.empty()) {
    change.default_version = words.default_version;
  }
  return change;
}

// -- Output -----------------------------------------------------------------------------------------------------------

void print_property(std::string_view name, const std::string& value) {
  std::cout << name << std::string(kPropertyColumns - name.size(), ' ') << for_output(value) << "\n";
}

std::string days_text(const std::optional<std::uint32_t>& days) {
  return days ? std::to_string(*days) : "-";
}

std::string metrics_text(const MetricsProperties& metrics) {
  if (!metrics.enabled) return kNoProperty;
  return metrics.include_apis ? "operations" : "sums";
}

std::string logging_text(const LoggingProperties& logging) {
  std::vector<std::string> logged;
  if (logging.read) logged.emplace_back("read");
  if (logging.write) logged.emplace_back("write");
  if (logging.remove) logged.emplace_back("delete");
  return logged.empty() ? kNoProperty : list_of_words(logged);
}

void print_as_text(const ServiceProperties& properties, StorageService service) {
  print_property("log", logging_text(properties.logging));
  print_property("log days", days_text(properties.logging.retention_days));
  print_property("hour metrics", metrics_text(properties.hour_metrics));
  print_property("hour days", days_text(properties.hour_metrics.retention_days));
  print_property("minute metrics", metrics_text(properties.minute_metrics));
  print_property("minute days", days_text(properties.minute_metrics.retention_days));
  if (service == StorageService::kBlobs) {
    print_property("default version", properties.default_version.empty() ? kNoProperty : properties.default_version);
  }
  for (const CorsRule& rule : properties.cors_rules) {
    print_property(
        "cors", "origins " + list_of_words(rule.allowed_origins) + "; methods " + list_of_words(rule.allowed_methods) +
                    "; max-age " + std::to_string(rule.max_age_seconds) + "; headers " +
                    list_of_words(rule.allowed_headers) + "; exposed " + list_of_words(rule.exposed_headers));
  }
}

PropertiesJson json_of_days(const std::optional<std::uint32_t>& days) {
  return days ? PropertiesJson(*days) : PropertiesJson(nullptr);
}

PropertiesJson json_of_metrics(const MetricsProperties& metrics) {
  return {{"enabled", metrics.enabled},
          {"include_apis", metrics.include_apis},
          {"retention_days", json_of_days(metrics.retention_days)}};
}

void print_as_json(const ServiceProperties& properties, const PropertiesWords& words) {
  PropertiesJson json{{"account", words.place.account}, {"service", words.service}};
  json["logging"] = {{"read", properties.logging.read},
                     {"write", properties.logging.write},
                     {"delete", properties.logging.remove},
                     {"retention_days", json_of_days(properties.logging.retention_days)}};
  json["hour_metrics"] = json_of_metrics(properties.hour_metrics);
  json["minute_metrics"] = json_of_metrics(properties.minute_metrics);
  json["cors_rules"] = PropertiesJson::array();
  for (const CorsRule& rule : properties.cors_rules) {
    json["cors_rules"].push_back({{"allowed_origins", rule.allowed_origins},
                                  {"allowed_methods", rule.allowed_methods},
                                  {"max_age_seconds", rule.max_age_seconds},
                                  {"exposed_headers", rule.exposed_headers},
                                  {"allowed_headers", rule.allowed_headers}});
  }
  if (service_of(words) == StorageService::kBlobs) json["default_version"] = properties.default_version;
  std::cout << json.dump(-1, ' ', false, PropertiesJson::error_handler_t::replace) << "\n";
}

// -- The verb ---------------------------------------------------------------------------------------------------------

Result<std::unique_ptr<StoreAccess>> reach_service(const PropertiesWords& words) {
  const Place& place = words.place;
  if (is_address(place.store)) return access_to_address(place.store, place.account, service_of(words));
  return words.changes() ? reach_for_writing(place) : reach_briefly(place);
}

int print_properties(StoreAccess& access, const PropertiesWords& words) {
  const Result<ServiceProperties> properties = access.service_properties(words.place.account, service_of(words));
  if (!properties.ok()) return fail(with_nearest_names(access, words.place, properties.status()));
  if (words.json) {
    print_as_json(*properties, words);
  } else {
    print_as_text(*properties, service_of(words));
  }
  return kSuccess;
}

Status change_properties(StoreAccess& access, const PropertiesWords& words) {
  const std::string& account = words.place.account;
  const Result<ServiceProperties> present = access.service_properties(account, service_of(words));
  if (!present.ok()) return present.status();
  const ServicePropertiesChange change = change_of(*present, words);
  if (Status checked = check_service_properties(change); !checked.ok()) return checked;
  return access.set_service_properties(account, service_of(words), change);
}

int service_properties(const PropertiesWords& words) {
  if (const std::string misuse = misuse_of_properties(words); !misuse.empty()) return fail(kUsage, misuse);
  const Result<std::unique_ptr<StoreAccess>> access = reach_service(words);
  if (!access.ok()) return fail(access.status());
  if (!words.changes()) return print_properties(**access, words);
  if (const Status changed = change_properties(**access, words); !changed.ok()) {
    return fail(with_nearest_names(**access, words.place, changed));
  }
  if (const Status closed = (*access)->close(); !closed.ok()) return fail(closed);
  if (words.json) {
    std::cout << PropertiesJson{{"changed", true}, {"account", words.place.account}, {"service", words.service}}.dump()
              << "\n";
  }
  return kSuccess;
}

void add_metrics_words(CLI::App& verb, MetricsWords& words, const std::string& kind) {
  verb.add_option("--" + kind + "-metrics", words.level,
                  "Metrics by the " + kind + ": none, sums, or operations, which has a row for each operation too")
      ->check(CLI::IsMember({kNoProperty, "sums", "operations"}));
  verb.add_option("--" + kind + "-days", words.days, "Days to keep these metrics, up to 365; 0 keeps them all")
      ->check(whole_number(0));
}

void add_cors_words(CLI::App& verb, CorsWords& words) {
  verb.add_option("--cors-origins", words.origins,
                  "Add a CORS rule for pages of these origins, separated by commas; * is every origin");
  verb.add_option("--cors-methods", words.methods, "The methods of the new rule, such as GET,PUT");
  verb.add_option("--cors-max-age", words.max_age,
                  "Seconds for which a browser may keep the answer to a preflight request; 0 if absent")
      ->check(whole_number(0));
  verb.add_option("--cors-headers", words.headers, "The headers that a request may have, such as x-ms-*");
  verb.add_option("--cors-exposed", words.exposed, "The headers of an answer that a page may read");
  verb.add_flag("--cors-clear", words.clears, "Remove the present CORS rules");
}

}  // namespace

void add_service_properties_verb(CLI::App& group, int& exit_code) {
  auto words = std::make_shared<PropertiesWords>();
  CLI::App* verb =
      group.add_subcommand("properties", "Print or change the properties of a service: logs, metrics, CORS rules");
  verb->footer(
      "The server of the store follows the properties: it writes the logs and the metrics of the account, and answers "
      "browsers. What a line does not name stays. At an address, STORE is the address of the service itself.\n"
      "\nExamples\n"
      "  varve account properties ./shop blobs\n"
      "  varve account properties ./shop tables --log write,delete --log-days 30\n"
      "  varve account properties ./shop tables --hour-metrics operations --hour-days 7\n"
      "  varve account properties ./shop blobs --cors-origins https://shop.example \\\n"
      "    --cors-methods GET,PUT --cors-max-age 60");
  add_reach_words(*verb, words->place);
  verb->add_option("SERVICE", words->service, "The service of the account: tables, queues or blobs")
      ->required()
      ->check(CLI::IsMember({"tables", "queues", "blobs"}));
  verb->add_option("--account", words->place.account, "Account that the service belongs to")
      ->capture_default_str()
      ->group("Place");
  verb->add_option("--log", words->log, "The requests to log: read, write and delete, separated by commas, or none");
  verb->add_option("--log-days", words->log_days, "Days to keep logs, up to 365; 0 keeps them all")
      ->check(whole_number(0));
  add_metrics_words(*verb, words->hour, "hour");
  add_metrics_words(*verb, words->minute, "minute");
  add_cors_words(*verb, words->cors);
  verb->add_option("--default-version", words->default_version,
                   "For blobs: the protocol version of anonymous requests that name none, YYYY-MM-DD, or none");
  add_json_words(*verb, words->json, "Print JSON");
  verb->callback([words, &exit_code] { exit_code = service_properties(*words); });
}

}  // namespace varve::tool
