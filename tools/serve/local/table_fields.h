// Owns: writes of entities, changes by filter and rules of expiry as fields, which the program and the server exchange over
// the local socket.
// Must never: change a value, a name or their order, or check what the store checks.
#pragma once

#include <string>
#include <string_view>

#include "tools/serve/local/blob_fields.h"
#include "varve/query.h"
#include "varve/result.h"
#include "varve/table_options.h"
#include "varve/transaction.h"

namespace varve::serve {

/// Add the fields of a value to a list. Names may occur twice, and values need not be valid, so that the store refuses them
/// with the same error as in one process.
/// @{
void add_fields(Fields& fields, const Entity& entity);
void add_fields(Fields& fields, const WriteOperation& operation);
void add_fields(Fields& fields, const Where& where);
void add_fields(Fields& fields, const PropertyChanges& changes);
void add_fields(Fields& fields, const WhereProgress& progress);
void add_fields(Fields& fields, const TableOptions& options);
/// @}

/// Return the value that a list has. They ignore fields of other names. Errors: kInvalidArgument (InvalidInput: a field
/// has a value that it cannot have).
/// @{
Result<Entity> entity_of(const Fields& fields);
Result<WriteOperation> write_operation_of(const Fields& fields);
Result<Where> where_of(const Fields& fields);
Result<PropertyChanges> changes_of(const Fields& fields);
Result<WhereProgress> where_progress_of(const Fields& fields);
Result<TableOptions> table_options_of(const Fields& fields);
/// @}

}  // namespace varve::serve
