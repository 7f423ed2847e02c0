// Owns: names to ids: which accounts and tables there are, at any version; making and dropping them.
// Must never: give an id twice, or resolve a name at another version than its reader's.
//
// A row is judged under its partition's lock on its newest state, published or not; what is told because of an
// unpublished one is told after its publication.
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/catalog/catalog_rows.h"
#include "api/catalog/name_cache.h"
#include "api/catalog/name_release.h"
#include "engine/engine.h"
#include "varve/access_policy.h"
#include "varve/result.h"
#include "varve/service_properties.h"

namespace varve {

/// kNotFound (ResourceNotFound).
Status no_such_account(std::string_view account);
/// kNotFound (TableNotFound).
Status no_such_table(std::string_view account, std::string_view table);

/// The name of a table; every part legal (names.h).
struct TableName {
  std::string account;
  std::string spelling;
  std::string lower;
};

/// What a load was begun with.
struct LoadTarget {
  format::TableId id = 0;
  /// Of every entity.
  format::CommitVersion version = 0;
  /// The empty table that has the name so far.
  std::optional<format::TableId> replaced;
};

/// A table's id, and the newest state of the store at which its name means it.
struct ResolvedTable {
  engine::ReadView view;
  format::TableId id;
};

/// Any thread.
class Catalog {
 public:
  /// `recreation_delay` is StoreOptions'.
  Catalog(engine::Engine& engine, std::chrono::milliseconds recreation_delay);

  NameCache& names() noexcept { return names_; }

  // Errors of all: kNotFound (TableNotFound), kCorruption, kIoError.
  /// For a read of the newest state.
  Result<ResolvedTable> resolve_newest(const TableName& name, NameEntry& entry);
  /// The same where that takes no read of the catalog; else nothing.
  std::optional<ResolvedTable> resolve_cached(const NameEntry& entry) const;
  /// For a write, which the engine refuses if the table is dropped before its turn.
  Result<format::TableId> resolve_for_write(const TableName& name, NameEntry& entry);
  /// For a read at another version.
  static Result<format::TableId> resolve_at(const engine::ReadView& view, const TableName& name);

  /// The account's row in this view, or nothing. Errors: kCorruption, kIoError.
  static Result<std::optional<AccountRow>> find_account(const engine::ReadView& view, std::string_view account);
  static Result<std::optional<TableRow>> find_table(const engine::ReadView& view, std::string_view account,
                                                    std::string_view lower_name);

  // As the verbs of Store; names are legal ones.
  Status create_account(std::string_view account);
  Status drop_account(std::string_view account);
  Status create_table(const TableName& name);
  Status drop_table(std::string_view account, std::string_view lower_name);

  /// Errors: as Store::access_policies.
  static Result<std::vector<AccessPolicy>> find_access_policies(const engine::ReadView& view, const TableName& name);
  /// `policies` are checked. Errors: as Store::set_access_policies.
  Status set_access_policies(const TableName& name, std::span<const AccessPolicy> policies);

  /// Errors: as Store::service_properties.
  static Result<ServiceProperties> find_service_properties(const engine::ReadView& view, std::string_view account);
  /// `change` is checked. Errors: as Store::set_service_properties.
  Status set_service_properties(std::string_view account, const ServicePropertiesChange& change);

  /// Draws id and version for `load`, of a table that is not there or is empty. Errors: as Store::load_table.
  Result<LoadTarget> begin_load(const TableName& name, engine::Load& load);
  /// Gives the name to the load, which is installed. Errors: as Loader::finish; the load may not have ended then.
  Status finish_load(const TableName& name, const LoadTarget& target, engine::Load& load);

 private:
  /// Replaces a row by what `change` makes of it, durably whatever the store's default: what was taken back must not
  /// come back after a power cut. Where there is no row, `absent` says how that is told.
  Status change_row(const std::string& key, const std::function<Status(const engine::ReadView&)>& absent,
                    const std::function<Result<std::string>(const engine::Newest&)>& change);
  Status refuse(engine::PartitionGuard guard, engine::CommitVersion rests_on, const Status& refusal);
  Status commit(format::BatchBuilder& batch, engine::PartitionGuard guard, bool is_drop);
  Result<engine::PartitionGuard> lock_rows(std::initializer_list<std::string_view> keys);
  Result<bool> try_drop_account(std::string_view account);

  engine::Engine& engine_;
  NameCache names_;
  NameRelease release_;
};

}  // namespace varve
