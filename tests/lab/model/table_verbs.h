// Owns: one interface for the blocking and the asynchronous operations of a table.
// Must never: check the results.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tests/api/async/async_support.h"
#include "varve/async.h"
#include "varve/table.h"

namespace varve::lab {

class TableVerbs {
 public:
  TableVerbs(Table table, io::Scheduler& scheduler, bool asynchronous)
      : table_(std::move(table)), scheduler_(&scheduler), asynchronous_(asynchronous) {}

  const Table& table() const { return table_; }

  /// Returns the new ETag. kRemove has none.
  Result<ETag> write(const WriteOperation& operation, const WriteOptions& options) {
    return asynchronous_ ? await(AsyncTable(table_).write(operation, options)) : table_.write(operation, options);
  }

  /// Returns the entity after the patch.
  Result<Entity> patch(const WriteOperation& operation, const WriteOptions& options) {
    Patch patch(operation.entity.partition_key(), operation.entity.row_key());
    for (const Property& property : operation.entity.properties()) patch.set(property.name, property.value);
    for (const std::string& name : operation.removed) patch.remove(name);
    for (const Property& increment : operation.increments) patch.increment(increment.name, increment.value);
    patch.only_if(operation.condition);
    if (operation.kind == WriteOperation::Kind::kInsertOrPatch) {
      return asynchronous_ ? await(AsyncTable(table_).insert_or_patch(patch, options))
                           : table_.insert_or_patch(patch, options);
    }
    return asynchronous_ ? await(AsyncTable(table_).patch(patch, operation.if_match, options))
                         : table_.patch(patch, operation.if_match, options);
  }

  Result<std::vector<ETag>> execute(const EntityGroupTransaction& transaction, const WriteOptions& options) {
    return asynchronous_ ? await(AsyncTable(table_).execute(transaction, options))
                         : table_.execute(transaction, options);
  }
  Result<std::optional<Entity>> get(const EntityKey& key, const ReadOptions& options = {}) {
    return asynchronous_ ? await(AsyncTable(table_).get(key.partition_key, key.row_key, options))
                         : table_.get(key.partition_key, key.row_key, options);
  }
  Result<std::vector<std::optional<Entity>>> get_many(const std::vector<EntityKey>& keys) {
    return asynchronous_ ? await(AsyncTable(table_).get_many(keys)) : table_.get_many(keys);
  }
  Result<Page> scan(const Scan& scan) {
    return asynchronous_ ? await(AsyncTable(table_).scan(scan)) : table_.scan(scan);
  }
  Result<Count> count(const Scan& scan) {
    return asynchronous_ ? await(AsyncTable(table_).count(scan)) : table_.count(scan);
  }

 private:
  template <typename T>
  T await(Task<T> task) {
    return test::await(*scheduler_, std::move(task));
  }

  Table table_;
  io::Scheduler* scheduler_;
  bool asynchronous_;
};

}  // namespace varve::lab
