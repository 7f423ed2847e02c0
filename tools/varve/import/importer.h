// Owns: writing rows into a table in entity group transactions, and counting the outcome of every row.
// Must never: lose count of a row, or count an entity twice. A row is imported, replaced by a later row, or refused
// with its line and reason.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/varve/import/import_target.h"
#include "tools/varve/import/refused_row.h"
#include "tools/varve/import/seen_keys.h"
#include "tools/varve/large/row_contents.h"
#include "varve/table.h"

namespace varve::tool {

enum class ImportMode : std::uint8_t { kInsertOrReplace, kInsertOrMerge, kInsert };

struct ImportCounts {
  std::uint64_t read = 0;
  /// Entities that the import wrote.
  std::uint64_t imported = 0;
  /// Rows with the key of an earlier row of the import. The later row replaced the earlier one, or was merged into it.
  std::uint64_t repeated = 0;
  std::uint64_t refused = 0;
};

/// Collects rows by partition, and writes the rows of a partition as one transaction. If a transaction is refused, its
/// rows are written singly, so that one bad row affects no other row.
class Importer {
 public:
  /// `target` is open. The importer creates it before it writes the first row. `contents` has the files of large values,
  /// and is null if no row has any.
  Importer(ImportTarget& target, ImportMode mode, WriteOptions options, Refusal refusal,
           RowContents* contents = nullptr);

  /// Adds a row, with Row::contents. Errors: those after which no row can be imported (no space, a damaged or stopped
  /// store); kCancelled (a signal while a file was read). The row is not counted then.
  Status add(const RowPlace& place, Entity entity, const std::vector<std::string>& contents = {});
  void refuse(const RefusedRow& row);
  /// Writes the collected rows after the end of the input. Creates the table even if there was no row. But if rows were
  /// refused and none was written, it creates no table. Errors: as add().
  Status finish();
  /// Writes the rows that were read before the input ended early. Without such a row, creates nothing. Errors: as add().
  Status stop() { return write_all(); }

  const ImportCounts& counts() const noexcept { return counts_; }

 private:
  struct Pending {
    std::vector<RowPlace> places;
    std::vector<Entity> entities;
    std::vector<bool> repeated;
    std::set<std::string> row_keys;
    std::size_t bytes = 0;
  };

  Status add_with_contents(const RowPlace& place, const Entity& entity, const std::vector<std::string>& contents);
  Status make_room(Pending& pending, const Entity& entity, std::size_t bytes);
  Result<bool> is_repeated(const Entity& entity);
  Status write_all();
  Status write(Pending& pending);
  void count_imported(bool repeated) noexcept { ++(repeated ? counts_.repeated : counts_.imported); }
  Status write_singly(Pending& pending);
  WriteOperation operation_of(const Entity& entity) const;

  ImportTarget& target_;
  SeenKeys seen_;
  ImportMode mode_;
  WriteOptions options_;
  Refusal refusal_;
  RowContents* const contents_;
  std::map<std::string, Pending> pending_;
  std::size_t pending_rows_ = 0;
  std::size_t pending_bytes_ = 0;
  ImportCounts counts_;
};

}  // namespace varve::tool
