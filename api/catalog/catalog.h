// Owns: the mapping of names to ids: which accounts and tables exist at any version, and their creation and deletion.
// Must never: assign an id twice, or resolve a name at a version other than the reader's.
//
// An operation judges a row in its newest state, published or not, under the lock of the row's partition. If an error
// rests on an unpublished commit, the operation returns it after that commit is published.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/catalog/catalog_rows.h"
#include "api/catalog/container_rows.h"
#include "api/catalog/index_rows.h"
#include "api/catalog/name_cache.h"
#include "api/catalog/name_release.h"
#include "api/catalog/queue_rows.h"
#include "api/catalog/row_change.h"
#include "api/commit/backend.h"
#include "engine/engine.h"
#include "varve/access_policy.h"
#include "varve/result.h"
#include "varve/service_properties.h"
#include "varve/table_options.h"

namespace varve {

/// Returns kNotFound (ResourceNotFound).
Status no_such_account(std::string_view account);
/// Returns kNotFound (TableNotFound).
Status no_such_table(std::string_view account, std::string_view table);

/// Returns kInvalidArgument (InvalidInput): the entities of a table with large values cannot end.
Status expires_no_owners(std::string_view table);

/// Returns kNotFound (QueueNotFound).
Status no_such_queue(std::string_view account, std::string_view queue);

/// Returns kNotFound (ContainerNotFound).
Status no_such_container(std::string_view account, std::string_view container);

/// The name of a table, a queue or a container, whose two spellings are equal. Every part is legal (names.h).
struct TableName {
  std::string account;
  std::string spelling;
  std::string lower;
};

/// The values that a load received when it began.
struct LoadTarget {
  format::TableId id = 0;
  /// The version of every entity.
  format::CommitVersion version = 0;
  /// The empty table that had the name when the load began, if there was one.
  std::optional<format::TableId> replaced;
  /// The rule that this table had then.
  std::optional<TableExpiry> expiry{};
  /// Whether this table had indexes then.
  bool has_indexes = false;
};

/// A view of the newest state of the store, and the id that the name of a table, queue or container has in this view.
struct ResolvedTable {
  engine::ReadView view;
  format::TableId id;
};

/// What a write of entities needs to know of their table.
struct WriteTarget {
  format::TableId id = 0;
  /// The rule by which the entities end. Null: they have no end.
  std::shared_ptr<const TableExpiry> expiry{};
  /// The indexes to maintain. Null: the table never had one.
  std::shared_ptr<const TableIndexes> indexes{};
};

/// Any thread may use it.
class Catalog {
 public:
  /// `recreation_delay` is the option of StoreOptions.
  Catalog(Backend& backend, std::chrono::milliseconds recreation_delay);

  NameCache& names() noexcept { return names_; }
  NameCache& queue_names() noexcept { return queue_names_; }
  NameCache& container_names() noexcept { return container_names_; }

  // Errors of all: kNotFound (TableNotFound), kCorruption, kIoError.
  /// Resolves a name for a read of the newest state.
  Result<ResolvedTable> resolve_newest(const TableName& name, NameEntry& entry);
  /// Resolves like resolve_newest(), but only from the cached entry. If that needs a read of the catalog, returns
  /// nothing.
  std::optional<ResolvedTable> resolve_cached(const NameEntry& entry) const;
  /// Resolves a name for a write. If the table is dropped before the write's turn, the engine refuses the write.
  Result<format::TableId> resolve_for_write(const TableName& name, NameEntry& entry);
  /// Does resolve_for_write(), for a write of entities. If they may end, or have indexes, the store has that feature
  /// then. Errors: in addition, those of Engine::allow_ends() and Engine::allow_indexes().
  Result<WriteTarget> resolve_target(const TableName& name, NameEntry& entry);
  /// Does the same, but only from the cached entry, and returns nothing if that needs a read of the catalog.
  std::optional<WriteTarget> target_in_cache(const NameEntry& entry) const;
  /// Resolves a name for a read at the version of `view`.
  static Result<format::TableId> resolve_at(const engine::ReadView& view, const TableName& name);

  /// Returns the account's row in this view, or nothing. Errors: kCorruption, kIoError.
  static Result<std::optional<AccountRow>> find_account(const engine::ReadView& view, std::string_view account);
  static Result<std::optional<TableRow>> find_table(const engine::ReadView& view, std::string_view account,
                                                    std::string_view lower_name);

