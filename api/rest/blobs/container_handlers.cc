// Owns: the routes of containers, their listings, and those of the account.
// Must never: keep state. Everything is stored with the container or the account.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/model/continuation_token.h"
#include "api/model/listed_bytes.h"
#include "api/model/service_error.h"
#include "api/rest/blobs/blob_answers.h"
#include "api/rest/blobs/blob_call.h"
#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/blobs/blob_headers.h"
#include "api/rest/blobs/blob_xml.h"
#include "api/rest/blobs/log_container.h"
#include "api/rest/encoding/policy_xml.h"
#include "api/rest/protocol/metadata_headers.h"
#include "api/rest/protocol/wire_error.h"
#include "api/rest/service/call.h"
#include "api/rest/service/property_answers.h"
#include "varve/limits.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

/// Reads the conditions of a request about a container, which has none on ETags. Source: BB-11, BB-13.
Result<BlobConditions> container_conditions(const BlobCall& call) {
  Result<BlobConditions> conditions = read_blob_conditions(call.headers(), BlobAccess::kWrite);
  if (!conditions.ok()) return conditions;
  if (conditions->if_match || conditions->if_none_match) {
    return refused("ConditionHeadersNotSupported", "a container supports no conditions on its ETag");
  }
  return conditions;
}

/// Runs a verb on the container that returns its state.
template <typename Verb>
Task<Result<ContainerState>> ask_state(const BlobCall& call, Verb verb) {
  Task<Result<ContainerState>> asking = ask_container<ContainerState>(call, std::move(verb));
  Result<ContainerState> state = co_await asking;
  co_return state;
}

Task<Result<ContainerState>> present_state(const BlobCall& call) {
  const Result<BlobConditions> conditions = container_conditions(call);
  if (!conditions.ok()) co_return conditions.status();
  Task<Result<ContainerState>> asking =
      ask_state(call, [&](const Container& container) { return container.container_state(lease_alone(*conditions)); });
  Result<ContainerState> state = co_await asking;
  co_return state;
}

void add_container(HttpResponse& response, const ContainerState& state) {
  add_lease(response, state.lease);
  const std::string_view access = public_access_name(state.public_access);
  if (!access.empty()) response.with("x-ms-blob-public-access", access);
  response.with("x-ms-has-immutability-policy", "false").with("x-ms-has-legal-hold", "false");
}

std::optional<std::string> copied_parameter(const BlobCall& call, std::string_view name) {
  const std::string* const text = call.parameters.find(name);
  return text == nullptr ? std::nullopt : std::optional<std::string>(*text);
}

/// The words of the parameter `include` that have a meaning.
struct Included {
  bool metadata = false;
  bool tags = false;
  bool copies = false;
  bool uncommitted = false;
};

/// Reads the parameter `include` of a listing. Source: BL-01, BB-17.
Result<Included> read_included(const BlobCall& call) {
  constexpr std::string_view kIdle[] = {
      "deleted", "deletedwithversions", "permissions", "legalhold", "immutabilitypolicy", "snapshots", "system"};
  Included included;
  const std::string* const text = call.parameters.find("include");
  if (text == nullptr) return included;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::string word = lower_case(trimmed(rest.substr(0, rest.find(','))));
    rest.remove_prefix(
        std::min(rest.find(',') == std::string_view::npos ? rest.size() : rest.find(',') + 1, rest.size()));
    if (word == "metadata") {
      included.metadata = true;
    } else if (word == "tags") {
      included.tags = true;
    } else if (word == "copy") {
      included.copies = true;
    } else if (word == "uncommittedblobs") {
      included.uncommitted = true;
    } else if (!word.empty() && std::find(std::begin(kIdle), std::end(kIdle), word) == std::end(kIdle)) {
      return refuse_parameter(call, "InvalidQueryParameterValue", "include", *text, "it has an unknown word");
    }
  }
  return included;
}

/// Reads the parts of a listing that blobs and containers share. `items_max` gets the most items.
Result<ShownListing> read_blob_service_listing(const BlobCall& call, std::uint32_t& items_max) {
  ShownListing shown;
  shown.endpoint = call.address.root + "/";
  shown.prefix = copied_parameter(call, "prefix");
  shown.marker = copied_parameter(call, "marker");
  shown.items_max = copied_parameter(call, "maxresults");
  shown.delimiter = copied_parameter(call, "delimiter");
  const Result<std::optional<std::int64_t>> most =
      number_parameter(call, "maxresults", 1, std::numeric_limits<std::int64_t>::max());
  if (!most.ok()) return most.status();
  items_max =
      static_cast<std::uint32_t>(std::min<std::int64_t>(most->value_or(limits::kBlobPageMax), limits::kBlobPageMax));
  const Result<Included> included = read_included(call);
  if (!included.ok()) return included.status();
  shown.has_metadata = included->metadata;
  shown.has_tags = included->tags;
  shown.has_copies = included->copies;
  return shown;
}

