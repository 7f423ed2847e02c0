// Owns: the routes that answer in XML: stored access policies, service properties, and the statistics of the service.
// Must never: keep state. Policies are stored with their table, properties with their account.
#include <utility>

#include "api/rest/encoding/policy_xml.h"
#include "api/rest/service/handlers.h"
#include "api/rest/service/property_answers.h"

namespace varve::serve {
namespace {

ServiceCall of_tables(const Call& call, Store& store) {
  return {store,        StorageService::kTables, call.request, call.address,
          call.version, call.trailer.time,       call.home,    call.stop};
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
  // The program sends all policies of a table back, and one that permits nothing must stay one.
  const EmptyPermission empty = call.request.is_operator ? EmptyPermission::kPermitsNothing : EmptyPermission::kLeftOut;
  Result<std::vector<AccessPolicy>> policies = read_policies(call.request.body, Permissions::parse, empty);
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
  return answer_properties(of_tables(call, store));
}

Answer set_properties(const Call& call, Store& store) {
  return change_properties(of_tables(call, store));
}

Answer get_statistics(const Call& call, Store& store) {
  return answer_statistics(of_tables(call, store));
}

}  // namespace varve::serve
