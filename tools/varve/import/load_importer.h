// Owns: writing rows into a new or empty table with a Loader, and counting the outcome of every row.
// Must never: count a row as imported before all rows are.
#pragma once

#include <cstdint>

#include "tools/varve/import/import_target.h"
#include "tools/varve/import/importer.h"
#include "tools/varve/import/refused_row.h"

namespace varve::tool {

class LoadImporter {
 public:
  /// `target` is open. The importer creates it before it adds the first row.
  LoadImporter(ImportTarget& target, Refusal refusal) : target_(target), refusal_(std::move(refusal)) {}

  /// Adds a row. Errors: those that end the load. A row that is refused because of its content ends nothing.
  Status add(const RowPlace& place, const Entity& entity);
  void refuse(const RefusedRow& row);
  /// Installs the table after the end of the input, unless every row was refused. A signal ends the builds of its indexes.
  /// Errors: those of Loader::finish.
  Status finish();
  /// Imports nothing, because the input ended early.
  Status stop();

  const ImportCounts& counts() const noexcept { return counts_; }

 private:
  ImportTarget& target_;
  Refusal refusal_;
  ImportCounts counts_;
};

}  // namespace varve::tool
