// Owns: bringing rows into a new or empty table by a Loader, and the account of what became of every row.
// Must never: count a row as imported before all of them are.
#pragma once

#include <cstdint>

#include "api/loader.h"
#include "tools/varve/importer.h"

namespace varve::tool {

class LoadImporter {
 public:
  LoadImporter(Loader& loader, Importer::Refusal refusal) : loader_(loader), refusal_(std::move(refusal)) {}

  /// Errors: those that end the load; a row that is refused for what it is does not.
  Status add(std::uint64_t line, const Entity& entity);
  void refuse(std::uint64_t line, const Status& reason);
  /// Makes the table. Errors: those of Loader::finish.
  Status finish();

  const ImportCounts& counts() const noexcept { return counts_; }

 private:
  Loader& loader_;
  Importer::Refusal refusal_;
  ImportCounts counts_;
};

}  // namespace varve::tool
