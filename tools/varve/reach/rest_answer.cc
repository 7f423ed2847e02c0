#include "tools/varve/reach/rest_answer.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>

#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "api/rest/encoding/service_properties_xml.h"
#include "api/rest/encoding/xml_elements.h"
#include "api/rest/protocol/operator_error.h"
#include "tools/varve/rows/json_row.h"

namespace varve::tool {
namespace {

using Json = nlohmann::ordered_json;
using serve::find_header;
using serve::HttpResponse;

/// Returns the name of an equal text that lives as long as the process. A service has about a hundred error strings. If a
/// server sends more, the others become empty.
ErrorName kept_name(std::string_view text) {
  constexpr std::size_t kTextsMax = 1000;
  static std::mutex mutex;
  static std::set<std::string, std::less<>> texts;  // no text is ever removed
  const std::lock_guard lock(mutex);
  const auto known = texts.find(text);
  if (known != texts.end()) return ErrorName::of_text_that_never_ends(*known);
  if (texts.size() >= kTextsMax) return ErrorName();
  return ErrorName::of_text_that_never_ends(*texts.emplace(text).first);
}

Status malformed(std::string_view what) {
  return Status::io_error("the answer of the server is not as expected: " + std::string(what));
}

Code code_of(std::uint16_t status) {
  switch (status) {
    case 401:
    case 403: return Code::kForbidden;
    case 404: return Code::kNotFound;
    case 409: return Code::kExists;
    case 412: return Code::kPreconditionFailed;
    case 413: return Code::kTooLarge;
    case 501: return Code::kUnsupported;
    case 503: return Code::kBusy;
    default: return status >= 500 ? Code::kUnknown : Code::kInvalidArgument;
  }
}

/// Returns the message of an error in XML, or an empty text.
std::string message_of_xml(const std::string& body) {
  pugi::xml_document document;
  if (!document.load_buffer(body.data(), body.size())) return "";
  return document.child("Error").child_value("Message");
}

/// Returns the message of an error body, or the body's beginning if it is no error of the service.
std::string message_of(const std::string& body) {
  constexpr std::size_t kShownMax = 200;
  const Json json = Json::parse(body, nullptr, false);
  const auto text_at = [&json](const char* pointer) {
    const Json::json_pointer place(pointer);
    return json.contains(place) && json[place].is_string() ? json[place].get<std::string>() : std::string();
  };
  std::string message = json.is_object() ? text_at("/odata.error/message/value") : message_of_xml(body);
  if (message.empty() && !json.is_object()) return body.substr(0, kShownMax);
  if (message.empty()) message = text_at("/message");
  return message.substr(0, message.find('\n'));  // the next lines are the request's id and time
}

/// Returns the text of a member, or nothing if it is absent or no text.
std::optional<std::string> text_member(const Json& object, const char* name) {
  const auto member = object.find(name);
  if (member == object.end() || !member->is_string()) return std::nullopt;
  return member->get<std::string>();
}

Result<Entity> entity_of_json(const Json& json) {
  if (!json.is_object()) return malformed("an entity is no JSON object");
  JsonRowFault fault;
  Result<Entity> entity = entity_from_json(json.dump(), RowShape(), RowOrigin(), fault);
  if (!entity.ok()) return malformed(entity.status().message());
  const std::optional<std::string> etag = text_member(json, "odata.etag");
  if (!etag) return entity;
  const Result<ETag> parsed = ETag::parse(*etag);
  if (!parsed.ok()) return malformed(parsed.status().message());
  (*entity).set_etag(*parsed);
  return entity;
}

/// Returns the list in the member `value` of an answer.
Result<Json> list_of(const HttpResponse& response) {
  Json json = Json::parse(response.body, nullptr, false);
  if (!json.is_object() || !json.contains("value") || !json["value"].is_array()) return malformed("it has no list");
  return Json(std::move(json["value"]));
}

std::optional<IndexState> state_of_name(std::string_view name) {
  if (name == "building") return IndexState::kBuilding;
  if (name == "ready") return IndexState::kReady;
  if (name == "failed") return IndexState::kFailed;
  return std::nullopt;
}

/// Calls `take` with each element of a list whose elements are separated by commas.
template <typename Take>
void for_each_element(std::string_view list, Take take) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    take(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

/// Returns nothing if the object is no index.
std::optional<ServedIndex> index_of_json(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const std::optional<std::string> name = text_member(json, "Name");
  const std::optional<std::string> components = text_member(json, "Components");
  const std::optional<IndexState> state = state_of_name(text_member(json, "State").value_or(""));
  if (!name || !components || !state) return std::nullopt;
  ServedIndex index;
  index.info.state = *state;
  index.info.failure = text_member(json, "Failure").value_or("");
  IndexDefinition& definition = index.info.definition;
  definition.name = *name;
  definition.is_unique = json.contains("Unique") && json["Unique"] == true;
  for_each_element(*components, [&](std::string_view element) {
    const std::string_view property = element.substr(0, element.find(' '));
    definition.components.push_back({std::string(property), element.ends_with(" desc")});
  });
  for_each_element(text_member(json, "Carried").value_or(""),
                   [&](std::string_view element) { definition.carried.emplace_back(element); });
  const auto read = json.find("EntitiesRead");
  const auto written = json.find("EntriesWritten");
  if (read != json.end() && read->is_number_unsigned() && written != json.end() && written->is_number_unsigned()) {
    index.build = IndexBuildProgress{read->get<std::uint64_t>(), written->get<std::uint64_t>()};
  }
  return index;
}

/// Returns whether a service of Varve has the property of this element.
bool has_property(StorageService service, std::string_view element) noexcept {
  if (element == "DefaultServiceVersion") return service == StorageService::kBlobs;
  return element == "Logging" || element == "HourMetrics" || element == "MinuteMetrics" || element == "Cors";
}

std::string_view line_of(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

Status status_of(const HttpResponse& response) {
  if (response.status >= 200 && response.status < 300) return Status();
  if (std::optional<Status> whole = serve::read_operator_error(response.headers, &kept_name)) return *std::move(whole);
  std::string message = message_of(response.body);
  const std::string* const error = find_header(response.headers, "x-ms-error-code");
  if (message.empty()) message = "the server answered HTTP " + std::to_string(response.status);
  const Status status(code_of(response.status), message);
  return error == nullptr ? status : status.with_service_error(kept_name(*error));
}

Result<ETag> etag_of(const HttpResponse& response) {
  if (Status done = status_of(response); !done.ok()) return done;
  const std::string* const text = find_header(response.headers, "etag");
  if (text == nullptr) return ETag();
  return ETag::parse(*text);
}

Result<Entity> entity_of_answer(std::string_view body) {
  return entity_of_json(Json::parse(body, nullptr, false));
}

Result<Page> page_of_answer(const HttpResponse& response) {
  const Result<Json> list = list_of(response);
  if (!list.ok()) return list.status();
  Page page;
  page.entities.reserve((*list).size());
  for (const Json& json : *list) {
    Result<Entity> entity = entity_of_json(json);
    if (!entity.ok()) return entity.status();
    page.entities.push_back(*std::move(entity));
  }
  const std::string* const partition = find_header(response.headers, "x-ms-continuation-NextPartitionKey");
  const std::string* const row = find_header(response.headers, "x-ms-continuation-NextRowKey");
  if (partition != nullptr) page.continuation = *partition + (row == nullptr ? std::string() : " " + *row);
  return page;
}

Result<TablePage> tables_of_answer(const HttpResponse& response) {
  const Result<Json> list = list_of(response);
  if (!list.ok()) return list.status();
  TablePage page;
  for (const Json& json : *list) {
    const std::optional<std::string> name = json.is_object() ? text_member(json, "TableName") : std::nullopt;
    if (!name) return malformed("a table has no name");
    page.tables.push_back({*name, DateTime()});
  }
  const std::string* const next = find_header(response.headers, "x-ms-continuation-NextTableName");
  if (next != nullptr) page.continuation = *next;
  return page;
}

Result<std::vector<ServedIndex>> indexes_of_answer(const HttpResponse& response) {
  const Result<Json> list = list_of(response);
  if (!list.ok()) return list.status();
  std::vector<ServedIndex> indexes;
  for (const Json& json : *list) {
    std::optional<ServedIndex> index = index_of_json(json);
    if (!index) return malformed("an index has no name, no components or no state");
    indexes.push_back(*std::move(index));
  }
  return indexes;
}

Result<ServiceProperties> properties_of_answer(const HttpResponse& response, StorageService service) {
  pugi::xml_document document;
  if (!document.load_buffer(response.body.data(), response.body.size())) return malformed("it is no XML");
  pugi::xml_node root = document.child("StorageServiceProperties");
  for (pugi::xml_node node = root.first_child(); node;) {
    const pugi::xml_node next = node.next_sibling();
    if (!has_property(service, node.name())) root.remove_child(node);
    node = next;
  }
  Result<ServicePropertiesChange> read = serve::read_service_properties(serve::xml_text(document), true, service);
  if (!read.ok()) return malformed(read.status().message());
  ServiceProperties properties;
  if (read->logging) properties.logging = *read->logging;
  if (read->hour_metrics) properties.hour_metrics = *read->hour_metrics;
  if (read->minute_metrics) properties.minute_metrics = *read->minute_metrics;
  if (read->cors_rules) properties.cors_rules = *std::move(read->cors_rules);
  if (read->default_version) properties.default_version = *std::move(read->default_version);
  return properties;
}

Result<std::vector<HttpResponse>> parts_of_answer(const HttpResponse& response) {
  constexpr std::string_view kStatusLine = "HTTP/1.1 ";
  std::vector<HttpResponse> parts;
  std::string_view rest = response.body;
  while (!rest.empty()) {
    const std::string_view line = line_of(rest);
    if (!line.starts_with(kStatusLine)) continue;
    HttpResponse part;
    const char* const number = line.data() + kStatusLine.size();
    const auto [stopped, error] = std::from_chars(number, line.data() + line.size(), part.status);
    if (error != std::errc() || stopped != number + 3) return malformed("a part has no status");
    for (std::string_view header = line_of(rest); !header.empty(); header = line_of(rest)) {
      const std::size_t colon = std::min(header.find(':'), header.size() - 1);
      part.with(header.substr(0, colon), serve::trimmed(header.substr(colon + 1)));
    }
    std::string_view body = rest;
    part.body = std::string(line_of(body));
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace varve::tool