/// Answers with a listing. Takes the memory for it before `write` builds it.
template <typename Write>
Result<HttpResponse> listing_answer(const BlobCall& call, std::uint64_t entries, std::uint64_t text_bytes,
                                    Write write) {
  AnswerRoom* const room = call.request.room;
  if (room != nullptr && !room->grow_to(room_for_listing(entries, text_bytes))) return no_room_for_answer();
  std::string body = write();
  if (room != nullptr && !room->grow_to(body.size())) return no_room_for_answer();
  return xml_response(std::move(body));
}

/// Checks that the server lets an owner open a container to callers without a key. Source: BB-10, BB-14.
Status check_public_access(const BlobCall& call, PublicAccess access) {
  if (access == PublicAccess::kNone || call.options.allows_public_access) return Status();
  return refused("PublicAccessNotPermitted", "this server gives no access without a key");
}

/// Reads pages until one has a container that is shown. The container of logs is left out unless it is asked for.
Status read_shown_containers(Store& store, const BlobCall& call, ListOptions options, ContainerPage& page) {
  const bool shows_logs = includes_system(call.parameters);
  for (;;) {
    Result<ContainerPage> read = store.list_containers(call.address.account, options);
    if (!read.ok()) return read.status();
    page = *std::move(read);
    if (!shows_logs) {
      std::erase_if(page.containers, [](const ContainerState& one) { return one.name == kLogContainer; });
    }
    if (!page.containers.empty() || !page.continuation) return Status();
    options.continuation = *page.continuation;
  }
}

}  // namespace

Answer list_containers(const BlobCall& call) {
  std::uint32_t items_max = 0;
  Result<ShownListing> shown = read_blob_service_listing(call, items_max);
  if (!shown.ok()) co_return shown.status();
  ListOptions options;
  options.prefix = shown->prefix.value_or("");
  options.continuation = shown->marker.value_or("");
  if (!options.continuation.empty() && !decode_key_token(options.continuation).ok()) {
    co_return refused("InvalidMarker", "the marker is not one that a listing of containers returned");
  }
  options.page_names_max = std::min(items_max, static_cast<std::uint32_t>(limits::kPageEntitiesMax));
  ContainerPage page;
  Task<Status> reading =
      run_in_store(call, [&](Store& store) { return read_shown_containers(store, call, options, page); });
  const Status read = co_await reading;
  if (!read.ok()) co_return read;
  shown->next_marker = page.continuation.value_or("");
  std::uint64_t bytes = 0;
  for (const ContainerState& container : page.containers)
    bytes += container.name.size() + listed_bytes(container.metadata);
  co_return listing_answer(call, page.containers.size(), bytes,
                           [&] { return write_container_listing(*shown, page.containers); });
}

Answer create_container(const BlobCall& call) {
  const Result<PublicAccess> access = read_public_access(call.headers());
  if (!access.ok()) co_return access.status();
  if (Status permitted = check_public_access(call, *access); !permitted.ok()) co_return permitted;
  ContainerOptions options;
  options.metadata = metadata_of(call.headers());
  options.public_access = *access;
  ContainerState state;
  Task<Status> making = run_in_store(call, [&](Store& store) -> Status {
    Result<Container> made = store.create_container(call.address.account, call.target.container, options);
    if (!made.ok()) return made.status();
    Result<ContainerState> present = made->container_state();
    if (!present.ok()) return Status(Code::kUnknown);  // The container was made.
    state = *std::move(present);
    return Status();
  });
  const Status made = co_await making;
  if (!made.ok()) co_return made;
  co_return carried_out_answer([&] {
    HttpResponse response = empty_response(201);
    add_version(response, state.etag, state.modified);
    return response;
  });
}

Answer delete_container(const BlobCall& call) {
  const Result<BlobConditions> conditions = container_conditions(call);
  if (!conditions.ok()) co_return conditions.status();
  Task<Status> dropping = run_in_store(call, [&](Store& store) {
    return store.drop_container(call.address.account, call.target.container, *conditions);
  });
  const Status dropped = co_await dropping;
  if (!dropped.ok()) co_return dropped;
  co_return carried_out_answer([] { return empty_response(202); });
}

Answer get_container(const BlobCall& call) {
  Task<Result<ContainerState>> reading = present_state(call);
  const Result<ContainerState> state = co_await reading;
  if (!state.ok()) co_return state.status();
  HttpResponse response;
  add_version(response, state->etag, state->modified);
  add_metadata(response, state->metadata);
  add_container(response, *state);
  co_return response;
}

Answer get_container_metadata(const BlobCall& call) {
  Task<Result<ContainerState>> reading = present_state(call);
  const Result<ContainerState> state = co_await reading;
  if (!state.ok()) co_return state.status();
  HttpResponse response;
  add_version(response, state->etag, state->modified);
  add_metadata(response, state->metadata);
  co_return response;
}

