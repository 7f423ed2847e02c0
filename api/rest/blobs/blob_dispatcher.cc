#include "api/rest/blobs/blob_dispatcher.h"

#include <new>
#include <utility>

#include "api/rest/blobs/anonymous.h"
#include "api/rest/blobs/blob_headers.h"
#include "api/rest/blobs/blob_routes.h"
#include "api/rest/blobs/blob_target.h"
#include "api/rest/blobs/copy_source.h"
#include "api/rest/blobs/log_container.h"
#include "api/rest/blobs/readable_content.h"
#include "api/rest/protocol/left_out.h"
#include "api/rest/protocol/request_rules.h"
#include "api/rest/protocol/version_rules.h"
#include "api/rest/protocol/wire_error.h"
#include "format/bytes/crc64.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

using BlobHandler = Answer (*)(const BlobCall& call);

/// Returns the handler of a route. Each operation of blob_routes.cc has one.
BlobHandler handler_of(const BlobRoute& route) noexcept {
  if (route.part == BlobPart::kBlockCopy) return put_block_from_url;
  if (route.part == BlobPart::kAppendCopy) return append_block_from_url;
  switch (route.operation) {
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
    case Operation::kGetAccountInformation: return get_account_information;
    case Operation::kBlobBatch: return run_blob_batch;
    default: return nullptr;
  }
}

/// Returns whether the handler compares the checksums of the body.
bool sums_body(Operation operation) noexcept {
  return operation == Operation::kPutBlob || operation == Operation::kPutBlock ||
         operation == Operation::kAppendBlock || operation == Operation::kPutBlockList;
}

/// Returns the permission that the request needs. A lease of a container is broken with a lesser one. Source: BS-12.
security::AccountOperation needed_for(const BlobRoute& route, const Headers& headers) {
  if (route.operation != Operation::kLeaseContainer) return route.needs;
  const std::string* const action = find_header(headers, "x-ms-lease-action");
  const bool is_break = action != nullptr && equal_ignoring_case(trimmed(*action), "break");
  return is_break ? security::AccountOperation::kBreakContainerLease : route.needs;
}

/// Returns whether a listing of containers shows that of logs, too. Source: BB-17.
bool lists_system(const BlobCall& call, const BlobRoute& route) {
  return route.operation == Operation::kListContainers && includes_system(call.parameters);
}

/// Returns whether the right to append permits the request, too: a signature for a container or a blob with it alone may
/// create an append blob. That of an account, which has the parameter `ss`, may not. Source: BS-12.
bool may_append_instead(const BlobRoute& route, const HttpRequest& request, const QueryParameters& parameters) {
  const std::string* const type = find_header(request.head.headers, "x-ms-blob-type");
  return route.operation == Operation::kPutBlob && parameters.find("ss") == nullptr && type != nullptr &&
         equal_ignoring_case(trimmed(*type), "AppendBlob");
}

/// Returns whether the answer is a listing with the tags of blobs, which have a permission of their own. Source: BS-12.
bool shows_tags(const BlobRoute& route, const QueryParameters& parameters) {
  const std::string* const include = parameters.find("include");
  return route.operation == Operation::kListBlobs && include != nullptr &&
         lower_case(*include).find("tags") != std::string::npos;
}

/// Returns whether the request sets tags beside a content. The right to write blobs does not cover tags. Source: BS-12.
bool sets_tags(const BlobRoute& route, const Headers& headers) {
  return !route.is_read && find_header(headers, "x-ms-tags") != nullptr;
}

/// Returns whether the answer has the number of tags, which a signature without the right to tags may not show.
bool counts_tags(const BlobRoute& route, const QueryParameters& parameters) {
  const bool is_state = route.operation == Operation::kGetBlob || route.operation == Operation::kGetBlobState;
  return is_state && parameters.find("sig") != nullptr;
}

/// Returns the refusal of a request about a snapshot of a blob: a read finds none, and a write cannot change one. All
/// routes are judged here, since a handler without the check would change the blob itself. Source: BD-02.
Status check_no_snapshot(const BlobCall& call, const BlobRoute& route) {
  const std::string* const snapshot = call.parameters.find("snapshot");
  if (snapshot == nullptr || route.resource != BlobResource::kBlob) return Status();
  if (route.is_read) return Status::not_found("the snapshot does not exist").with_service_error("BlobNotFound");
  return refuse_parameter(call, "InvalidQueryParameterValue", "snapshot", *snapshot, "snapshots are not supported");
}

/// Copies the headers for counts and logs, which do without them if memory runs out.
void note_headers(const HttpResponse& from, HttpResponse& to) noexcept {
  try {
    to.headers = from.headers;
  } catch (const std::bad_alloc&) {
    to.headers.clear();
  }
}

}  // namespace

BlobDispatcher::BlobDispatcher(Store& store, std::shared_ptr<Keyring> keyring, security::Clock clock, FailureLog log,
                               const BlobServiceOptions& options)
    : Dispatcher(store, std::move(keyring), std::move(clock), std::move(log), StorageService::kBlobs, "Varve-Blob/1.0"),
      store_(store),
      options_(options) {}

