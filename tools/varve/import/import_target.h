// Owns: the store and the table that an import fills, and the moment when they are created.
// Must never: create a store or a table if every row was refused.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tools/varve/reach/value_access.h"
#include "tools/varve/session/session.h"
#include "varve/loader.h"

namespace varve::tool {

/// Checks that a table would accept the entity. Errors: as Table::insert.
Status check_entity(const Entity& entity, const StoreLimits& limits);

/// Returns the refusal of an entity, with the option that helps if its keys have characters that no key may have.
Status with_remedy(const Status& refused, const Entity& entity);

class ImportTarget {
 public:
  /// `loads`: a Loader fills the table. `has_contents`: rows have large values.
  ImportTarget(const Place& place, bool loads, bool has_contents)
      : place_(place), loads_(loads), has_contents_(has_contents) {}

  /// Opens the store and the table if they exist. Errors: those of opening; kInvalidArgument (the directory above the
  /// store does not exist; a load into a table at a server; large values at an address; a load into a table with large
  /// values);
  /// kExists (a load into a table with entities).
  Status open();
  /// Creates the store and the table if they do not exist. Called before the first row is written. Errors: as open().
  Status create();
  /// While no row can be written: checks that the table would accept the entity, so that it is created for an entity
  /// that it accepts. Errors: as Table::insert. Later the table itself checks.
  Status check(const Entity& entity) const;
  /// Returns whether rows can be written.
  bool is_ready() const noexcept { return loads_ ? loader_.has_value() : table_ != nullptr; }

  TableAccess& table() { return *table_; }
  /// Returns the access to the large values of the table, which exists. Errors: those of reach_values().
  Result<ValueAccess*> values();
  Loader& loader() { return *loader_; }
  /// Returns the indexes that a load has not built.
  std::vector<UnbuiltIndex> unbuilt_indexes() const {
    return loader_ ? loader_->unbuilt_indexes() : std::vector<UnbuiltIndex>();
  }
  /// Returns a time before the first row. Rows with a later Timestamp were written by this import.
  DateTime begun() const noexcept { return begun_; }
  /// Waits until all rows are on the device, and closes the store if there is one.
  Status close();
  /// Returns null while no store exists, and for a store at a server.
  const Store* store() const noexcept { return store_ == nullptr ? nullptr : store_->local(); }

 private:
  Status check_place_of_contents() const;
  Status open_table();
  Status begin_load();
  Status note_time();

  const Place& place_;
  const bool loads_;
  const bool has_contents_;
  std::unique_ptr<StoreAccess> store_;
  std::unique_ptr<TableAccess> table_;
  std::unique_ptr<ValueAccess> values_;
  std::optional<Loader> loader_;
  DateTime begun_;
};

}  // namespace varve::tool
