// Owns: bringing rows into a table in entity group transactions, and the account of what became of every row.
// Must never: lose count of a row (imported, replaced by a later row, or refused with its line and reason), or count an
// entity twice.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/varve/import_target.h"
#include "tools/varve/seen_keys.h"
#include "varve/table.h"

namespace varve::tool {

enum class ImportMode : std::uint8_t { kInsertOrReplace, kInsertOrMerge, kInsert };

struct ImportCounts {
  std::uint64_t read = 0;
  /// Entities.
  std::uint64_t imported = 0;
  /// Rows whose key an earlier row of the import had: the later row replaced the earlier one, or was merged into it.
  std::uint64_t repeated = 0;
  std::uint64_t refused = 0;
};

/// Gathers rows by partition and writes each partition's as one transaction. A transaction that is refused is repeated
/// row by row, so that one bad row costs no other.
class Importer {
 public:
  /// Called for each row that is refused; `shape_fault` as Row has it.
  using Refusal = std::function<void(std::uint64_t line, const Status& reason, std::uint64_t shape_fault)>;

  /// `target` was opened; it is created before the first row is written.
  Importer(ImportTarget& target, ImportMode mode, WriteOptions options, Refusal refusal);

  /// Errors: those after which no row can be imported (no space, a damaged or stopped store); the row is not counted.
  Status add(std::uint64_t line, Entity entity);
  void refuse(std::uint64_t line, const Status& reason, std::uint64_t shape_fault);
  /// The input was read to its end: writes what is gathered. A table is made even if there was no row, but not if rows
  /// were refused and none was written. Errors: as add().
  Status finish();
  /// The input ended early: writes the rows that were read, otherwise as finish().
  Status stop() { return finish(); }

  const ImportCounts& counts() const noexcept { return counts_; }

 private:
  struct Pending {
    std::vector<std::uint64_t> lines;
    std::vector<Entity> entities;
    std::vector<bool> repeated;
    std::set<std::string> row_keys;
    std::size_t bytes = 0;
  };

  Status make_room(Pending& pending, const Entity& entity, std::size_t bytes);
  Result<bool> is_repeated(const Entity& entity);
  Status write_all();
  Status write(Pending& pending);
  void count_imported(bool repeated) noexcept { ++(repeated ? counts_.repeated : counts_.imported); }
  Status write_singly(Pending& pending);
  Result<ETag> write_one(const Entity& entity);
  void add_operation(EntityGroupTransaction& transaction, const Entity& entity) const;

  ImportTarget& target_;
  SeenKeys seen_;
  ImportMode mode_;
  WriteOptions options_;
  Refusal refusal_;
  std::map<std::string, Pending> pending_;
  std::size_t pending_rows_ = 0;
  std::size_t pending_bytes_ = 0;
  ImportCounts counts_;
};

}  // namespace varve::tool
