// Owns: the routes that answer in XML: stored access policies, and the statistics of the service.
// Must never: keep anything; policies live with their table.
#include <sstream>
#include <utility>

#include <pugixml.hpp>

#include "tools/serve/handlers.h"
#include "tools/serve/http_date.h"
#include "tools/serve/policy_xml.h"
#include "tools/serve/wire_error.h"

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

/// The secondary reads the same store as the primary, so it is never behind. Source: P-04.
Answer get_statistics(const Call& call, Store& /*store*/) {
  if (!call.address.is_secondary) {
    co_return refused("InvalidQueryParameterValue", "the statistics are read from the secondary's address");
  }
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "utf-8";
  pugi::xml_node replication = document.append_child("StorageServiceStats").append_child("GeoReplication");
  replication.append_child("Status").text().set("live");
  replication.append_child("LastSyncTime").text().set(http_date(call.trailer.time).c_str());
  std::ostringstream out;
  document.save(out, "", pugi::format_raw, pugi::encoding_utf8);
  co_return xml_response(out.str());
}

}  // namespace varve::serve
