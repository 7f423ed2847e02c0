// Owns: the meaning of a service's answers: failures as a Status, entities and lists as values.
// Must never: take a malformed answer for an empty one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest/protocol/message.h"
#include "varve/result.h"
#include "varve/store.h"
#include "varve/table_index.h"

namespace varve::tool {

/// Returns Ok for an answer with a status of 2xx. Otherwise returns the failure, with the error string of the service.
Status status_of(const serve::HttpResponse& response);

/// Returns the ETag of an answer to a write. A delete has none.
Result<ETag> etag_of(const serve::HttpResponse& response);

/// Returns one entity of an answer.
Result<Entity> entity_of_answer(std::string_view body);
/// Returns a page of entities with its continuation.
Result<Page> page_of_answer(const serve::HttpResponse& response);
/// Returns a page of tables. The answer has no times of creation.
Result<TablePage> tables_of_answer(const serve::HttpResponse& response);
/// An index, and its build in the server.
struct ServedIndex {
  IndexInfo info{};
  /// Set while the server builds the index.
  std::optional<IndexBuildProgress> build{};
};
/// Returns the indexes of a table.
Result<std::vector<ServedIndex>> indexes_of_answer(const serve::HttpResponse& response);
/// Returns the properties of a service. Properties that Varve lacks are left out.
Result<ServiceProperties> properties_of_answer(const serve::HttpResponse& response, StorageService service);
/// Returns the answers inside the answer to a batch.
Result<std::vector<serve::HttpResponse>> parts_of_answer(const serve::HttpResponse& response);

}  // namespace varve::tool
