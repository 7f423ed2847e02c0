// Owns: the routes that answer in XML: stored access policies, service properties, and the statistics of the service.
// Must never: keep state. Policies are stored with their table, properties with their account.
#include <utility>

#include "api/rest/encoding/policy_xml.h"
#include "api/rest/encoding/service_properties_xml.h"
#include "api/rest/encoding/xml_elements.h"
#include "api/rest/protocol/version_rules.h"
#include "api/rest/protocol/wire_error.h"
#include "api/rest/service/handlers.h"
#include "api/security/http_date.h"

namespace varve::serve {
namespace {

HttpResponse xml_response(std::string body) {
  HttpResponse response;
  response.with("Content-Type", "application/xml");
  response.body = std::move(body);
  return response;
}

}  // namespace

Answer get_policies(const Call& call, Store& store) {
  Task<Result<std::vector<AccessPolicy>>> reading =
      AsyncStore(store).access_policies(call.address.account, call.target.table, call.stop);
  const Result<std::vector<AccessPolicy>> policies = co_await at_home(call.home, std::move(reading));
  if (!policies.ok()) co_return policies.status();
  co_return xml_response(write_policies(*policies));
}

Answer set_policies(const Call& call, Store& store) {
  if (Status xml = check_xml_type(find_header(call.request.head.headers, "content-type")); !xml.ok()) co_return xml;
  Result<std::vector<AccessPolicy>> policies = read_policies(call.request.body);
  if (!policies.ok()) co_return policies.status();
  Task<Status> setting =
      AsyncStore(store).set_access_policies(call.address.account, call.target.table, *std::move(policies), call.stop);
  const Status set = co_await at_home(call.home, std::move(setting));
  if (!set.ok()) co_return set;
  HttpResponse response;
  response.status = 204;
  co_return response;
}

Answer get_properties(const Call& call, Store& store) {
  Task<Result<ServiceProperties>> reading = AsyncStore(store).service_properties(call.address.account, call.stop);
  const Result<ServiceProperties> properties = co_await at_home(call.home, std::move(reading));
  if (!properties.ok()) co_return properties.status();
  co_return xml_response(write_service_properties(*properties, call.version >= since::kCors));
}

Answer set_properties(const Call& call, Store& store) {
  if (Status xml = check_xml_type(find_header(call.request.head.headers, "content-type")); !xml.ok()) co_return xml;
  Result<ServicePropertiesChange> change = read_service_properties(call.request.body, call.version >= since::kCors);
  if (!change.ok()) co_return change.status();
  Task<Status> setting = AsyncStore(store).set_service_properties(call.address.account, *std::move(change), call.stop);
  const Status set = co_await at_home(call.home, std::move(setting));
  if (!set.ok()) co_return set;
  HttpResponse response;
  response.status = 202;
  co_return response;
}

/// Returns the statistics. The secondary reads the primary's store, so its replication never lags. Source: P-04.
Answer get_statistics(const Call& call, Store& /*store*/) {
  if (!call.address.is_secondary) {
    co_return refused("InvalidQueryParameterValue",
                      "comp=stats is only available at the address of the secondary (ACCOUNT-secondary)");
  }
  pugi::xml_document document;
  pugi::xml_node replication = begin_xml(document, "StorageServiceStats").append_child("GeoReplication");
  add_element(replication, "Status", "live");
  add_element(replication, "LastSyncTime", security::http_date(call.trailer.time));
  co_return xml_response(xml_text(document));
}

}  // namespace varve::serve
