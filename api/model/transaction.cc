// Owns: the list of operations of an entity group transaction (transaction.h).
// Must never: check an operation.
#include "varve/transaction.h"

#include <utility>

namespace varve {

EntityGroupTransaction& EntityGroupTransaction::add(Operation::Kind kind, Entity entity, ETag if_match) {
  operations_.push_back(Operation{kind, std::move(entity), if_match});
  return *this;
}

EntityGroupTransaction& EntityGroupTransaction::add(Operation operation) {
  operations_.push_back(std::move(operation));
  return *this;
}

EntityGroupTransaction& EntityGroupTransaction::insert(Entity entity) {
  return add(Operation::Kind::kInsert, std::move(entity), ETag());
}

EntityGroupTransaction& EntityGroupTransaction::replace(Entity entity, ETag if_match) {
  return add(Operation::Kind::kReplace, std::move(entity), if_match);
}

EntityGroupTransaction& EntityGroupTransaction::merge(Entity entity, ETag if_match) {
  return add(Operation::Kind::kMerge, std::move(entity), if_match);
}

EntityGroupTransaction& EntityGroupTransaction::insert_or_replace(Entity entity) {
  return add(Operation::Kind::kInsertOrReplace, std::move(entity), ETag());
}

EntityGroupTransaction& EntityGroupTransaction::insert_or_merge(Entity entity) {
  return add(Operation::Kind::kInsertOrMerge, std::move(entity), ETag());
}

EntityGroupTransaction& EntityGroupTransaction::remove(std::string partition_key, std::string row_key, ETag if_match) {
  return add(Operation::Kind::kRemove, Entity(std::move(partition_key), std::move(row_key)), if_match);
}

}  // namespace varve
