// Owns: the store and the table that an import fills, and when they are created.
// Must never: leave a store or a table behind because of rows that were all refused.
#pragma once

#include <memory>
#include <optional>

#include "tools/varve/session.h"
#include "varve/loader.h"

namespace varve::tool {

class ImportTarget {
 public:
  /// `loads`: the table is filled by a Loader.
  ImportTarget(const Place& place, bool loads) : place_(place), loads_(loads) {}

  /// Opens what exists. Errors: those of opening; kInvalidArgument (the directory above the store does not exist);
  /// kExists (a load into a table with entities).
  Status open();
  /// Creates what does not exist: before the first row is written. Errors: as open().
  Status create();
  /// Whether rows can be written.
  bool is_ready() const noexcept { return loads_ ? loader_.has_value() : table_.has_value(); }

  Table& table() { return *table_; }
  Loader& loader() { return *loader_; }
  /// The version of the store before the first row: what has a later Timestamp is of this import.
  DateTime begun() const noexcept { return begun_; }
  /// Waits until all rows are on the device and closes the store, if there is one.
  Status close();
  /// Null while no store exists.
  const Store* store() const noexcept { return store_.get(); }

 private:
  Status open_table();
  Status begin_load();
  Status note_version();

  const Place& place_;
  const bool loads_;
  std::unique_ptr<Store> store_;
  std::optional<Table> table_;
  std::optional<Loader> loader_;
  DateTime begun_;
};

}  // namespace varve::tool
