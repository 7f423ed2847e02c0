#include "api/rest/blobs/copy_source.h"

#include <utility>

#include "api/rest/protocol/message.h"
#include "api/rest/protocol/wire_error.h"

namespace varve::serve {
namespace {

/// Returns a host without its first label, if that names an account. All accounts of a server then have the same rest.
std::string_view host_of_server(const BlobCall& call, std::string_view host) {
  const std::size_t dot = host.find('.');
  constexpr std::string_view kSecondary = "-secondary";
  std::string_view label = host.substr(0, dot);
  if (dot == std::string_view::npos) return host;
  if (label.ends_with(kSecondary)) label.remove_suffix(kSecondary.size());
  return call.knows_account(label) ? host.substr(dot) : host;
}

bool is_on_this_server(const BlobCall& call, std::string_view host) {
  const std::string own = host_of(call.request);
  return equal_ignoring_case(host, own) || equal_ignoring_case(host_of_server(call, host), host_of_server(call, own));
}

}  // namespace

Status unverifiable_source(std::string_view reason) {
  return Status(Code::kForbidden, "the source of the copy cannot be used: " + std::string(reason))
      .with_service_error("CannotVerifyCopySource");
}

bool CopySource::has_signature() const {
  const Result<QueryParameters> parameters = QueryParameters::parse(query);
  return parameters.ok() && parameters->find("sig") != nullptr;
}

Result<CopySource> read_copy_source(const BlobCall& call) {
  const std::string url(trimmed(*find_header(call.headers(), "x-ms-copy-source")));
  HttpRequest request;
  if (!set_target(request, url) || !request.absolute_host) return unverifiable_source("it is no URL");
  if (!is_on_this_server(call, *request.absolute_host)) {
    return unverifiable_source("it is on another server, and this server fetches nothing");
  }
  Result<Address> address = parse_address(request.head.path, *request.absolute_host, "http", call.knows_account);
  if (!address.ok()) return unverifiable_source("its path is badly encoded");
  if (!call.knows_account(address->account)) return unverifiable_source("it is in an unknown account");
  const Result<QueryParameters> parameters = QueryParameters::parse(request.head.query);
  if (!parameters.ok()) return parameters.status();
  if (parameters->find("snapshot") != nullptr || parameters->find("versionid") != nullptr) {
    return Status::not_found("the snapshot does not exist").with_service_error("BlobNotFound");
  }
  Result<BlobTarget> target = parse_blob_target(address->resource, *parameters);
  if (!target.ok()) return target.status();
  if (target->resource != BlobResource::kBlob) return unverifiable_source("it names no blob");
  return CopySource{std::move(address->account), *std::move(target), std::move(request.head.query),
                    url.substr(0, url.find('?'))};
}

Task<Status> check_copy_source(const BlobCall& call, const CopySource& source, SourceNeeds needs) {
  Task<Status> asking = call.permits(source, security::AccountOperation::kReadBlob);
  const Status readable = co_await asking;
  if (!readable.ok()) co_return unverifiable_source("the caller may not read it");
  if (needs == SourceNeeds::kContent) co_return Status();
  Task<Status> asking_tags = call.permits(source, security::AccountOperation::kReadBlobTags);
  const Status has_tags = co_await asking_tags;
  co_return has_tags.ok() ? Status() : unverifiable_source("the caller may not read its tags");
}

}  // namespace varve::serve
