// Owns: writing entities into one table from several threads, a partition's entities in transactions.
// Must never: end with success before every entity is written.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/varve/reach/table_access.h"

namespace varve::tool {

class BatchWriter {
 public:
  /// Each thread has a table of its own, because a connection serves one thread.
  explicit BatchWriter(std::vector<std::unique_ptr<TableAccess>> tables) : tables_(std::move(tables)) {}

  /// Adds an entity, which replaces the entity of its key. Entities of one key must not be added twice before flush().
  /// Errors: those of flush().
  Status add(const Entity& entity);
  /// Writes all that was added. Errors: those of a transaction. Some entities may be written then.
  Status flush();

 private:
  struct Batch {
    EntityGroupTransaction transaction;
    std::size_t bytes = 0;
  };
  void close(const std::string& partition_key);

  std::vector<std::unique_ptr<TableAccess>> tables_;
  std::map<std::string, Batch> open_;
  std::vector<EntityGroupTransaction> ready_;
  std::size_t entities_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace varve::tool
