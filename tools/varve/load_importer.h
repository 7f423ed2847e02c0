// Owns: bringing rows into a new or empty table by a Loader, and the account of what became of every row.
// Must never: count a row as imported before all of them are.
#pragma once

#include <cstdint>

#include "tools/varve/import_target.h"
#include "tools/varve/importer.h"

namespace varve::tool {

class LoadImporter {
 public:
  /// `target` was opened; it is created before the first row is added.
  LoadImporter(ImportTarget& target, Importer::Refusal refusal) : target_(target), refusal_(std::move(refusal)) {}

  /// Errors: those that end the load; a row that is refused for what it is does not.
  Status add(std::uint64_t line, const Entity& entity);
  void refuse(std::uint64_t line, const Status& reason, std::uint64_t shape_fault);
  /// The input was read to its end: makes the table, unless every row was refused. Errors: those of Loader::finish.
  Status finish();
  /// The input ended early: nothing is imported.
  Status stop();

  const ImportCounts& counts() const noexcept { return counts_; }

 private:
  ImportTarget& target_;
  Importer::Refusal refusal_;
  ImportCounts counts_;
};

}  // namespace varve::tool
