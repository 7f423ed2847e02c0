// Owns: the routes that make a blob a copy of another one.
// Must never: fetch anything from another server, or copy what the caller may not read.
#include <optional>
#include <string>
#include <utility>

#include "api/model/percent.h"
#include "api/rest/blobs/blob_answers.h"
#include "api/rest/blobs/blob_call.h"
#include "api/rest/blobs/blob_conditions.h"
#include "api/rest/blobs/blob_headers.h"
#include "api/rest/protocol/metadata_headers.h"
#include "api/rest/protocol/wire_error.h"

namespace varve::serve {
namespace {

Status unverifiable(std::string_view reason) {
  return Status(Code::kForbidden, "the source of the copy cannot be used: " + std::string(reason))
      .with_service_error("CannotVerifyCopySource");
}

/// Returns the blob of the same account that the address names. Source: BY-05.
Result<BlobTarget> source_of(const BlobCall& call, const std::string& url) {
  HttpRequest source;
  if (!set_target(source, url) || !source.absolute_host) return unverifiable("it is no URL");
  if (!equal_ignoring_case(*source.absolute_host, host_of(call.request))) {
    return unverifiable("it is on another server, and this server fetches nothing");
  }
  const Result<Address> address =
      parse_address(source.head.path, *source.absolute_host, "http",
                    [&call](std::string_view name) { return name == call.address.account; });
  if (!address.ok()) return unverifiable("its path is badly encoded");
  if (address->account != call.address.account) return unverifiable("it is in another account");
  const Result<QueryParameters> parameters = QueryParameters::parse(source.head.query);
  if (!parameters.ok()) return parameters.status();
  if (parameters->find("snapshot") != nullptr || parameters->find("versionid") != nullptr) {
    return Status::not_found("the snapshot does not exist").with_service_error("BlobNotFound");
  }
  Result<BlobTarget> target = parse_blob_target(address->resource, *parameters);
  if (target.ok() && target->resource != BlobResource::kBlob) return unverifiable("it names no blob");
  return target;
}

bool says_true(const std::string* text) {
  return text != nullptr && equal_ignoring_case(trimmed(*text), "true");
}

/// Reads what the copy gets besides its content. Source: BY-01, BY-02.
Result<BlobCopyOptions> copy_options(const BlobCall& call, bool is_put) {
  BlobCopyOptions options;
  const Result<BlobConditions> conditions = read_blob_conditions(call.headers(), BlobAccess::kWrite);
  if (!conditions.ok()) return conditions.status();
  const Result<BlobConditions> source = read_source_conditions(call.headers());
  if (!source.ok()) return source.status();
  Result<std::vector<BlobTag>> tags = read_tags_header(call.headers());
  if (!tags.ok()) return tags.status();
  const Result<BlobTier> tier = read_tier(call.headers());
  if (!tier.ok()) return tier.status();
  options.conditions = *conditions;
  options.source_conditions = *source;
  options.tags = *std::move(tags);
  options.tier = *tier;
  guard_present_blob(call, options.conditions);
  std::vector<MetadataPair> metadata = metadata_of(call.headers());
  if (is_put || !metadata.empty()) options.metadata = std::move(metadata);
  if (is_put && !says_true(find_header(call.headers(), "x-ms-copy-source-blob-properties"))) {
    Result<BlobProperties> properties = read_blob_properties(call.headers(), PropertyHeaders::kOwnOrCommon);
    if (!properties.ok()) return properties.status();
    options.properties = *std::move(properties);
  }
  return options;
}

}  // namespace

Answer copy_blob(const BlobCall& call) {
  const std::string url(trimmed(*find_header(call.headers(), "x-ms-copy-source")));
  const bool is_put = find_header(call.headers(), "x-ms-blob-type") != nullptr;
  const Result<BlobTarget> source = source_of(call, url);
  if (!source.ok()) co_return source.status();
  Result<BlobCopyOptions> options = copy_options(call, is_put);
  if (!options.ok()) co_return options.status();
  if (!is_put) options->source_address = url.substr(0, url.find('?'));
  Task<Status> asking = call.may_read(source->signed_name());
  const Status readable = co_await asking;
  if (!readable.ok()) co_return unverifiable("the caller may not read it");

  const std::string* const tag_option = find_header(call.headers(), "x-ms-copy-source-tag-option");
  const bool copies_tags = tag_option != nullptr && equal_ignoring_case(trimmed(*tag_option), "COPY");
  Task<Result<BlobState>> copying = ask_container<BlobState>(call, [&](Container& container) -> Result<BlobState> {
    const Result<Container> from = call.store.open_container(call.address.account, source->container);
    if (!from.ok()) return from.status();
    if (copies_tags) {
      Result<BlobState> state = from->state(source->blob);
      if (!state.ok()) return state;
      options->tags = std::move(state->tags);
    }
    return container.copy(call.target.blob, *from, source->blob, *options);
  });
  const Result<BlobState> copied = co_await copying;
  if (!copied.ok()) co_return copied.status();
  HttpResponse response = written_response(is_put ? 201 : 202, copied->etag, copied->modified);
  if (is_put) {
    if (copied->properties.content_md5) response.with("Content-MD5", md5_text(*copied->properties.content_md5));
    co_return response;
  }
  if (copied->copy_id) response.with("x-ms-copy-id", copied->copy_id->to_string());
  response.with("x-ms-copy-status", "success");
  co_return response;
}

Answer abort_copy(const BlobCall& /*call*/) {
  co_return refused("NoPendingCopyOperation", "every copy is complete when it is answered");
}

}  // namespace varve::serve
