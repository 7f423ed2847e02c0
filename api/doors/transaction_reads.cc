// Owns: what transactions over any partitions and tables read, and what they keep of it for the check in their commit.
// Must never: read at another moment than the transaction's snapshot, or return what commit() cannot check again.
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/catalog/catalog.h"
#include "api/model/guarded.h"
#include "api/model/service_error.h"
#include "api/read/blob_read.h"
#include "api/read/entity_read.h"
#include "api/read/large_value_read.h"
#include "api/read/scan_read.h"
#include "api/write/store_transaction_state.h"
#include "format/keys/sort_key.h"
#include "varve/limits.h"
#include "varve/names.h"
#include "varve/store_transaction.h"

namespace varve {

/// Checks that the transaction may read a table or container of this store.
Status StoreTransaction::State::admit_read(const StoreCore* owner) const {
  if (Status open = core->check_open(); !open.ok()) return open;
  if (Status going_on = check_not_ended(); !going_on.ok()) return going_on;
  if (owner == core.get()) return Status();
  return service_error::invalid_input("the table or container belongs to another store than the transaction");
}

Status StoreTransaction::State::admit_read(const Table::State& table, const ReadOptions& options) const {
  if (Status admitted = admit_read(table.core.get()); !admitted.ok()) return admitted;
  if (!options.snapshot) return Status();
  return service_error::invalid_input(
      "a transaction reads at its own snapshot; leave the snapshot of ReadOptions unset");
}

/// Checks that the transaction may read so many more keys.
Status StoreTransaction::State::admit_reads(std::size_t more) const {
  if (reads.size() + more <= limits::kStoreTransactionReadsMax) return Status();
  return Status::too_large("the transaction reads more than " + std::to_string(limits::kStoreTransactionReadsMax) +
                           " entities and blobs by key")
      .with_service_error("InvalidInput");
}

/// Keeps the keys, so that commit() can check them again.
Status StoreTransaction::State::keep_reads(const Table::State& table, std::span<const EntityKey> keys) {
  const Result<engine::ReadView> view = core->view(snapshot);
  if (!view.ok()) return view.status();
  const Result<format::TableId> id = Catalog::resolve_at(*view, table.name);
  if (!id.ok()) return id.status();
  for (const EntityKey& key : keys) {
    if (is_key_too_long(key.partition_key, core->limits()) || is_key_too_long(key.row_key, core->limits())) {
      continue;  // An entity with this key cannot exist.
    }
    Result<std::string> sort_key = format::encode_sort_key(*id, key.partition_key, key.row_key);
    if (!sort_key.ok()) return sort_key.status();
    reads.push_back({std::move(*sort_key), false});
  }
  return Status();
}

Status StoreTransaction::State::keep_read(const Container::State& container, std::string_view blob) {
  const Result<engine::ReadView> view = core->view(snapshot);
  if (!view.ok()) return view.status();
  const Result<format::TableId> id = container_at(container, *view);
  if (!id.ok()) return id.status();
  reads.push_back({blob_row_key(*id, blob), true});
  return Status();
}

/// Keeps the ranges, so that commit() can check them again. A range that adjoins the last one makes that one longer.
Status StoreTransaction::State::keep_ranges(std::vector<KeyRange> covered) {
  for (KeyRange& range : covered) {
    TransactionRange* const last = ranges.empty() ? nullptr : &ranges.back();
    const bool adjoins = last != nullptr && (last->upper == range.lower || last->lower == range.upper) &&
                         format::partition_of(last->lower) == format::partition_of(range.lower);
    if (adjoins) {
      std::string& bound = last->upper == range.lower ? last->upper : last->lower;
      bound = std::move(last->upper == range.lower ? range.upper : range.lower);
      continue;
    }
    if (ranges.size() == limits::kStoreTransactionRangesMax) {
      return Status::too_large("the transaction checks more than " +
                               std::to_string(limits::kStoreTransactionRangesMax) + " ranges")
          .with_service_error("InvalidInput");
    }
    ranges.push_back({std::move(range.lower), std::move(range.upper)});
  }
  return Status();
}

Result<std::vector<std::optional<Entity>>> StoreTransaction::get_many(const Table& table,
                                                                      std::span<const EntityKey> keys,
                                                                      const ReadOptions& options) {
  return guarded([&]() -> Result<std::vector<std::optional<Entity>>> {
    if (Status admitted = state_->admit_read(*table.state_, options); !admitted.ok()) return admitted;
    if (Status few = state_->admit_reads(keys.size()); !few.ok()) return few;
    ReadOptions at_begin = options;
    at_begin.snapshot = state_->snapshot;
    const Table::State& from = *table.state_;
    const Result<Grant> granted = from.grant();
    if (!granted.ok()) return granted.status();
    Result<std::vector<std::optional<Entity>>> found =
        read_entities(*state_->core, from.name, *from.entry, *granted, keys, at_begin);
    if (!found.ok()) return found;
    if (Status kept = state_->keep_reads(from, keys); !kept.ok()) return kept;
    return found;
  });
}

Result<std::optional<Entity>> StoreTransaction::get(const Table& table, std::string_view partition_key,
                                                    std::string_view row_key, const ReadOptions& options) {
  return guarded([&]() -> Result<std::optional<Entity>> {
    const EntityKey key{std::string(partition_key), std::string(row_key)};
    Result<std::vector<std::optional<Entity>>> found = get_many(table, std::span(&key, 1), options);
    if (!found.ok()) return found.status();
    return std::move(found->front());
  });
}

Result<BlobReader> StoreTransaction::read(const Container& container, std::string_view blob,
                                          const BlobConditions& conditions) {
  return guarded([&]() -> Result<BlobReader> {
    if (Status admitted = state_->admit_read(container.state_->core.get()); !admitted.ok()) return admitted;
    if (Status few = state_->admit_reads(1); !few.ok()) return few;
    Result<BlobReader> reader = container.read(blob, {conditions, state_->snapshot});
    const bool is_known = reader.ok() || reader.status().service_error() == "BlobNotFound";
    if (!is_known) return reader;
    if (Status kept = state_->keep_read(*container.state_, blob); !kept.ok()) return kept;
    return reader;
  });
}

Result<std::optional<OpenedEntity>> StoreTransaction::get_opened(const Table& table, std::string_view partition_key,
                                                                 std::string_view row_key,
                                                                 std::span<const std::string> properties,
                                                                 const ReadOptions& options) {
  return guarded([&]() -> Result<std::optional<OpenedEntity>> {
    const EntityKey key{std::string(partition_key), std::string(row_key)};
    const Table::State& from = *table.state_;
    if (Status admitted = state_->admit_read(from, options); !admitted.ok()) return admitted;
    if (Status few = state_->admit_reads(1); !few.ok()) return few;
    ReadOptions at_begin = options;
    at_begin.snapshot = state_->snapshot;
    const Result<Grant> granted = from.grant();
    if (!granted.ok()) return granted.status();
    Result<std::optional<OpenedEntity>> found = read_opened_entity({state_->core, from.name, *from.entry, *granted},
                                                                   partition_key, row_key, properties, at_begin);
    if (!found.ok()) return found;
    if (Status kept = state_->keep_reads(from, std::span(&key, 1)); !kept.ok()) return kept;
    return found;
  });
}

Result<Page> StoreTransaction::scan(const Table& table, Scan scan) const {
  return guarded([&]() -> Result<Page> {
    if (Status admitted = state_->admit_read(*table.state_, scan.read); !admitted.ok()) return admitted;
    const Result<Grant> granted = table.state_->grant();
    if (!granted.ok()) return granted.status();
    scan.read.snapshot = state_->snapshot;
    return read_page(*state_->core, table.state_->name, *table.state_->entry, *granted, scan);
  });
}

Result<Page> StoreTransaction::scan_checked(const Table& table, Scan scan) {
  return guarded([&]() -> Result<Page> {
    const Table::State& from = *table.state_;
    if (Status admitted = state_->admit_read(from, scan.read); !admitted.ok()) return admitted;
    const Result<Grant> granted = from.grant();
    if (!granted.ok()) return granted.status();
    scan.read.snapshot = state_->snapshot;
    Result<CoveredPage> read = read_covered_page({*state_->core, from.name, *from.entry, *granted}, scan);
    if (!read.ok()) return read.status();
    if (Status kept = state_->keep_ranges(std::move(read->ranges)); !kept.ok()) return kept;
    return std::move(read->page);
  });
}

}  // namespace varve
