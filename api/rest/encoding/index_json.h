// Owns: the indexes of a table as the JSON that clients send and receive.
// Must never: check what the store checks: names, the number of components, and whether they exist twice.
//
// One index is a flat object. Lists are texts whose elements are separated by commas, as in $select and $orderby:
//
//   {"Name":"ByCustomer","Components":"Customer,Total desc","Carried":"Lines","Unique":false}
//
// An answer has also State ("building", "ready" or "failed") and Failure. Of a build that goes on, it has the numbers
// EntitiesRead and EntriesWritten.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "varve/result.h"
#include "varve/table_index.h"

namespace varve::serve {

/// Reads the definition of an index. Errors: kInvalidArgument:
/// - InvalidInput: the body is no flat JSON object, or has another member or value; a component has more than one direction.
/// - PropertiesNeedValue: Name or Components is missing.
/// - DuplicatePropertiesSpecified.
Result<IndexDefinition> read_index_definition(std::string_view body);

/// An index, and its build in this server.
struct ShownIndex {
  IndexInfo info{};
  /// Set while the server builds the index.
  std::optional<IndexBuildProgress> build{};
};
std::string write_index(const ShownIndex& index);
/// Returns `{"value":[...]}`.
std::string write_indexes(std::span<const ShownIndex> indexes);

}  // namespace varve::serve