  // These work as in Store. Names must be legal.
  Status create_account(std::string_view account);
  /// Returns the number that the account had.
  Result<std::uint32_t> drop_account(std::string_view account);
  Status create_table(const TableName& name, const TableOptions& options = {});
  /// Returns the id that the table had. If it has large values, retires the fence, and leaves the rest as work to do.
  Result<format::TableId> drop_table(std::string_view account, std::string_view lower_name);

  // Queues. These work as in Store and Queue. Names must be legal, options and metadata checked.
  /// Errors: kNotFound (QueueNotFound), kCorruption, kIoError.
  Result<ResolvedTable> resolve_queue(const TableName& name, NameEntry& entry);
  static Result<std::optional<QueueRow>> find_queue(const engine::ReadView& view, const TableName& name);
  /// Returns the secret of ids and receipts. The store has a queue. Errors: kCorruption, kIoError.
  static Result<std::uint64_t> queue_secret(const engine::ReadView& view);
  /// Returns the error of an operation on a queue that has no row in the view: kNotFound (QueueNotFound), or kBusy
  /// (QueueBeingDeleted) during the recreation delay.
  Status missing_queue(const engine::ReadView& view, const TableName& name) const;
  Status create_queue(const TableName& name, const QueueOptions& options);
  /// Returns the id that the queue had.
  Result<format::TableId> drop_queue(const TableName& name);
  /// Gives the queue a new id, which has no messages. Returns the id that it had.
  Result<format::TableId> clear_queue(const TableName& name);
  Status set_queue_metadata(const TableName& name, const std::vector<MetadataPair>& metadata);
  Result<std::vector<AccessPolicy>> find_queue_policies(const engine::ReadView& view, const TableName& name) const;
  Status set_queue_policies(const TableName& name, std::span<const AccessPolicy> policies);

  // Containers. These work as in Store and Container. Names must be legal, options and metadata checked.
  /// Errors: kNotFound (ContainerNotFound), kCorruption, kIoError.
  Result<ResolvedTable> resolve_container(const TableName& name, NameEntry& entry);
  static Result<std::optional<ContainerRow>> find_container(const engine::ReadView& view, const TableName& name);
  /// As missing_queue().
  Status missing_container(const engine::ReadView& view, const TableName& name) const;
  Status create_container(const TableName& name, const ContainerOptions& options);
  /// Retires the fence, and leaves the rest as work to do. `admit` judges the drop by the container's row. Returns the id
  /// that the container had.
  Result<format::TableId> drop_container(const TableName& name, const std::function<Status(ContainerRow&)>& admit);
  /// Replaces the row with what `change` makes of it. If it sets `changed` to zero, the ETag changes. If `policies` are
  /// given, they replace those of the row. Returns the new row. Always durable.
  Result<ContainerRow> change_container(const TableName& name, const std::function<Status(ContainerRow&)>& change,
                                        const std::optional<std::span<const AccessPolicy>>& policies = std::nullopt);
  Result<std::vector<AccessPolicy>> find_container_policies(const engine::ReadView& view, const TableName& name) const;

  /// Errors: as Store::access_policies.
  static Result<std::vector<AccessPolicy>> find_access_policies(const engine::ReadView& view, const TableName& name);
  /// The caller has checked `policies`. Errors: as Store::set_access_policies.
  Status set_access_policies(const TableName& name, std::span<const AccessPolicy> policies);

  /// Errors: as Store::table_expiry.
  static Result<std::optional<TableExpiry>> find_table_expiry(const engine::ReadView& view, const TableName& name);
  /// The caller has checked `expiry`. Errors: as Store::set_table_expiry.
  Status set_table_expiry(const TableName& name, const std::optional<TableExpiry>& expiry);

  // Indexes (index_rows.h). Names must be legal. Each change is always durable.
  /// Errors: kNotFound (TableNotFound), kCorruption, kUnsupported, kIoError.
  static Result<TableIndexes> find_indexes(const engine::ReadView& view, const TableName& name);
  /// Returns the indexes that the table with this id has in the view, or null if it has none. Reads the row only if the
  /// cached entry does not say. Errors: kCorruption, kUnsupported, kIoError.
  Result<std::shared_ptr<const TableIndexes>> indexes_at(const ResolvedTable& table, const TableName& name,
                                                         const NameEntry& entry) const;
  /// Declares an index, which writers maintain from the commit on, and which is being built. Errors: those of
  /// check_index(); kInvalidArgument (InvalidInput: too many indexes), kExists (ResourceAlreadyExists), kNotFound
  /// (ResourceNotFound: the account; TableNotFound), kNoSpace (no number is left).
  Result<TableIndex> create_index(const TableName& name, std::string_view index,
                                  const format::IndexDefinition& definition);
  /// Retires the index's id. Errors: kNotFound (ResourceNotFound: no index has the name; TableNotFound).
  Status drop_index(const TableName& name, std::string_view index);
  /// Makes an index ready, or with a failed result fails it and retires its id. Errors: kNotFound (ResourceNotFound: it
  /// is not being built any more; TableNotFound).
  Status end_index_build(const TableName& name, format::TableId index, const Status& result);

