// SPDX-License-Identifier: Apache-2.0
// Owns: one write of one entity, as a value and in a borrowed form.
// Must never: check anything. The call that takes the operation does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "types.h"

namespace varve {

/// One write of one entity: what Table::write() does at once, and what transactions collect.
///
///   Result<ETag> etag = table.write(WriteOperation::replace(order, order.etag()));
struct WriteOperation {
  /// The Table verbs that an operation can do.
  enum class Kind : std::uint8_t { kInsert, kReplace, kMerge, kInsertOrReplace, kInsertOrMerge, kRemove };
  /// The verb of this operation.
  Kind kind = Kind::kInsert;
  /// For kRemove, only its keys are used.
  Entity entity;
  /// The condition of kReplace, kMerge and kRemove.
  ETag if_match;

  /// Makes an operation with the Table verb of the same name. Checks nothing.
  /// @{
  static WriteOperation insert(Entity entity) { return {Kind::kInsert, std::move(entity), ETag()}; }
  static WriteOperation replace(Entity entity, ETag if_match) { return {Kind::kReplace, std::move(entity), if_match}; }
  static WriteOperation merge(Entity entity, ETag if_match) { return {Kind::kMerge, std::move(entity), if_match}; }
  static WriteOperation insert_or_replace(Entity entity) { return {Kind::kInsertOrReplace, std::move(entity), ETag()}; }
  static WriteOperation insert_or_merge(Entity entity) { return {Kind::kInsertOrMerge, std::move(entity), ETag()}; }
  static WriteOperation remove(std::string partition_key, std::string row_key, ETag if_match) {
    return {Kind::kRemove, Entity(std::move(partition_key), std::move(row_key)), if_match};
  }
  /// @}
};

/// A WriteOperation whose entity or keys belong to the caller, so that nothing is copied. A function takes it as a
/// parameter, and a WriteOperation converts to it.
class WriteView {
 public:
  /// Borrows an operation.
  WriteView(const WriteOperation& operation) noexcept
      : WriteView(operation.kind, operation.entity, operation.if_match) {}
  /// Borrows an entity. For kRemove, only its keys are used.
  WriteView(WriteOperation::Kind kind, const Entity& entity, ETag if_match) noexcept
      : kind_(kind),
        entity_(&entity),
        partition_key_(entity.partition_key()),
        row_key_(entity.row_key()),
        if_match_(if_match) {}
  /// Borrows the keys of an entity to delete.
  static WriteView remove(std::string_view partition_key, std::string_view row_key, ETag if_match) noexcept {
    return {partition_key, row_key, if_match};
  }

  /// Returns the verb of the operation.
  WriteOperation::Kind kind() const noexcept { return kind_; }
  /// Returns the keys of the entity.
  /// @{
  std::string_view partition_key() const noexcept { return partition_key_; }
  std::string_view row_key() const noexcept { return row_key_; }
  /// @}
  /// Returns the entity. A view made by remove() has none: null.
  const Entity* entity() const noexcept { return entity_; }
  /// Returns the condition of kReplace, kMerge and kRemove.
  ETag if_match() const noexcept { return if_match_; }

 private:
  WriteView(std::string_view partition_key, std::string_view row_key, ETag if_match) noexcept
      : kind_(WriteOperation::Kind::kRemove), partition_key_(partition_key), row_key_(row_key), if_match_(if_match) {}

  WriteOperation::Kind kind_;
  const Entity* entity_ = nullptr;
  std::string_view partition_key_;
  std::string_view row_key_;
  ETag if_match_;
};

}  // namespace varve