Answer set_container_metadata(const BlobCall& call) {
  const Result<BlobConditions> conditions = container_conditions(call);
  if (!conditions.ok()) co_return conditions.status();
  const std::vector<MetadataPair> metadata = metadata_of(call.headers());
  Task<Result<ContainerState>> setting =
      ask_state(call, [&](Container& container) { return container.set_container_metadata(metadata, *conditions); });
  const Result<ContainerState> state = co_await setting;
  if (!state.ok()) co_return state.status();
  co_return carried_out_answer([&] {
    HttpResponse response;
    add_version(response, state->etag, state->modified);
    return response;
  });
}

Answer get_container_policies(const BlobCall& call) {
  const Result<BlobConditions> conditions = container_conditions(call);
  if (!conditions.ok()) co_return conditions.status();
  std::vector<AccessPolicy> policies;
  Task<Result<ContainerState>> reading = ask_state(call, [&](Container& container) -> Result<ContainerState> {
    Result<ContainerState> state = container.container_state(lease_alone(*conditions));
    if (!state.ok()) return state;
    Result<std::vector<AccessPolicy>> stored = container.access_policies();
    if (!stored.ok()) return stored.status();
    policies = *std::move(stored);
    return state;
  });
  const Result<ContainerState> state = co_await reading;
  if (!state.ok()) co_return state.status();
  HttpResponse response = xml_response(write_policies(policies));
  add_version(response, state->etag, state->modified);
  const std::string_view access = public_access_name(state->public_access);
  if (!access.empty()) response.with("x-ms-blob-public-access", access);
  co_return response;
}

Answer set_container_policies(const BlobCall& call) {
  const Result<BlobConditions> conditions = container_conditions(call);
  if (!conditions.ok()) co_return conditions.status();
  const Result<PublicAccess> access = read_public_access(call.headers());
  if (!access.ok()) co_return access.status();
  if (Status permitted = check_public_access(call, *access); !permitted.ok()) co_return permitted;
  const Result<std::vector<AccessPolicy>> policies = read_policies(call.request.body, Permissions::parse_for_blob);
  if (!policies.ok()) co_return policies.status();
  Task<Result<ContainerState>> setting =
      ask_state(call, [&](Container& container) { return container.set_access(*policies, *access, *conditions); });
  const Result<ContainerState> state = co_await setting;
  if (!state.ok()) co_return state.status();
  co_return carried_out_answer([&] {
    HttpResponse response;
    add_version(response, state->etag, state->modified);
    return response;
  });
}

Answer lease_container(const BlobCall& call) {
  const Result<LeaseRequest> request = read_lease_request(call.headers());
  if (!request.ok()) co_return request.status();
  Result<BlobConditions> conditions = container_conditions(call);
  if (!conditions.ok()) co_return conditions.status();
  conditions->lease.reset();  // the request has it
  LeaseAnswer leased;
  Task<Result<ContainerState>> leasing = ask_state(call, [&](Container& container) -> Result<ContainerState> {
    const Result<LeaseAnswer> answer = container.lease_container(*request, *conditions);
    if (!answer.ok()) return answer.status();
    leased = *answer;
    Result<ContainerState> present = container.container_state();
    if (!present.ok()) return Status(Code::kUnknown);  // The lease was changed.
    return present;
  });
  const Result<ContainerState> state = co_await leasing;
  if (!state.ok()) co_return state.status();
  co_return carried_out_answer([&] {
    HttpResponse response = lease_response(*request, leased);
    add_version(response, state->etag, state->modified);
    return response;
  });
}

Answer list_blobs(const BlobCall& call) {
  BlobListing listing;
  Result<ShownListing> shown = read_blob_service_listing(call, listing.page_max);
  if (!shown.ok()) co_return shown.status();
  const Result<Included> included = read_included(call);
  if (!included.ok()) co_return included.status();
  listing.prefix = shown->prefix.value_or("");
  listing.delimiter = shown->delimiter.value_or("");
  listing.continuation = shown->marker.value_or("");
  listing.with_uncommitted = included->uncommitted;
  Task<Result<BlobPage>> reading =
      ask_container<BlobPage>(call, [&](const Container& container) { return container.list(listing); });
  const Result<BlobPage> page = co_await reading;
  if (!page.ok()) co_return page.status();
  shown->next_marker = page->continuation.value_or("");
  std::uint64_t bytes = 0;
  for (const BlobListed& entry : page->entries) bytes += listed_bytes(entry);
  co_return listing_answer(call, page->entries.size(), bytes, [&] {
    return write_blob_listing(*shown, call.target.container, page->entries, call.version);
  });
}

Answer get_account_information(const BlobCall& /*call*/) {
  HttpResponse response = empty_response(200);
  response.with("x-ms-sku-name", "Standard_LRS").with("x-ms-account-kind", "StorageV2");
  response.with("x-ms-is-hns-enabled", "false");
  co_return response;
}

Answer get_blob_service_properties(const BlobCall& call) {
  return answer_properties(call.about(StorageService::kBlobs));
}

Answer set_blob_service_properties(const BlobCall& call) {
  return change_properties(call.about(StorageService::kBlobs));
}

Answer get_blob_service_statistics(const BlobCall& call) {
  return answer_statistics(call.about(StorageService::kBlobs));
}

}  // namespace varve::serve