  /// Errors: as Store::service_properties.
  static Result<ServiceProperties> find_service_properties(const engine::ReadView& view, std::string_view account,
                                                           StorageService service);
  /// The caller has checked `change`. Errors: as Store::set_service_properties.
  Status set_service_properties(std::string_view account, const ServicePropertiesChange& change,
                                StorageService service);

  /// Assigns an id and a version to `load`. The table must not exist, or must be empty. Errors: as Store::load_table.
  Result<LoadTarget> begin_load(const TableName& name, engine::Load& load);
  /// Gives the name to the load, which must be installed. Errors: as Loader::finish; after an error the load may not
  /// have ended.
  Status finish_load(const TableName& name, const LoadTarget& target, engine::Load& load);

 private:
  Status allow_ends_for(const TableName& name);
  /// Reads the table's row, and enters it into the cache. Returns its rules too.
  Result<ResolvedTable> look_up(const TableName& name, NameEntry& entry, TableRules& rules);
  /// Changes indexes, or refuses. May add operations to the batch.
  using IndexChange =
      std::function<Status(TableIndexes& indexes, const engine::Newest& account_row, format::BatchBuilder& batch)>;
  /// Replaces the indexes of a table, and gives the table its next shape. `drops` is true for a change that frees space.
  Status change_indexes(const TableName& name, bool drops, const IndexChange& make);
  /// Replaces a row with the result of `change`. The commit is always durable, whatever the store's default: revoked
  /// rights must not return after a power cut. If the row does not exist, the call fails with the status of `absent`.
  Status change_row(const std::string& key, const std::function<Status(const engine::ReadView&)>& absent,
                    const std::function<Result<std::string>(const engine::Newest&)>& change);
  /// Returns the refusal of a change of a queue whose row, in its newest state, is `row` and has no value.
  Refusal refuse_missing_queue(const engine::ReadView& view, const TableName& name, const engine::Newest& row) const;
  /// As refuse_missing_queue().
  Refusal refuse_missing_container(const engine::ReadView& view, const TableName& name,
                                   const engine::Newest& row) const;
  /// Resolves a name in the cache, or else by `find`, which takes a view and returns the id.
  template <typename Find>
  Result<ResolvedTable> resolve(NameCache& names, NameEntry& entry, Find find);
  /// Commits a drop. It is always durable, frees space, and is not held back.
  Status commit_drop(RowChange& change);

  Backend& backend_;
  NameCache names_;
  NameCache queue_names_;
  NameCache container_names_;
  NameRelease release_;
  NameRelease queue_release_;
  NameRelease container_release_;
};

template <typename Find>
Result<ResolvedTable> Catalog::resolve(NameCache& names, NameEntry& entry, Find find) {
  if (std::optional<ResolvedTable> cached = resolve_cached(entry)) return *std::move(cached);
  const std::uint64_t lookup = names.begin_lookup(entry);
  engine::ReadView view = backend_.view();
  const Result<format::TableId> id = find(view);
  if (!id.ok()) return id.status();
  names.enter(entry, lookup, *id);
  return ResolvedTable{std::move(view), *id};
}

/// The first of the numbers for a new table, queue or container, and the account's row after they were given.
struct DrawnNumber {
  format::TableId id = 0;
  std::string account_row;
};
/// Errors: kNoSpace (no number is left), those of decoding the row.
Result<DrawnNumber> draw_table_number(std::string_view account, const engine::Newest& account_row,
                                      std::uint32_t count = 1);
/// Gives fresh ids to the indexes of a table that gets another id, which are then being built. Retires their ids in the
/// batch. Errors: the same.
Status renew_indexes(std::string_view account, const engine::Newest& account_row, TableIndexes& indexes,
                     format::BatchBuilder& batch);
/// Draws the id of a table whose entities may have large values. Errors: the same.
Result<DrawnNumber> draw_number_for_large_values(std::string_view account, const engine::Newest& account_row);

}  // namespace varve
