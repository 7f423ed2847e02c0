// Owns: the verbs of a table that the table service lacks, or answers with less, at the operator's door of the server that
// has the store open (tools/serve/local/table_door.h).
// Must never: repeat a change, or let the server go on after a stop.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tools/serve/local/blob_fields.h"
#include "tools/varve/reach/wire.h"
#include "varve/query.h"
#include "varve/result.h"
#include "varve/table_options.h"
#include "varve/transaction.h"

namespace varve::tool {

/// The functions have the meaning and the errors of the verbs of varve/table.h and varve/store.h. They take only
/// the durability of WriteOptions.
class TableDoor {
 public:
  TableDoor(std::shared_ptr<Wire> wire, std::string account, std::string table)
      : wire_(std::move(wire)), account_(std::move(account)), table_(std::move(table)) {}

  Status create(const TableOptions& options) const;
  Result<std::optional<TableExpiry>> expiry() const;
  Status set_expiry(const std::optional<TableExpiry>& expiry) const;
  /// Uses only the selection of the options.
  Result<std::optional<Entity>> get(const std::string& partition_key, const std::string& row_key,
                                    const ReadOptions& options) const;
  Result<ETag> write(const WriteOperation& operation, const WriteOptions& options) const;
  /// Without an ETag, the patch may insert the entity.
  Result<Entity> patch(const Patch& patch, std::optional<ETag> if_match, const WriteOptions& options) const;
  /// Sends a request for each batch. Without changes, the entities are deleted.
  Result<WhereProgress> change_where(const Where& where, const PropertyChanges* changes,
                                     const WhereOptions& options) const;

 private:
  std::string of(const std::string& verb, const WriteOptions& options) const;
  Result<serve::Fields> send(const std::string& query, const serve::Fields& body) const;

  std::shared_ptr<Wire> wire_;
  std::string account_;
  std::string table_;
};

}  // namespace varve::tool
