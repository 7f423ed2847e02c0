#include "api/rest/service/routes.h"

#include <array>
#include <optional>
#include <string>

#include "api/rest/protocol/payload_level.h"
#include "api/rest/protocol/query_value.h"
#include "api/rest/protocol/request_rules.h"
#include "api/rest/protocol/version_rules.h"
#include "api/rest/protocol/wire_error.h"

namespace varve::serve {
namespace {

using enum security::AccountOperation;

constexpr Door entities(Answer (*handler)(const Call&, Result<AsyncTable>)) {
  return EntityRoute{handler};
}
constexpr Door account(security::AccountOperation operation, Answer (*handler)(const Call&, Store&)) {
  return AccountRoute{operation, handler};
}

constexpr std::array kRoutes = std::to_array<Route>({
    {Resource::kTables, Part::kContent, "GET", account(kListTables, list_tables)},
    {Resource::kTables, Part::kContent, "POST", account(kCreateTable, create_table)},
    {Resource::kTable, Part::kContent, "GET", account(kListTables, get_table)},
    {Resource::kTable, Part::kContent, "DELETE", account(kDropTable, delete_table)},

    {Resource::kEntities, Part::kContent, "GET", entities(query_entities)},
    {Resource::kEntities, Part::kContent, "POST", entities(write_one)},
    {Resource::kPartition, Part::kContent, "GET", entities(query_entities)},
    {Resource::kEntity, Part::kContent, "GET", entities(get_entity)},
    {Resource::kEntity, Part::kContent, "PUT", entities(write_one)},
    {Resource::kEntity, Part::kContent, "MERGE", entities(write_one)},
    {Resource::kEntity, Part::kContent, "PATCH", entities(write_one)},
    {Resource::kEntity, Part::kContent, "DELETE", entities(write_one)},

    {Resource::kBatch, Part::kContent, "POST", BatchRoute{run_batch}},

    {Resource::kEntities, Part::kPolicies, "GET", account(kReadAccessPolicies, get_policies)},
    {Resource::kEntities, Part::kPolicies, "HEAD", account(kReadAccessPolicies, get_policies)},
    {Resource::kEntities, Part::kPolicies, "PUT", account(kWriteAccessPolicies, set_policies)},

    {Resource::kEntities, Part::kIndexes, "GET", account(kReadAccessPolicies, list_indexes)},
    {Resource::kEntities, Part::kIndexes, "POST", account(kWriteAccessPolicies, create_index)},
    {Resource::kEntities, Part::kIndexes, "DELETE", account(kWriteAccessPolicies, drop_index)},

    {Resource::kService, Part::kStatistics, "GET", account(kReadServiceStatistics, get_statistics)},
    {Resource::kService, Part::kProperties, "GET", account(kReadServiceProperties, get_properties)},
    {Resource::kService, Part::kProperties, "PUT", account(kWriteServiceProperties, set_properties)},
});

bool is_create(Resource resource, std::string_view verb) noexcept {
  return verb == "POST" && (resource == Resource::kTables || resource == Resource::kEntities);
}

/// Returns whether a successful answer has an OData body. Source: X-13.
bool answers_with_entity(Resource resource, std::string_view verb, Preference preference) noexcept {
  return verb == "GET" || (is_create(resource, verb) && preference != Preference::kNoContent);
}

}  // namespace

Result<Part> part_of(std::string_view query) {
  const Result<std::optional<std::string>> comp = query_value(query, "comp");
  if (!comp.ok()) return comp.status();
  const Result<std::optional<std::string>> restype = query_value(query, "restype");
  if (!restype.ok()) return restype.status();
  if (!*comp && !*restype) return Part::kContent;
  if (*comp == "acl" && !*restype) return Part::kPolicies;
  if (*comp == "indexes" && !*restype) return Part::kIndexes;
  if (*comp == "properties" && *restype == "service") return Part::kProperties;
  if (*comp == "stats" && *restype == "service") return Part::kStatistics;
  return refused("InvalidQueryParameterValue", "unknown comp and restype");
}

Result<const Route*> find_route(Resource resource, Part part, std::string_view verb) {
  bool is_known = false;
  for (const Route& route : kRoutes) {
    if (route.resource != resource || route.part != part) continue;
    is_known = true;
    if (route.verb == verb) return &route;
  }
  if (is_known) return refused("MethodNotAllowed", "the resource does not support this verb");
  if (part == Part::kContent)
    return refused("InvalidUri", "the URL names no resource; expected Tables, a table, an entity or $batch");
  return refused("InvalidQueryParameterValue", "the resource has no part with this comp and restype");
}

Result<Routed> route_request(const HttpRequest& request, Resource resource, std::string_view verb,
                             std::string_view version) {
  const Result<Part> part = part_of(request.head.query);
  if (!part.ok()) return part.status();
  if (*part == Part::kPolicies && version < since::kSignatures) {
    return refused("InvalidQueryParameterValue", "access policies need a newer x-ms-version");
  }
  const Preference preference =
      is_create(resource, verb) ? preference_of(request.head.headers, version) : Preference::kNone;
  const bool has_entity = answers_with_entity(resource, verb, preference);
  if (*part == Part::kContent) {
    if (Status known = check_content_is_known(request.head, version, has_entity); !known.ok()) return known;
  }
  const Result<const Route*> route = find_route(resource, *part, verb);
  if (!route.ok()) return route.status();
  const Result<std::chrono::seconds> time_max = request_time_max(request.head.query);
  if (!time_max.ok()) return time_max.status();
  Result<PayloadLevel> level = *part == Part::kIndexes ? PayloadLevel::kNone : PayloadLevel::kMinimal;
  if (*part == Part::kContent) level = requested_level(request, has_entity);
  if (!level.ok()) return level.status();
  return Routed{*route, *time_max, *level, preference};
}

}  // namespace varve::serve
