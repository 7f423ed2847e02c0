// SPDX-License-Identifier: Apache-2.0
// Owns: the operations of a table on mapped structs, as tasks.
// Must never: differ in meaning from the operation of the same name in TypedTable.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "async.h"
#include "condition.h"
#include "cursor.h"
#include "mapped_entity.h"
#include "mapping.h"
#include "options.h"
#include "query.h"
#include "query_builder.h"
#include "result.h"
#include "status.h"
#include "table.h"
#include "task.h"
#include "transaction.h"
#include "typed_table.h"
#include "types.h"

namespace varve {

/// An AsyncTable whose entities are objects of type `T`. An operation keeps its own copy of an object, so it cannot
/// update the caller's object. A write returns the new ETag, and mapped::stamp() stores it in the caller's object.
/// Errors: those of AsyncTable, and kInvalidArgument if a struct and an entity do not match (mapped_entity.h).
template <Mapped T>
class AsyncTypedTable {
 public:
  /// The verbs of write().
  using Kind = WriteOperation::Kind;

  /// Makes a typed handle of this table, without a home thread (home_thread.h).
  explicit AsyncTypedTable(Table table) : table_(std::move(table)) { mapped::check_mapping<T>(); }

  /// Returns the handle for the same table with plain entities.
  /// @{
  const AsyncTable& table() const& noexcept { return table_; }
  AsyncTable table() && noexcept { return std::move(table_); }
  /// @}

  /// Does the verb `kind` with the object, as TypedTable::write().
  Task<Result<ETag>> write(Kind kind, T object, ETag if_match, WriteOptions options = {},
                           std::stop_token stop = {}) const {
    Result<Entity> entity = to_entity(object);  // now, so that the operation keeps nothing of the caller
    if (!entity.ok()) return refused<ETag>(entity.status());
    return table_.write(WriteOperation{kind, *std::move(entity), if_match}, options, std::move(stop));
  }
  /// Inserts the object, which must not exist yet.
  Task<Result<ETag>> insert(T object, WriteOptions options = {}, std::stop_token stop = {}) const {
    return write(Kind::kInsert, std::move(object), ETag(), options, std::move(stop));
  }
  /// Inserts the object, or replaces it whatever its stored ETag is.
  Task<Result<ETag>> insert_or_replace(T object, WriteOptions options = {}, std::stop_token stop = {}) const {
    return write(Kind::kInsertOrReplace, std::move(object), ETag(), options, std::move(stop));
  }
  /// Inserts or merges. If an optional member has no value, the stored property keeps its value (D-45).
  Task<Result<ETag>> insert_or_merge(T object, WriteOptions options = {}, std::stop_token stop = {}) const {
    return write(Kind::kInsertOrMerge, std::move(object), ETag(), options, std::move(stop));
  }
  /// Replaces under the condition that the stored ETag equals the ETag in the object.
  Task<Result<ETag>> replace(T object, WriteOptions options = {}, std::stop_token stop = {}) const {
    const ETag if_match = mapped::carried_etag(object);
    return replace(std::move(object), if_match, options, std::move(stop));
  }
  /// Replaces under the condition that the stored ETag equals `if_match`. ETag::any() matches every ETag.
  Task<Result<ETag>> replace(T object, ETag if_match, WriteOptions options = {}, std::stop_token stop = {}) const {
    return write(Kind::kReplace, std::move(object), if_match, options, std::move(stop));
  }
  /// Merges under the condition that the stored ETag equals the ETag in the object. Optional members work as in
  /// insert_or_merge().
  Task<Result<ETag>> merge(T object, WriteOptions options = {}, std::stop_token stop = {}) const {
    const ETag if_match = mapped::carried_etag(object);
    return merge(std::move(object), if_match, options, std::move(stop));
  }
  /// Merges under the condition that the stored ETag equals `if_match`. ETag::any() matches every ETag. Optional
  /// members work as in insert_or_merge().
  Task<Result<ETag>> merge(T object, ETag if_match, WriteOptions options = {}, std::stop_token stop = {}) const {
    return write(Kind::kMerge, std::move(object), if_match, options, std::move(stop));
  }
  /// Deletes under the condition that the stored ETag equals the ETag in the object.
  Task<Status> remove(const T& object, WriteOptions options = {}, std::stop_token stop = {}) const {
    return remove(object, mapped::carried_etag(object), options, std::move(stop));
  }
  /// Deletes under the condition that the stored ETag equals `if_match`. ETag::any() matches every ETag.
  Task<Status> remove(const T& object, ETag if_match, WriteOptions options = {}, std::stop_token stop = {}) const {
    EntityKey key = key_of(object);
    return table_.remove(std::move(key.partition_key), std::move(key.row_key), if_match, options, std::move(stop));
  }

