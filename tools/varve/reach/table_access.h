// Owns: the verbs that the program needs of a store and of a table, wherever the store is: in this process, or at a
// server.
// Must never: hide where a store is. A verb that needs the store itself asks for local().
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "varve/aggregate.h"
#include "varve/store.h"
#include "varve/table_index.h"

namespace varve::tool {

/// One table. The functions have the meaning and the errors of the Table verbs of the same names.
class TableAccess {
 public:
  virtual ~TableAccess() = default;
  virtual Result<std::optional<Entity>> get(const std::string& partition_key, const std::string& row_key,
                                            const ReadOptions& options) const = 0;
  /// A server's pages may show different states, because it keeps no snapshot between two pages.
  virtual Result<Page> scan(const Scan& scan) const = 0;
  virtual Result<Count> count(const Scan& scan) const = 0;
  virtual Result<Count> aggregate(const Scan& scan, Aggregation& into) const = 0;
  /// Errors: kInvalidArgument (the table is at a server).
  virtual Result<ScanPlan> explain(const Scan& scan) const = 0;
  /// Carries out one write. A delete returns no ETag.
  virtual Result<ETag> write(const WriteOperation& operation, const WriteOptions& options) = 0;
  /// Errors also: kInvalidArgument (the table is at an address).
  virtual Result<Entity> patch(const Patch& patch, ETag if_match, const WriteOptions& options) = 0;
  virtual Result<Entity> insert_or_patch(const Patch& patch, const WriteOptions& options) = 0;
  /// Does Table::update_where(), or delete_where() without changes. Errors also: kInvalidArgument (the table is at an
  /// address).
  virtual Result<WhereProgress> change_where(const Where& where, const PropertyChanges* changes,
                                             const WhereOptions& options) = 0;
  virtual Result<std::vector<ETag>> execute(const EntityGroupTransaction& transaction, const WriteOptions& options) = 0;
};

/// A store, or the account of a service. The functions have the meaning and the errors of the Store verbs of the same
/// names.
class StoreAccess {
 public:
  virtual ~StoreAccess() = default;
  virtual Result<std::unique_ptr<TableAccess>> open_table(const std::string& account, const std::string& table) = 0;
  /// Errors also: kInvalidArgument (a table with large values or with a rule of expiry at an address).
  virtual Status create_table(const std::string& account, const std::string& table, const TableOptions& options) = 0;
  virtual Status drop_table(const std::string& account, const std::string& table) = 0;
  /// A server builds the index also after this process has ended.
  virtual Status create_index(const std::string& account, const std::string& table, const IndexDefinition& definition,
                              const std::function<bool(const IndexBuildProgress&)>& progress) = 0;
  virtual Status drop_index(const std::string& account, const std::string& table, const std::string& index) = 0;
  virtual Result<std::vector<IndexInfo>> indexes(const std::string& account, const std::string& table) = 0;
  /// Errors also: kInvalidArgument (the table is at an address).
  virtual Status set_table_expiry(const std::string& account, const std::string& table,
                                  const std::optional<TableExpiry>& expiry) = 0;
  virtual Result<std::optional<TableExpiry>> table_expiry(const std::string& account, const std::string& table) = 0;
  virtual Result<std::vector<AccessPolicy>> access_policies(const std::string& account, const std::string& table) = 0;
  virtual Status set_access_policies(const std::string& account, const std::string& table,
                                     const std::vector<AccessPolicy>& policies) = 0;
  /// At an address, the access must have been reached for the same service.
  virtual Result<ServiceProperties> service_properties(const std::string& account, StorageService service) = 0;
  virtual Status set_service_properties(const std::string& account, StorageService service,
                                        const ServicePropertiesChange& change) = 0;
  virtual Result<TablePage> list_tables(const std::string& account, const ListOptions& options) = 0;
  virtual Status create_account(const std::string& account) = 0;
  virtual Status drop_account(const std::string& account) = 0;
  virtual Result<AccountPage> list_accounts(const ListOptions& options) = 0;
  /// Returns a time that is not after the Timestamp of any later write, and at most a second before it.
  virtual Result<DateTime> now() = 0;
  /// Returns the store if this process has it open. Otherwise null.
  virtual Store* local() noexcept = 0;
  virtual Status close() = 0;
};

/// Opens the table. Creates the table, with the options, and its account if they do not exist.
Result<std::unique_ptr<TableAccess>> open_or_make_table(StoreAccess& store, const std::string& account,
                                                        const std::string& table, const TableOptions& options = {});

/// Checks that no property is a large value: its content stays in its store. Errors: kInvalidArgument.
Status check_has_no_contents(const Entity& entity);

}  // namespace varve::tool
