// Owns: the door by which the server writes the metrics tables of an account.
// Must never: open a table of a user, or be reached by a request of a client.
#pragma once

#include <string_view>

#include "varve/result.h"
#include "varve/store.h"
#include "varve/table.h"

namespace varve {

class ServiceTables {
 public:
  /// Opens a metrics table, and creates it if it does not exist. `table` is its present spelling (metrics_tables.h). The
  /// handle may write. Errors: kNotFound (ResourceNotFound: the account does not exist), kInvalidArgument (the name is
  /// not that of a metrics table), and those of Store::create_table().
  static Result<Table> open(Store& store, std::string_view account, std::string_view table);
};

}  // namespace varve