  /// Do the changes by filter of the same names of TypedTable.
  /// @{
  Task<Result<WhereProgress>> delete_where(const Query<T>& query, WhereOptions options = {}) const {
    Result<Where> where = mapped::where_of(query);
    if (!where.ok()) return refused<WhereProgress>(where.status());
    return table_.delete_where(*std::move(where), std::move(options));
  }
  Task<Result<WhereProgress>> update_where(const Query<T>& query, const TypedChanges<T>& changes,
                                           WhereOptions options = {}) const {
    Result<Where> where = mapped::where_of(query);
    if (!where.ok()) return refused<WhereProgress>(where.status());
    Result<PropertyChanges> made = changes.changes();
    if (!made.ok()) return refused<WhereProgress>(made.status());
    return table_.update_where(*std::move(where), *std::move(made), std::move(options));
  }
  /// @}

  /// Returns the object, or nothing if the entity does not exist.
  Task<Result<std::optional<T>>> get(std::string partition_key, std::string row_key, ReadOptions options = {},
                                     std::stop_token stop = {}) const {
    return find(table_, {std::move(partition_key), std::move(row_key)}, std::move(options), std::move(stop));
  }

  /// Returns all objects that match the query, reading page after page. Unless the query reads at a snapshot, different
  /// pages may show different states of the table.
  Task<Result<std::vector<T>>> query(Condition where = {}, std::stop_token stop = {}) const {
    return run(Query<T>().where(std::move(where)), std::move(stop));
  }
  /// Returns all results of the query, at most Query::taken() of them. Reads page after page, as query() does.
  Task<Result<std::vector<T>>> run(Query<T> query, std::stop_token stop = {}) const {
    return collect(table_, std::move(query), std::move(stop));
  }

 private:
  template <typename R>
  static Task<Result<R>> refused(Status status) {
    co_return status;
  }

  static Task<Result<std::optional<T>>> find(AsyncTable table, EntityKey key, ReadOptions options,
                                             std::stop_token stop) {
    const Result<std::optional<Entity>> found =
        co_await table.get(std::move(key.partition_key), std::move(key.row_key), std::move(options), std::move(stop));
    if (!found.ok()) co_return found.status();
    if (!found->has_value()) co_return std::optional<T>();
    Result<T> object = from_entity<T>(**found);
    if (!object.ok()) co_return object.status();
    co_return std::optional<T>(*std::move(object));
  }

  static Task<Result<std::vector<T>>> collect(AsyncTable table, Query<T> query, std::stop_token stop) {
    Result<Scan> scan = query.scan();
    if (!scan.ok()) co_return scan.status();
    std::vector<T> objects;
    while (objects.size() < query.taken()) {
      const std::uint64_t left = query.taken() - objects.size();
      scan->page_entities_max = static_cast<std::uint32_t>(std::min<std::uint64_t>(scan->page_entities_max, left));
      Result<Page> page = co_await table.scan(*scan, stop);
      if (!page.ok()) co_return page.status();
      for (const Entity& entity : page->entities) {
        Result<T> object = from_entity<T>(entity);
        if (!object.ok()) co_return object.status();
        objects.push_back(*std::move(object));
      }
      if (!page->continuation) break;
      scan->continuation = *std::move(page->continuation);
    }
    co_return objects;
  }

  AsyncTable table_;
};

}  // namespace varve
