// SPDX-License-Identifier: Apache-2.0
// Owns: the verbs of a table on a mapped struct.
// Must never: write without a condition where the struct carries one.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "condition.h"
#include "mapped_entity.h"
#include "mapping.h"
#include "options.h"
#include "query.h"
#include "query_builder.h"
#include "result.h"
#include "status.h"
#include "table.h"
#include "types.h"
#include "walk.h"

#pragma GCC visibility push(default)

namespace varve {

namespace mapped {

/// The ETag that an object carries, as the condition of its next write.
template <Mapped T>
ETag carried_etag(const T& object) {
  static_assert(count_of<T>(Element::kETag) == 1,
                "the varve::mapping declares no etag: pass the ETag, or ETag::any(), as the condition");
  ETag etag;
  with_element<Element::kETag, T>([&](const auto& element) { etag = object.*element.member; });
  return etag;
}

/// Gives an object's ETag and Timestamp members what a write gave its entity.
template <Mapped T>
void stamp(T& object, ETag etag) {
  with_element<Element::kETag, T>([&](const auto& element) { object.*element.member = etag; });
  with_element<Element::kTimestamp, T>([&](const auto& element) { object.*element.member = etag.timestamp(); });
}

}  // namespace mapped

/// A table whose entities are `T`, or whose interesting ones are: other entities may lie between them. As cheap and as
/// safe for threads as the Table in it, whose verbs and errors these are; besides, kInvalidArgument where a struct and
/// an entity do not fit each other (mapped_entity.h).
///
/// A write that gets an object which may be changed gives its ETag and Timestamp members what it now has. replace(),
/// merge() and remove() of an object without a condition insist on the ETag that it carries; one that was not read, and
/// so carries none, is refused. ETag::any() forces. Source: C-01, C-03.
template <Mapped T>
class TypedTable {
 public:
  explicit TypedTable(Table table) : table_(std::move(table)) { mapped::check_mapping<T>(); }

  Table& table() noexcept { return table_; }
  const Table& table() const noexcept { return table_; }

  Result<ETag> insert(T& object, const WriteOptions& options = {}) {
    return stamped(object, insert(std::as_const(object), options));
  }
  Result<ETag> insert(const T& object, const WriteOptions& options = {}) {
    return write(object, [&](const Entity& entity) { return table_.insert(entity, options); });
  }

  Result<ETag> insert_or_replace(T& object, const WriteOptions& options = {}) {
    return stamped(object, insert_or_replace(std::as_const(object), options));
  }
  Result<ETag> insert_or_replace(const T& object, const WriteOptions& options = {}) {
    return write(object, [&](const Entity& entity) { return table_.insert_or_replace(entity, options); });
  }

  /// Optional members without a value leave the stored property as it is (D-45).
  Result<ETag> insert_or_merge(T& object, const WriteOptions& options = {}) {
    return stamped(object, insert_or_merge(std::as_const(object), options));
  }
  Result<ETag> insert_or_merge(const T& object, const WriteOptions& options = {}) {
    return write(object, [&](const Entity& entity) { return table_.insert_or_merge(entity, options); });
  }

  Result<ETag> replace(T& object, const WriteOptions& options = {}) {
    return replace(object, mapped::carried_etag(object), options);
  }
  Result<ETag> replace(T& object, ETag if_match, const WriteOptions& options = {}) {
    return stamped(object, replace(std::as_const(object), if_match, options));
  }
  Result<ETag> replace(const T& object, ETag if_match, const WriteOptions& options = {}) {
    return write(object, [&](const Entity& entity) { return table_.replace(entity, if_match, options); });
  }

  Result<ETag> merge(T& object, const WriteOptions& options = {}) {
    return merge(object, mapped::carried_etag(object), options);
  }
  Result<ETag> merge(T& object, ETag if_match, const WriteOptions& options = {}) {
    return stamped(object, merge(std::as_const(object), if_match, options));
  }
  /// Optional members without a value leave the stored property as it is (D-45).
  Result<ETag> merge(const T& object, ETag if_match, const WriteOptions& options = {}) {
    return write(object, [&](const Entity& entity) { return table_.merge(entity, if_match, options); });
  }

  Status remove(const T& object, const WriteOptions& options = {}) {
    return remove(object, mapped::carried_etag(object), options);
  }
  Status remove(const T& object, ETag if_match, const WriteOptions& options = {}) {
    const EntityKey key = key_of(object);
    return table_.remove(key.partition_key, key.row_key, if_match, options);
  }

  /// The object, or nothing if it is not there.
  Result<std::optional<T>> get(std::string_view partition_key, std::string_view row_key,
                               const ReadOptions& options = {}) const {
    const Result<std::optional<Entity>> found = table_.get(partition_key, row_key, options);
    if (!found.ok()) return found.status();
    if (!found->has_value()) return std::optional<T>();
    Result<T> object = from_entity<T>(**found);
    if (!object.ok()) return object.status();
    return std::optional<T>(*std::move(object));
  }

  /// Reads nothing yet.
  Walk<T> query(Condition where = {}) const { return run(Query<T>().where(std::move(where))); }
  /// Reads nothing yet.
  Walk<T> run(const Query<T>& query) const { return query.run(table_); }

 private:
  static Result<ETag> stamped(T& object, Result<ETag> etag) {
    if (etag.ok()) mapped::stamp(object, *etag);
    return etag;
  }

  template <typename Write>
  static Result<ETag> write(const T& object, Write write) {
    const Result<Entity> entity = to_entity(object);
    if (!entity.ok()) return entity.status();
    return write(*entity);
  }

  Table table_;
};

}  // namespace varve

#pragma GCC visibility pop
