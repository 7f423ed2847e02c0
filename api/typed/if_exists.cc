// Owns: the errors that count as success (if_exists.h).
// Must never: test for existence before it acts. Another caller may act between the test and the action.
#include "varve/if_exists.h"

namespace varve {
namespace {

/// Returns true for success, and false if the object does not exist.
Result<bool> unless_absent(const Status& status) {
  if (status.ok()) return true;
  if (status.code() == Code::kNotFound && status.service_error() == "ResourceNotFound") return false;
  return status;
}

}  // namespace

Status create_account_if_absent(Store& store, std::string_view account) {
  Status made = store.create_account(account);
  return made.code() == Code::kExists ? Status() : made;
}

Result<Table> create_table_if_absent(Store& store, std::string_view account, std::string_view table,
                                     const TableOptions& options) {
  Result<Table> made = store.create_table(account, table, options);
  return made.code() == Code::kExists ? store.open_table(account, table) : made;
}

Result<bool> drop_account_if_exists(Store& store, std::string_view account) {
  return unless_absent(store.drop_account(account));
}

Result<bool> drop_table_if_exists(Store& store, std::string_view account, std::string_view table) {
  return unless_absent(store.drop_table(account, table));
}

Result<bool> remove_if_exists(Table& table, std::string_view partition_key, std::string_view row_key, ETag if_match,
                              const WriteOptions& options) {
  return unless_absent(table.remove(partition_key, row_key, if_match, options));
}

}  // namespace varve
