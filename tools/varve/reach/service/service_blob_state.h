// Owns: containers and blobs as the headers and the XML of the blob service show them, and as requests name them.
// Must never: send a request.
#pragma once

#include <string>
#include <vector>

#include <pugixml.hpp>

#include "api/rest/protocol/message.h"
#include "varve/blob.h"
#include "varve/result.h"
#include "varve/store.h"

namespace varve::tool {

/// Return what the headers of an answer describe. A blob without an ETag has staged blocks alone. Errors: kIoError (a
/// value is malformed).
/// @{
Result<BlobState> blob_state_of(std::string name, const serve::Headers& headers);
Result<ContainerState> container_state_of(std::string name, const serve::Headers& headers);
/// @}

/// Read one page of a listing. Errors: kIoError.
/// @{
Result<BlobPage> blob_page_of(const serve::HttpResponse& response);
Result<ContainerPage> container_page_of(const serve::HttpResponse& response);
/// @}
Result<BlockLists> block_lists_of(const serve::HttpResponse& response);
std::string block_list_body(const std::vector<BlockChoice>& blocks);

/// Add the headers of a request.
/// @{
void add_condition_headers(serve::Headers& headers, const BlobConditions& conditions);
/// Adds the conditions too.
void add_write_headers(serve::Headers& headers, const BlobWriteOptions& options);
void add_tags_header(serve::Headers& headers, const std::vector<BlobTag>& tags);
void add_lease_headers(serve::Headers& headers, const LeaseRequest& request);
/// @}
/// Returns the answer to a change of a lease. Errors: kIoError.
Result<LeaseAnswer> lease_answer_of(const LeaseRequest& request, const serve::HttpResponse& response);

}  // namespace varve::tool
