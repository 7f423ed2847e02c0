#include "api/rest/encoding/index_json.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/model/quoted.h"
#include "api/model/service_error.h"
#include "api/rest/encoding/json_members.h"
#include "api/rest/encoding/json_text.h"
#include "api/rest/protocol/message.h"
#include "api/rest/protocol/wire_error.h"
#include "format/keys/index_key.h"

namespace varve::serve {
namespace {

constexpr std::size_t kIndexMembersMax = 8;

/// Removes and returns the text up to the next comma, without spaces around it.
std::string_view take_element(std::string_view& list) {
  const std::size_t comma = std::min(list.find(','), list.size());
  const std::string_view element = trimmed(list.substr(0, comma));
  list.remove_prefix(std::min(comma + 1, list.size()));
  return element;
}

Result<IndexComponent> component_of_text(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(' '));
  const std::string_view direction = trimmed(text.substr(name.size()));
  const bool is_direction = direction.empty() || direction == "asc" || direction == "desc";
  if (is_direction && name.find(':') == std::string_view::npos) {
    return IndexComponent{std::string(name), direction == "desc"};
  }
  return service_error::invalid_input("the component " + quoted(text) +
                                      " must be a property, perhaps with a space and asc or desc after it");
}

Status add_member(const JsonMember& member, IndexDefinition& definition) {
  const bool is_text = member.kind == JsonKind::kText;
  std::string_view rest = member.text;
  if (member.name == "Name" && is_text) {
    definition.name = member.text;
  } else if (member.name == "Components" && is_text) {
    while (!rest.empty()) {
      Result<IndexComponent> component = component_of_text(take_element(rest));
      if (!component.ok()) return component.status();
      if (definition.components.size() == format::kIndexComponentsMax) {
        return service_error::invalid_input("Components has more than " + std::to_string(format::kIndexComponentsMax) +
                                            " names");
      }
      definition.components.push_back(*std::move(component));
    }
  } else if (member.name == "Carried" && is_text) {
    while (!rest.empty()) {
      if (definition.carried.size() == format::kIndexCarriedMax) {
        return service_error::invalid_input("Carried has more than " + std::to_string(format::kIndexCarriedMax) +
                                            " names");
      }
      definition.carried.emplace_back(take_element(rest));
    }
  } else if (member.name == "Unique" && (member.kind == JsonKind::kTrue || member.kind == JsonKind::kFalse)) {
    definition.is_unique = member.kind == JsonKind::kTrue;
  } else {
    return service_error::invalid_input(
        "an index has the texts Name, Components and Carried, and Unique, which is true or false; the body has " +
        quoted(member.name));
  }
  return Status();
}

std::string_view name_of_state(IndexState state) noexcept {
  switch (state) {
    case IndexState::kBuilding: return "building";
    case IndexState::kReady: return "ready";
    case IndexState::kFailed: return "failed";
  }
  return "unknown";
}

void write_one_index(JsonText& json, const ShownIndex& index) {
  const IndexDefinition& definition = index.info.definition;
  std::string components;
  for (const IndexComponent& component : definition.components) {
    if (!components.empty()) components.push_back(',');
    components.append(component.property).append(component.is_descending ? " desc" : "");
  }
  std::string carried;
  for (const std::string& name : definition.carried) {
    if (!carried.empty()) carried.push_back(',');
    carried.append(name);
  }
  json.begin_object();
  json.member("Name").text(definition.name);
  json.member("Components").text(components);
  json.member("Carried").text(carried);
  json.member("Unique").boolean(definition.is_unique);
  json.member("State").text(name_of_state(index.info.state));
  json.member("Failure").text(index.info.failure);
  if (index.build) {
    json.member("EntitiesRead").number(std::to_string(index.build->entities));
    json.member("EntriesWritten").number(std::to_string(index.build->entries));
  }
  json.end_object();
}

}  // namespace

Result<IndexDefinition> read_index_definition(std::string_view body) {
  const auto counts = [](const JsonMember&) { return true; };
  const Result<JsonObject> object = JsonObject::read(body, {kIndexMembersMax, kIndexMembersMax, counts});
  if (!object.ok()) return object.status();
  IndexDefinition definition;
  std::vector<std::string_view> names;
  for (const JsonMember& member : object->members()) {
    if (std::find(names.begin(), names.end(), member.name) != names.end()) {
      return service_error::duplicate_properties(quoted(member.name) + " is given twice");
    }
    names.push_back(member.name);
    if (Status added = add_member(member, definition); !added.ok()) return added;
  }
  if (definition.name.empty()) return refused("PropertiesNeedValue", "Name needs a value");
  if (definition.components.empty()) return refused("PropertiesNeedValue", "Components needs a value");
  return definition;
}

std::string write_index(const ShownIndex& index) {
  JsonText json;
  write_one_index(json, index);
  return json.take();
}

std::string write_indexes(std::span<const ShownIndex> indexes) {
  JsonText json;
  json.begin_object().member("value").begin_array();
  for (const ShownIndex& index : indexes) write_one_index(json, index);
  json.end_array().end_object();
  return json.take();
}

}  // namespace varve::serve
