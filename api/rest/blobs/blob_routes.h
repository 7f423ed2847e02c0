// Owns: the table of routes of the blob service: the resource, part and verb of each request, the permission it requires,
// and how its body is read.
// Must never: contain a route without a permission.
#pragma once

#include <cstdint>
#include <string_view>

#include "api/rest/blobs/blob_target.h"
#include "api/rest/protocol/message.h"
#include "api/rest/protocol/query_parameters.h"
#include "api/rest/service/operation.h"
#include "varve/result.h"
#include "varve/security/account_sas.h"

namespace varve::serve {

/// The part of a resource that the query parameters `comp` and `restype` select, and the header x-ms-copy-source.
enum class BlobPart : std::uint8_t {
  kContent,
  kCopy,  // a content that is that of another blob
  kList,
  kMetadata,
  kPolicies,
  kLease,
  kProperties,
  kStatistics,
  kAccount,
  kBatch,
  kBlock,
  kBlockCopy,  // a block that is the content of another blob
  kBlockList,
  kAppend,
  kAppendCopy,
  kTags,
  kTier,
  kAbortCopy,
};

struct BlobRoute {
  BlobResource resource;
  BlobPart part;
  std::string_view verb;
  security::AccountOperation needs;
  Operation operation;
  /// Whether the secondary answers it.
  bool is_read = false;
};

/// Returns the route. Errors: kInvalidArgument (UnsupportedHttpVerb: the resource has only other verbs; InvalidUri: it
/// has no such part; InvalidQueryParameterValue: `comp` or `restype` has an unknown value). Source: BN-04, BN-05.
Result<const BlobRoute*> find_blob_route(BlobResource resource, const QueryParameters& parameters,
                                         const Headers& headers, std::string_view verb);

/// Returns whether the body of a request is the content of a blob, a block or an append, or a list of blocks. Such a body may be
/// longer than other bodies. Looks at the request's head alone.
bool carries_content(const HttpRequest& request);

}  // namespace varve::serve
