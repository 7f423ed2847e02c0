#include "api/rest/blobs/blob_routes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "api/rest/protocol/wire_error.h"
#include "varve/names.h"

namespace varve::serve {
namespace {

using enum security::AccountOperation;

constexpr auto kOfService = BlobResource::kService;
constexpr auto kOfContainer = BlobResource::kContainer;
constexpr auto kOfBlob = BlobResource::kBlob;

constexpr std::array kBlobRoutes = std::to_array<BlobRoute>({
    {kOfService, BlobPart::kList, "GET", kListContainers, Operation::kListContainers, true},
    {kOfService, BlobPart::kProperties, "GET", kReadServiceProperties, Operation::kGetBlobServiceProperties, true},
    {kOfService, BlobPart::kProperties, "PUT", kWriteServiceProperties, Operation::kSetBlobServiceProperties},
    {kOfService, BlobPart::kStatistics, "GET", kReadServiceStatistics, Operation::kGetBlobServiceStatistics, true},
    {kOfService, BlobPart::kAccount, "GET", kReadAccountInformation, Operation::kGetAccountInformation, true},
    {kOfService, BlobPart::kAccount, "HEAD", kReadAccountInformation, Operation::kGetAccountInformation, true},
    {kOfService, BlobPart::kBatch, "POST", kSendBlobBatch, Operation::kBlobBatch},

    {kOfContainer, BlobPart::kContent, "PUT", kCreateContainer, Operation::kCreateContainer},
    {kOfContainer, BlobPart::kContent, "DELETE", kDropContainer, Operation::kDeleteContainer},
    {kOfContainer, BlobPart::kContent, "GET", kReadContainer, Operation::kGetContainer, true},
    {kOfContainer, BlobPart::kContent, "HEAD", kReadContainer, Operation::kGetContainer, true},
    {kOfContainer, BlobPart::kMetadata, "GET", kReadContainer, Operation::kGetContainerMetadata, true},
    {kOfContainer, BlobPart::kMetadata, "HEAD", kReadContainer, Operation::kGetContainerMetadata, true},
    {kOfContainer, BlobPart::kMetadata, "PUT", kWriteContainerMetadata, Operation::kSetContainerMetadata},
    {kOfContainer, BlobPart::kPolicies, "GET", kReadAccessPolicies, Operation::kGetContainerPolicies, true},
    {kOfContainer, BlobPart::kPolicies, "HEAD", kReadAccessPolicies, Operation::kGetContainerPolicies, true},
    {kOfContainer, BlobPart::kPolicies, "PUT", kWriteAccessPolicies, Operation::kSetContainerPolicies},
    {kOfContainer, BlobPart::kLease, "PUT", kLeaseContainer, Operation::kLeaseContainer},
    {kOfContainer, BlobPart::kList, "GET", kListBlobs, Operation::kListBlobs, true},
    {kOfContainer, BlobPart::kAccount, "GET", kReadAccountInformation, Operation::kGetAccountInformation, true},
    {kOfContainer, BlobPart::kAccount, "HEAD", kReadAccountInformation, Operation::kGetAccountInformation, true},
    {kOfContainer, BlobPart::kBatch, "POST", kSendBlobBatch, Operation::kBlobBatch},

    {kOfBlob, BlobPart::kContent, "PUT", kCreateBlob, Operation::kPutBlob},
    {kOfBlob, BlobPart::kContent, "GET", kReadBlob, Operation::kGetBlob, true},
    {kOfBlob, BlobPart::kContent, "HEAD", kReadBlob, Operation::kGetBlobState, true},
    {kOfBlob, BlobPart::kContent, "DELETE", kRemoveBlob, Operation::kDeleteBlob},
    {kOfBlob, BlobPart::kCopy, "PUT", kCreateBlob, Operation::kCopyBlob},
    {kOfBlob, BlobPart::kAbortCopy, "PUT", kReplaceBlob, Operation::kAbortCopyBlob},
    {kOfBlob, BlobPart::kBlock, "PUT", kPutBlock, Operation::kPutBlock},
    {kOfBlob, BlobPart::kBlockCopy, "PUT", kPutBlock, Operation::kPutBlock},
    {kOfBlob, BlobPart::kBlockList, "PUT", kCreateBlob, Operation::kPutBlockList},
    {kOfBlob, BlobPart::kBlockList, "GET", kReadBlob, Operation::kGetBlockList, true},
    {kOfBlob, BlobPart::kAppend, "PUT", kAppendBlock, Operation::kAppendBlock},
    {kOfBlob, BlobPart::kAppendCopy, "PUT", kAppendBlock, Operation::kAppendBlock},
    {kOfBlob, BlobPart::kAccount, "GET", kReadAccountInformation, Operation::kGetAccountInformation, true},
    {kOfBlob, BlobPart::kAccount, "HEAD", kReadAccountInformation, Operation::kGetAccountInformation, true},
    {kOfBlob, BlobPart::kProperties, "PUT", kChangeBlob, Operation::kSetBlobProperties},
    {kOfBlob, BlobPart::kMetadata, "GET", kReadBlob, Operation::kGetBlobMetadata, true},
    {kOfBlob, BlobPart::kMetadata, "HEAD", kReadBlob, Operation::kGetBlobMetadata, true},
    {kOfBlob, BlobPart::kMetadata, "PUT", kChangeBlob, Operation::kSetBlobMetadata},
    {kOfBlob, BlobPart::kTags, "GET", kReadBlobTags, Operation::kGetBlobTags, true},
    {kOfBlob, BlobPart::kTags, "PUT", kWriteBlobTags, Operation::kSetBlobTags},
    {kOfBlob, BlobPart::kTier, "PUT", kChangeBlob, Operation::kSetBlobTier},
    {kOfBlob, BlobPart::kLease, "PUT", kChangeBlob, Operation::kLeaseBlob},
});

/// The values of `comp` beside those that need `restype=service`.
constexpr std::pair<std::string_view, BlobPart> kNamedParts[] = {
    {"list", BlobPart::kList},           {"metadata", BlobPart::kMetadata},     {"acl", BlobPart::kPolicies},
    {"lease", BlobPart::kLease},         {"properties", BlobPart::kProperties}, {"block", BlobPart::kBlock},
    {"blocklist", BlobPart::kBlockList}, {"appendblock", BlobPart::kAppend},    {"tags", BlobPart::kTags},
    {"tier", BlobPart::kTier},           {"copy", BlobPart::kAbortCopy},        {"batch", BlobPart::kBatch}};

std::string lower_parameter(const QueryParameters& parameters, std::string_view name) {
  const std::string* const value = parameters.find(name);
  return value == nullptr ? std::string() : lower_case(*value);
}

/// Returns the part that the query selects, or nothing if a value is unknown.
std::optional<BlobPart> named_part(BlobResource resource, const QueryParameters& parameters) {
  const std::string comp = lower_parameter(parameters, "comp");
  const std::string restype = lower_parameter(parameters, "restype");
  if (restype == "service") {
    if (comp == "properties") return BlobPart::kProperties;
    return comp == "stats" ? std::optional(BlobPart::kStatistics) : std::nullopt;
  }
  if (restype == "account") return comp == "properties" ? std::optional(BlobPart::kAccount) : std::nullopt;
  // The JavaScript client takes the account in a path for a container, so its batch of a service has a restype.
  const bool is_batch_of_service = resource == BlobResource::kService && comp == "batch";
  const bool may_be_of_container = resource == BlobResource::kContainer || is_batch_of_service;
  if (!restype.empty() && (restype != "container" || !may_be_of_container)) return std::nullopt;
  if (comp.empty()) return BlobPart::kContent;
  for (const auto& [name, part] : kNamedParts) {
    if (name == comp) return part;
  }
  return std::nullopt;
}

/// Returns the part whose content is that of another blob.
BlobPart copied_part(BlobPart part) noexcept {
  switch (part) {
    case BlobPart::kContent: return BlobPart::kCopy;
    case BlobPart::kBlock: return BlobPart::kBlockCopy;
    case BlobPart::kAppend: return BlobPart::kAppendCopy;
    default: return part;
  }
}

}  // namespace

Result<const BlobRoute*> find_blob_route(BlobResource resource, const QueryParameters& parameters,
                                         const Headers& headers, std::string_view verb) {
  std::optional<BlobPart> part = named_part(resource, parameters);
  if (!part) return refused("InvalidQueryParameterValue", "comp and restype select nothing that this service has");
  const bool has_source = verb == "PUT" && find_header(headers, "x-ms-copy-source") != nullptr;
  if (has_source && resource == BlobResource::kBlob) part = copied_part(*part);
  bool has_part = false;
  for (const BlobRoute& route : kBlobRoutes) {
    if (route.resource != resource || route.part != *part) continue;
    if (route.verb == verb) return &route;
    has_part = true;
  }
  if (has_part) return refused("UnsupportedHttpVerb", "the resource does not support this verb");
  return refused("InvalidUri", "the URL and its comp name nothing that this service has");
}

bool carries_content(const HttpRequest& request) {
  if (request.head.verb != "PUT" || find_header(request.head.headers, "x-ms-copy-source") != nullptr) return false;
  const Result<QueryParameters> parameters = QueryParameters::parse(request.head.query);
  if (!parameters.ok() || parameters->find("restype") != nullptr) return false;
  const std::string comp = lower_parameter(*parameters, "comp");
  return comp.empty() || comp == "block" || comp == "blocklist" || comp == "appendblock";
}

}  // namespace varve::serve
