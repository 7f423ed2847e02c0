#include "api/rest/blobs/blob_dispatcher.h"

#include <utility>

#include "api/rest/blobs/blob_routes.h"
#include "api/rest/blobs/blob_target.h"
#include "api/rest/blobs/left_out.h"
#include "api/rest/protocol/request_rules.h"
#include "api/rest/protocol/version_rules.h"
#include "api/rest/protocol/wire_error.h"

namespace varve::serve {
namespace {

using BlobHandler = Answer (*)(const BlobCall& call);

/// Returns the handler of a route. Each operation of blob_routes.cc has one.
BlobHandler handler_of(Operation operation) noexcept {
  switch (operation) {
    case Operation::kListContainers: return list_containers;
    case Operation::kCreateContainer: return create_container;
    case Operation::kDeleteContainer: return delete_container;
    case Operation::kGetContainer: return get_container;
    case Operation::kGetContainerMetadata: return get_container_metadata;
    case Operation::kSetContainerMetadata: return set_container_metadata;
    case Operation::kGetContainerPolicies: return get_container_policies;
    case Operation::kSetContainerPolicies: return set_container_policies;
    case Operation::kLeaseContainer: return lease_container;
    case Operation::kListBlobs: return list_blobs;
    case Operation::kPutBlob: return put_blob;
    case Operation::kGetBlob: return get_blob;
    case Operation::kGetBlobState: return get_blob_state;
    case Operation::kDeleteBlob: return delete_blob;
    case Operation::kPutBlock: return put_block;
    case Operation::kPutBlockList: return put_block_list;
    case Operation::kGetBlockList: return get_block_list;
    case Operation::kAppendBlock: return append_block;
    case Operation::kGetBlobMetadata: return get_blob_metadata;
    case Operation::kSetBlobMetadata: return set_blob_metadata;
    case Operation::kSetBlobProperties: return set_blob_properties;
    case Operation::kGetBlobTags: return get_blob_tags;
    case Operation::kSetBlobTags: return set_blob_tags;
    case Operation::kSetBlobTier: return set_blob_tier;
    case Operation::kLeaseBlob: return lease_blob;
    case Operation::kCopyBlob: return copy_blob;
    case Operation::kAbortCopyBlob: return abort_copy;
    case Operation::kGetBlobServiceProperties: return get_blob_service_properties;
    case Operation::kSetBlobServiceProperties: return set_blob_service_properties;
    case Operation::kGetBlobServiceStatistics: return get_blob_service_statistics;
    default: return nullptr;
  }
}

/// An authenticated request for an existing kind of resource.
struct RoutedBlobRequest {
  BlobTarget target;
  QueryParameters parameters;
  const BlobRoute* route;
};

/// Returns whether the handler compares the checksums of the body.
bool sums_body(Operation operation) noexcept {
  return operation == Operation::kPutBlob || operation == Operation::kPutBlock ||
         operation == Operation::kAppendBlock || operation == Operation::kPutBlockList;
}

Result<RoutedBlobRequest> routed_blob_request(const HttpRequest& request, const Address& address, std::string_view verb,
                                              std::string_view version) {
  if (Status known = check_signature_is_known(request.head, version); !known.ok()) return known;
  Result<QueryParameters> parameters = QueryParameters::parse(request.head.query);
  if (!parameters.ok()) return parameters.status();
  if (Status offered = check_left_out(request.head.headers, *parameters); !offered.ok()) return offered;
  Result<BlobTarget> target = parse_blob_target(address.resource, *parameters);
  if (!target.ok()) return target.status();
  const Result<const BlobRoute*> route = find_blob_route(target->resource, *parameters, request.head.headers, verb);
  if (!route.ok()) return route.status();
  if (address.is_secondary && !(*route)->is_read) return secondary_is_for_reading();
  if (const Status timed = request_time_max(request.head.query).status(); !timed.ok()) return timed;
  if (!sums_body((*route)->operation)) {
    if (Status digest = check_body_digest(request); !digest.ok()) return digest;
  }
  return RoutedBlobRequest{*std::move(target), *std::move(parameters), *route};
}

/// Returns the permission that the request needs. A lease of a container is broken with a lesser one. Source: BS-12.
security::AccountOperation needed_for(const BlobRoute& route, const Headers& headers) {
  if (route.operation != Operation::kLeaseContainer) return route.needs;
  const std::string* const action = find_header(headers, "x-ms-lease-action");
  const bool is_break = action != nullptr && equal_ignoring_case(trimmed(*action), "break");
  return is_break ? security::AccountOperation::kBreakContainerLease : route.needs;
}

/// Returns the refusal of a request about a snapshot of a blob: a read finds none, and a write cannot change one. All
/// routes are judged here, since a handler without the check would change the blob itself. Source: BD-02.
Status check_no_snapshot(const BlobCall& call, const BlobRoute& route) {
  const std::string* const snapshot = call.parameters.find("snapshot");
  if (snapshot == nullptr || route.resource != BlobResource::kBlob) return Status();
  if (route.is_read) return Status::not_found("the snapshot does not exist").with_service_error("BlobNotFound");
  return refuse_parameter(call, "InvalidQueryParameterValue", "snapshot", *snapshot, "snapshots are not supported");
}

}  // namespace

BlobDispatcher::BlobDispatcher(Store& store, std::shared_ptr<Keyring> keyring, security::Clock clock, FailureLog log)
    : Dispatcher(store, std::move(keyring), std::move(clock), std::move(log), StorageService::kBlobs, "Varve-Blob/1.0"),
      store_(store) {}

bool BlobDispatcher::reads_pieces(const HttpRequest& request) const {
  return carries_content(request);
}

Result<std::string> BlobDispatcher::verb_of(const HttpRequest& request, std::string_view /*version*/) const {
  return request.head.verb;
}

/// Judges the names, since the service does so before it authenticates the caller. Source: BN-01, QE-04.
Result<security::SignedPlace> BlobDispatcher::place_of(const HttpRequest& request, const Asked& asked) const {
  const Result<QueryParameters> parameters = QueryParameters::parse(request.head.query);
  if (!parameters.ok()) return parameters.status();
  Result<BlobTarget> target = parse_blob_target(asked.address.resource, *parameters);
  if (!target.ok()) return target.status();
  security::SignedPlace place;
  place.service = StorageService::kBlobs;
  place.container = std::move(target->container);
  place.blob = std::move(target->blob);
  return place;
}

Operation BlobDispatcher::operation_of(const HttpRequest& request, const Asked& asked) const {
  const Result<QueryParameters> parameters = QueryParameters::parse(request.head.query);
  if (!parameters.ok()) return Operation::kUnresolved;
  const Result<BlobTarget> target = parse_blob_target(asked.address.resource, *parameters);
  if (!target.ok()) return Operation::kUnresolved;
  const Result<const BlobRoute*> route =
      find_blob_route(target->resource, *parameters, request.head.headers, asked.verb);
  return route.ok() ? (*route)->operation : Operation::kUnresolved;
}

Task<Result<HttpResponse>> BlobDispatcher::answer(const HttpRequest& request, const Asked& asked,
                                                  const security::AsyncSession& session, const ErrorTrailer& trailer,
                                                  HomeThread* home, Told& told) {
  const Result<RoutedBlobRequest> found = routed_blob_request(request, asked.address, asked.verb, asked.version);
  if (!found.ok()) co_return found.status();
  const BlobRoute& route = *found->route;
  told.operation = route.operation;
  const std::string resource = found->target.signed_name();
  Task<Status> checking = session.check(needed_for(route, request.head.headers), stop_token(), resource);
  const Status allowed = co_await checking;
  co_await GoHome(home);
  if (!allowed.ok()) co_return allowed;
  BlobCall call{request, asked.address, found->target, found->parameters, told.version, trailer,
                home,    stop_token(),  store_,        told.details,      told.headers};
  if (const Status live = check_no_snapshot(call, route); !live.ok()) co_return live;
  if (route.needs == security::AccountOperation::kCreateBlob) {
    Task<Status> replacing = session.check(security::AccountOperation::kReplaceBlob, stop_token(), resource);
    const Status may_replace = co_await replacing;
    co_await GoHome(home);
    call.may_replace = may_replace.ok();
  }
  call.overrides = session.header_overrides();
  call.may_read = [&session, this](std::string source) {
    return session.check(security::AccountOperation::kReadBlob, stop_token(), std::move(source));
  };
  told.may_be_kept = route.operation == Operation::kGetBlob || route.operation == Operation::kGetBlobState;
  Answer answering = handler_of(route.operation)(call);
  Result<HttpResponse> outcome = co_await answering;
  if (route.operation == Operation::kSetBlobServiceProperties) forget_properties(asked.address.account);
  co_return outcome;
}

HttpResponse BlobDispatcher::failure(const Status& status, const ErrorTrailer& trailer, const Told& told,
                                     const HttpRequest* /*request*/) const {
  const WireError error = wire_error(status);
  HttpResponse response;
  response.status = error.status;
  response.with("Content-Type", "application/xml").with("x-ms-error-code", error.code);
  if (error.status == 401) response.with("WWW-Authenticate", "SharedKey realm=\"blobs\"");  // S-08
  for (const auto& [name, value] : told.headers) response.with(name, value);
  response.body = storage_xml_error(error, trailer, told.details);
  return response;
}

}  // namespace varve::serve
