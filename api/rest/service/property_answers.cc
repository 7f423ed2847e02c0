#include "api/rest/service/property_answers.h"

#include <utility>

#include "api/rest/encoding/service_properties_xml.h"
#include "api/rest/encoding/xml_elements.h"
#include "api/rest/protocol/payload_level.h"
#include "api/rest/protocol/version_rules.h"
#include "api/rest/protocol/wire_error.h"
#include "api/security/http_date.h"
#include "varve/async.h"

namespace varve::serve {

Answer answer_properties(ServiceCall call) {
  Task<Result<ServiceProperties>> reading =
      AsyncStore(call.store).service_properties(call.address.account, call.service, call.stop);
  const Result<ServiceProperties> properties = co_await at_home(call.home, std::move(reading));
  if (!properties.ok()) co_return properties.status();
  co_return xml_response(write_service_properties(*properties, call.version >= since::kCors, call.service));
}

Answer change_properties(ServiceCall call) {
  if (Status xml = check_xml_type(find_header(call.request.head.headers, "content-type")); !xml.ok()) co_return xml;
  Result<ServicePropertiesChange> change =
      read_service_properties(call.request.body, call.version >= since::kCors, call.service);
  if (!change.ok()) co_return change.status();
  Task<Status> setting =
      AsyncStore(call.store).set_service_properties(call.address.account, *std::move(change), call.service, call.stop);
  const Status set = co_await at_home(call.home, std::move(setting));
  if (!set.ok()) co_return set;
  HttpResponse response;
  response.status = 202;
  co_return response;
}

Answer answer_statistics(ServiceCall call) {
  if (!call.address.is_secondary) {
    co_return refused("InvalidQueryParameterValue",
                      "comp=stats is only available at the address of the secondary (ACCOUNT-secondary)");
  }
  pugi::xml_document document;
  pugi::xml_node replication = begin_xml(document, "StorageServiceStats").append_child("GeoReplication");
  add_element(replication, "Status", "live");
  add_element(replication, "LastSyncTime", security::http_date(call.now));
  co_return xml_response(xml_text(document));
}

}  // namespace varve::serve
