// Owns: writing rows into a new or empty table with a Loader, and counting the outcome of every row.
// Must never: count a row as imported before all rows are.
#pragma once

#include <cstdint>

#include "tools/varve/import/import_target.h"
#include "tools/varve/import/importer.h"

namespace varve::tool {

class LoadImporter {
 public:
  /// `target` is open. The importer creates it before it adds the first row.
  LoadImporter(ImportTarget& target, Importer::Refusal refusal) : target_(target), refusal_(std::move(refusal)) {}

  /// Adds a row. Errors: those that end the load. A row that is refused because of its content ends nothing.
  Status add(std::uint64_t line, const Entity& entity);
  void refuse(std::uint64_t line, const Status& reason, std::uint64_t shape_fault);
  /// Installs the table after the end of the input, unless every row was refused. Errors: those of Loader::finish.
  Status finish();
  /// Imports nothing, because the input ended early.
  Status stop();

  const ImportCounts& counts() const noexcept { return counts_; }

 private:
  ImportTarget& target_;
  Importer::Refusal refusal_;
  ImportCounts counts_;
};

}  // namespace varve::tool
