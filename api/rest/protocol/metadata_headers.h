// Owns: metadata of queues, containers and blobs as headers.
// Must never: check metadata. The store checks it.
#pragma once

#include <vector>

#include "api/rest/protocol/message.h"
#include "varve/queue.h"

namespace varve::serve {

/// Returns the metadata that the headers `x-ms-meta-...` give. Source: QB-05.
std::vector<MetadataPair> metadata_of(const Headers& headers);
void add_metadata(HttpResponse& response, const std::vector<MetadataPair>& metadata);

}  // namespace varve::serve