/// A request that is refused whatever its body says is handled before the body is read. Source: BZ-01.
bool BlobDispatcher::reads_pieces(const HttpRequest& request) const {
  if (carries_content(request)) return true;
  const Result<QueryParameters> parameters = QueryParameters::parse(request.head.query);
  return parameters.ok() && !check_left_out(request.head.headers, *parameters).ok();
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

struct BlobDispatcher::Routed {
  BlobTarget target;
  QueryParameters parameters;
  const BlobRoute* route;
};

Result<BlobDispatcher::Routed> BlobDispatcher::routed(const HttpRequest& request, const Asked& asked) {
  if (Status known = check_signature_is_known(request.head, asked.version); !known.ok()) return known;
  Result<QueryParameters> parameters = QueryParameters::parse(request.head.query);
  if (!parameters.ok()) return parameters.status();
  if (Status offered = check_left_out(request.head.headers, *parameters); !offered.ok()) return offered;
  Result<BlobTarget> target = parse_blob_target(asked.address.resource, *parameters);
  if (!target.ok()) return target.status();
  const Result<const BlobRoute*> route =
      find_blob_route(target->resource, *parameters, request.head.headers, asked.verb);
  if (!route.ok()) return route.status();
  if (names_large_value(*target)) {
    if (Status allowed = check_value_operation((*route)->operation); !allowed.ok()) return allowed;
  }
  if (asked.address.is_secondary && !(*route)->is_read) return secondary_is_for_reading();
  if (const Status timed = request_time_max(request.head.query).status(); !timed.ok()) return timed;
  if (!sums_body((*route)->operation)) {
    if (Status digest = check_body_digest(request); !digest.ok()) return digest;
    const Result<BodyChecksums> sent = read_body_checksums(request.head.headers);
    if (!sent.ok()) return sent.status();
    if (sent->crc64 && format::crc64(request.body) != *sent->crc64) return crc64_differs();
  }
  return Routed{*std::move(target), *std::move(parameters), *route};
}

BlobCall BlobDispatcher::call_of(const HttpRequest& request, const Asked& asked, const Routed& found,
                                 const ErrorTrailer& trailer, HomeThread* home, Told& told) {
  BlobCall call{
      {request, asked.address, found.parameters, told.version, trailer, home, stop_token(), store_, told.details},
      found.target,
      told.headers};
  call.options = options_;
  call.long_sources = &long_sources_;
  call.knows_account = [this](std::string_view name) { return knows_account(name); };
  call.answer_part = [this, home, &told](HttpRequest part) { return answer_part(std::move(part), home, told); };
  return call;
}

/// A signature in the URL of the source decides alone. Without one, the caller reads blobs of its own account that it
/// may read, and those that everybody may read. Source: BY-05.
Task<Status> BlobDispatcher::check_source(const BlobCall& call, const security::AsyncSession& session,
                                          const CopySource& source, security::AccountOperation operation) {
  const std::string resource = source.target.signed_name();
  if (source.has_signature()) {
    security::SignedPlace place;
    place.service = StorageService::kBlobs;
    place.container = source.target.container;
    place.blob = source.target.blob;
    Task<Status> checking = check_signature(call.request, source.account, source.query, place, operation, resource);
    const Status allowed = co_await checking;
    co_await GoHome(call.home);
    co_return allowed;
  }
  Status allowed(Code::kForbidden, "a blob of another account needs a signature in its URL");
  if (source.account == call.address.account) {
    Task<Status> checking = session.check(operation, stop_token(), resource);
    allowed = co_await checking;
    co_await GoHome(call.home);
  }
  const bool may_be_open = options_.allows_public_access && operation == security::AccountOperation::kReadBlob &&
                           source.target.container != kLogContainer;
  if (allowed.ok() || !may_be_open) co_return allowed;
  Task<Result<AnonymousRules>> reading =
      read_anonymous_rules(store_, source.account, source.target.container, call.home, stop_token());
  const Result<AnonymousRules> rules = co_await reading;
  if (rules.ok() && rules->access >= PublicAccess::kBlobs) co_return Status();
  co_return allowed;
}

Answer BlobDispatcher::answer_part(HttpRequest part, HomeThread* home, Told& told) {
  AnsweredPart& noted = told.parts.emplace_back();  // before the part is carried out: memory may run out
  Answer answering = handle(std::move(part), home, &noted.facts);
  Result<HttpResponse> answered = co_await answering;
  if (answered.ok()) {
    noted.response.status = answered->status;
    note_headers(*answered, noted.response);
  }
  co_return answered;
}

Answer BlobDispatcher::carry_out_route(const BlobCall& call, const BlobRoute& route, Told& told) {
  if (const Status live = check_no_snapshot(call, route); !live.ok()) co_return live;
  const bool is_of_logs = call.target.container == kLogContainer;
  if (is_of_logs) {
    if (Status allowed = check_log_operation(route.operation); !allowed.ok()) co_return allowed;
  }
  if (is_of_logs || lists_system(call, route)) {
    Task<Status> providing = provide_log_container(call.store, call.address.account, call.home, call.stop);
    const Status provided = co_await providing;
    if (!provided.ok()) co_return provided;
  }
  Answer answering = handler_of(route)(call);
  Result<HttpResponse> outcome = co_await answering;
  const bool is_of_blob = route.operation == Operation::kGetBlob || route.operation == Operation::kGetBlobState;
  told.may_be_kept = outcome.ok() && is_of_blob;
  if (route.operation == Operation::kSetBlobServiceProperties) forget_properties(call.address.account);
  co_return outcome;
}

Task<Status> BlobDispatcher::check_permission(const security::AsyncSession& session,
                                              security::AccountOperation operation, const std::string& resource,
                                              HomeThread* home) {
  Task<Status> checking = session.check(operation, stop_token(), resource);
  Status allowed = co_await checking;
  co_await GoHome(home);
  co_return allowed;
}

Task<Status> BlobDispatcher::check_tags(const Routed& found, const HttpRequest& request,
                                        const security::AsyncSession& session, const std::string& resource,
                                        BlobCall& call) {
  const BlobRoute& route = *found.route;
  if (shows_tags(route, found.parameters)) {
    Task<Status> seeing = check_permission(session, security::AccountOperation::kReadBlobTags, resource, call.home);
    Status may_see = co_await seeing;
    if (!may_see.ok()) co_return may_see;
  }
  if (sets_tags(route, request.head.headers)) {
    Task<Status> setting = check_permission(session, security::AccountOperation::kWriteBlobTags, resource, call.home);
    Status may_set = co_await setting;
    if (!may_set.ok()) co_return may_set;
  }
  if (counts_tags(route, found.parameters)) {
    Task<Status> counting = check_permission(session, security::AccountOperation::kReadBlobTags, resource, call.home);
    const Status may_count = co_await counting;
    call.may_count_tags = may_count.ok();
  }
  co_return Status();
}

Task<Result<HttpResponse>> BlobDispatcher::answer(const HttpRequest& request, const Asked& asked,
                                                  const security::AsyncSession& session, const ErrorTrailer& trailer,
                                                  HomeThread* home, Told& told) {
  const Result<Routed> found = routed(request, asked);
  if (!found.ok()) co_return found.status();
  const BlobRoute& route = *found->route;
  told.operation = route.operation;
  const std::string resource = found->target.signed_name();
  Task<Status> checking = check_permission(session, needed_for(route, request.head.headers), resource, home);
  Status allowed = co_await checking;
  if (!allowed.ok() && may_append_instead(route, request, found->parameters)) {
    Task<Status> appending = check_permission(session, security::AccountOperation::kAppendBlock, resource, home);
    allowed = co_await appending;
  }
  if (!allowed.ok()) co_return allowed;
  BlobCall call = call_of(request, asked, *found, trailer, home, told);
  Task<Status> judging_tags = check_tags(*found, request, session, resource, call);
  const Status tagged = co_await judging_tags;
  if (!tagged.ok()) co_return tagged;
  if (route.needs == security::AccountOperation::kCreateBlob) {
    Task<Status> replacing = check_permission(session, security::AccountOperation::kReplaceBlob, resource, home);
    const Status may_replace = co_await replacing;
    call.may_replace = may_replace.ok();
  }
  call.overrides = session.header_overrides();
  call.permits = [&](const CopySource& source, security::AccountOperation operation) {
    return check_source(call, session, source, operation);
  };
  Answer answering = carry_out_route(call, route, told);
  Result<HttpResponse> outcome = co_await answering;
  co_return outcome;
}

/// Every failure before the access is known has the same answer, so that nothing shows whether the blob is there.
Task<Result<HttpResponse>> BlobDispatcher::answer_anonymous(const HttpRequest& request, const Asked& asked,
                                                            const Status& refusal, const ErrorTrailer& trailer,
                                                            HomeThread* home, Told& told) {
  if (!options_.allows_public_access) co_return refusal;
  const Result<Routed> found = routed(request, asked);
  if (!found.ok() || found->target.container == kLogContainer) co_return refusal;
  const BlobRoute& route = *found->route;
  const std::optional<PublicAccess> needed = needed_access(route.operation, found->parameters);
  if (!needed) co_return refusal;
  Task<Result<AnonymousRules>> reading =
      read_anonymous_rules(store_, asked.address.account, found->target.container, home, stop_token());
  const Result<AnonymousRules> rules = co_await reading;
  if (!rules.ok() || rules->access < *needed) co_return refusal;
  told.operation = route.operation;
  if (!names_version(request) && !rules->default_version.empty()) told.version = rules->default_version;
  BlobCall call = call_of(request, asked, *found, trailer, home, told);
  call.is_anonymous = true;
  Answer answering = carry_out_route(call, route, told);
  Result<HttpResponse> outcome = co_await answering;
  co_return outcome;
}

HttpResponse BlobDispatcher::failure(const Status& status, const ErrorTrailer& trailer, const Told& told,
                                     const HttpRequest* /*request*/) const {
  HttpResponse response = storage_failure(status, trailer, told.details, "blobs");
  for (const auto& [name, value] : told.headers) response.with(name, value);
  return response;
}

}  // namespace varve::serve
