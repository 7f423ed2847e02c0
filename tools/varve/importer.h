// Owns: bringing rows into a table in entity group transactions, and the account of what became of every row.
// Must never: lose count of a row: imported, or refused with its line and reason.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/table.h"

namespace varve::tool {

enum class ImportMode : std::uint8_t { kInsertOrReplace, kInsertOrMerge, kInsert };

struct ImportCounts {
  std::uint64_t read = 0;
  std::uint64_t imported = 0;
  std::uint64_t refused = 0;
};

/// Gathers rows by partition and writes each partition's as one transaction. A transaction that is refused is repeated
/// row by row, so that one bad row costs no other.
class Importer {
 public:
  /// Told of every row that was refused.
  using Refusal = std::function<void(std::uint64_t line, const Status& reason)>;

  Importer(Table& table, ImportMode mode, WriteOptions options, Refusal refusal);

  /// Errors: those after which no row can be imported (no space, a damaged or stopped store); the row is not counted.
  Status add(std::uint64_t line, Entity entity);
  void refuse(std::uint64_t line, const Status& reason);
  /// Writes what is gathered. Errors: as add().
  Status finish();

  const ImportCounts& counts() const noexcept { return counts_; }

 private:
  struct Pending {
    std::vector<std::uint64_t> lines;
    std::vector<Entity> entities;
    std::set<std::string> row_keys;
    std::size_t bytes = 0;
  };

  Status write(Pending& pending);
  Status write_singly(Pending& pending);
  Result<ETag> write_one(const Entity& entity);
  void add_operation(EntityGroupTransaction& transaction, const Entity& entity) const;

  Table& table_;
  ImportMode mode_;
  WriteOptions options_;
  Refusal refusal_;
  std::map<std::string, Pending> pending_;
  std::size_t pending_rows_ = 0;
  std::size_t pending_bytes_ = 0;
  ImportCounts counts_;
};

}  // namespace varve::tool
