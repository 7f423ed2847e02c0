// Owns: what a request that writes content says besides the content, and what its answer says about it.
// Must never: read a body.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/rest/blobs/blob_call.h"
#include "api/rest/blobs/blob_headers.h"
#include "api/rest/blobs/upload.h"
#include "varve/blob.h"
#include "varve/result.h"

namespace varve::serve {

/// The version from which answers have a CRC-64 in place of an MD5.
inline constexpr std::string_view kCrcVersion = "2019-02-02";

/// Reads what a put gives a blob. Errors: those of the readers of headers. Source: BB-01 to BB-05.
Result<BlobWriteOptions> read_put_options(const BlobCall& call, PropertyHeaders where);
/// Returns the block id of the request. Errors: kInvalidArgument (MissingRequiredQueryParameter,
/// InvalidQueryParameterValue). Source: BB-06.
Result<std::string> read_block_id(const BlobCall& call);
/// Returns the conditions of an append. Errors: those of the readers of headers. Source: BA-03.
Result<AppendOptions> read_append_options(const BlobCall& call);

/// Adds the checksum that a client can compare. Source: BB-01, BB-06.
void add_sums(HttpResponse& response, const ContentSums& sums, const BodyChecksums& sent, std::string_view version);
/// Returns the answer of an append. `offset` is where it begins. Source: BA-01.
HttpResponse append_response(const ETag& etag, std::uint64_t offset, std::uint32_t append_count);

}  // namespace varve::serve
