// Owns: the routes that read and change the state of a blob, without its content.
// Must never: change a part of a state that the request does not name.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/rest/blobs/blob_answers.h"
#include "api/rest/blobs/blob_call.h"
#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/blobs/blob_headers.h"
#include "api/rest/blobs/blob_xml.h"
#include "api/rest/blobs/readable_content.h"
#include "api/rest/protocol/metadata_headers.h"
#include "api/rest/protocol/wire_error.h"
#include "api/rest/service/call.h"

namespace varve::serve {
namespace {

/// Reads the state of the blob. `conditions` gets those of the request.
Task<Result<BlobState>> state_of(const BlobCall& call, BlobConditions& conditions) {
  const Result<BlobConditions> asked = read_blob_conditions(call.headers(), BlobAccess::kRead);
  if (!asked.ok()) co_return asked.status();
  conditions = *asked;
  BlobReadOptions options;
  options.conditions = lease_alone(conditions);
  if (names_large_value(call.target)) {
    BlobState state;
    Task<Status> opening = run_in_store(call, [&](Store& store) -> Status {
      const Result<std::shared_ptr<const ReadableContent>> content = ReadableContent::open(call, store, options);
      if (content.ok()) state = (*content)->state();
      return content.status();
    });
    const Status opened = co_await opening;
    if (!opened.ok()) co_return opened;
    co_return state;
  }
  Task<Result<BlobState>> reading =
      ask_container<BlobState>(call, [&](Container& container) { return container.state(call.target.blob, options); });
  Result<BlobState> state = co_await reading;
  co_return state;
}

/// Reads the conditions of a change.
Result<BlobChangeOptions> change_options(const BlobCall& call) {
  BlobChangeOptions options;
  const Result<BlobConditions> conditions = read_blob_conditions(call.headers(), BlobAccess::kWrite);
  if (!conditions.ok()) return conditions.status();
  options.conditions = *conditions;
  return options;
}

/// Carries out a change of the state, and answers with the new version.
template <typename Change>
Answer change_state(const BlobCall& call, std::uint16_t status, Change change) {
  const Result<BlobChangeOptions> options = change_options(call);
  if (!options.ok()) co_return options.status();
  Task<Result<BlobState>> changing =
      ask_container<BlobState>(call, [&](Container& container) { return change(container, *options); });
  const Result<BlobState> changed = co_await changing;
  if (!changed.ok()) co_return changed.status();
  co_return carried_out_answer([&] { return written_response(status, changed->etag, changed->modified); });
}

/// Gives the blob a new version with the properties that it has: a request that names none clears none. The change is
/// bound to the state that was read, so that it reverts no other change. Source: BP-01.
Result<BlobState> keep_properties(const BlobCall& call, Container& container, const BlobChangeOptions& options) {
  for (;;) {
    const Result<BlobState> present = container.state(call.target.blob);
    if (!present.ok()) return present;
    BlobChangeOptions bound = options;
    // A caller's condition that is not met stays, and the store refuses the change by it.
    const bool is_bound = judge_change(options.conditions, present->etag, present->modified);
    if (is_bound) {
      bound.conditions = lease_alone(options.conditions);
      bound.conditions.if_match = present->etag;
    } else {
      bound.conditions.if_match = ETag::of_timestamp(DateTime{});  // no blob has it
    }
    Result<BlobState> changed = container.set_properties(call.target.blob, present->properties, bound);
    if (changed.ok() || !is_bound || changed.status().service_error() != "ConditionNotMet") return changed;
  }
}

}  // namespace

Answer get_blob_state(const BlobCall& call) {
  BlobConditions conditions;
  Task<Result<BlobState>> reading = state_of(call, conditions);
  const Result<BlobState> state = co_await reading;
  if (!state.ok()) co_return state.status();
  if (auto refused = judged_answer(conditions, state->etag, state->modified)) co_return *std::move(refused);
  HttpResponse response;
  response.with("Accept-Ranges", "bytes");
  add_blob_state(response, *state, call);
  if (state->properties.content_md5) response.with("Content-MD5", md5_text(*state->properties.content_md5));
  response.stated_bytes = state->length;
  co_return response;
}

Answer get_blob_metadata(const BlobCall& call) {
  BlobConditions conditions;
  Task<Result<BlobState>> reading = state_of(call, conditions);
  const Result<BlobState> state = co_await reading;
  if (!state.ok()) co_return state.status();
  if (auto refused = judged_answer(conditions, state->etag, state->modified)) co_return *std::move(refused);
  HttpResponse response;
  add_version(response, state->etag, state->modified);
  add_metadata(response, state->metadata);
  co_return response;
}

Answer set_blob_metadata(const BlobCall& call) {
  const std::vector<MetadataPair> metadata = metadata_of(call.headers());
  Answer changing = change_state(call, 200, [&](Container& container, const BlobChangeOptions& options) {
    return container.set_metadata(call.target.blob, metadata, options);
  });
  Result<HttpResponse> changed = co_await changing;
  co_return changed;
}

Answer set_blob_properties(const BlobCall& call) {
  const Result<BlobProperties> properties = read_blob_properties(call.headers(), PropertyHeaders::kOwn);
  if (!properties.ok()) co_return properties.status();
  const bool names_some = names_blob_properties(call.headers());
  Answer changing =
      change_state(call, 200, [&](Container& container, const BlobChangeOptions& options) -> Result<BlobState> {
        if (names_some) return container.set_properties(call.target.blob, *properties, options);
        return keep_properties(call, container, options);
      });
  Result<HttpResponse> changed = co_await changing;
  co_return changed;
}

Answer get_blob_tags(const BlobCall& call) {
  BlobConditions conditions;
  Task<Result<BlobState>> reading = state_of(call, conditions);
  const Result<BlobState> state = co_await reading;
  if (!state.ok()) co_return state.status();
  if (auto refused = judged_answer(conditions, state->etag, state->modified)) co_return *std::move(refused);
  co_return xml_response(write_tags(state->tags));
}

Answer set_blob_tags(const BlobCall& call) {
  const Result<std::vector<BlobTag>> tags = read_tags(call.request.body);
  if (!tags.ok()) co_return tags.status();
  const Result<BlobChangeOptions> options = change_options(call);
  if (!options.ok()) co_return options.status();
  Task<Result<BlobState>> setting = ask_container<BlobState>(
      call, [&](Container& container) { return container.set_tags(call.target.blob, *tags, *options); });
  const Result<BlobState> set = co_await setting;
  if (!set.ok()) co_return set.status();
  co_return carried_out_answer([] { return empty_response(204); });
}

Answer set_blob_tier(const BlobCall& call) {
  const Result<BlobTier> tier = read_tier(call.headers());
  if (!tier.ok()) co_return tier.status();
  if (*tier == BlobTier::kDefault) {
    co_return refused("MissingRequiredHeader", "the request needs the header x-ms-access-tier");
  }
  const Result<BlobChangeOptions> options = change_options(call);
  if (!options.ok()) co_return options.status();
  Task<Result<BlobState>> setting = ask_container<BlobState>(
      call, [&](Container& container) { return container.set_tier(call.target.blob, *tier, *options); });
  const Result<BlobState> set = co_await setting;
  if (!set.ok()) co_return set.status();
  co_return carried_out_answer([] { return empty_response(200); });
}

Answer delete_blob(const BlobCall& call) {
  const Result<BlobChangeOptions> options = change_options(call);
  if (!options.ok()) co_return options.status();
  const std::string* const snapshots = find_header(call.headers(), "x-ms-delete-snapshots");
  const bool only_snapshots = snapshots != nullptr && equal_ignoring_case(trimmed(*snapshots), "only");
  if (snapshots != nullptr && !only_snapshots && !equal_ignoring_case(trimmed(*snapshots), "include")) {
    co_return invalid_header("x-ms-delete-snapshots", "expected include or only");
  }
  Task<Status> deleting = with_container(call, [&](Container& container) {
    // There are no snapshots, so a blob that is there has none to delete. Source: BD-02.
    if (only_snapshots) return container.state(call.target.blob).status();
    return container.remove(call.target.blob, *options);
  });
  const Status deleted = co_await deleting;
  if (!deleted.ok()) co_return deleted;
  co_return carried_out_answer([] {
    HttpResponse response = empty_response(202);
    response.with("x-ms-delete-type-permanent", "true");
    return response;
  });
}

Answer lease_blob(const BlobCall& call) {
  const Result<LeaseRequest> request = read_lease_request(call.headers());
  if (!request.ok()) co_return request.status();
  Result<BlobChangeOptions> options = change_options(call);
  if (!options.ok()) co_return options.status();
  options->conditions.lease.reset();  // the request has it
  BlobState state;
  Task<Result<LeaseAnswer>> leasing =
      ask_container<LeaseAnswer>(call, [&](Container& container) -> Result<LeaseAnswer> {
        Result<LeaseAnswer> leased = container.lease(call.target.blob, *request, *options);
        if (!leased.ok()) return leased;
        Result<BlobState> present = container.state(call.target.blob);
        if (present.ok()) state = *std::move(present);
        return leased;
      });
  const Result<LeaseAnswer> leased = co_await leasing;
  if (!leased.ok()) co_return leased.status();
  co_return carried_out_answer([&] {
    HttpResponse response = lease_response(*request, *leased);
    if (!state.etag.is_none()) add_version(response, state.etag, state.modified);
    return response;
  });
}

}  // namespace varve::serve
