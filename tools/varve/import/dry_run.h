// Owns: an import that only looks: what the rows would be as entities.
// Must never: open or create a store.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/varve/describe/entity_summary.h"
#include "tools/varve/import/importer.h"
#include "tools/varve/import/seen_keys.h"

namespace varve::tool {

class DryRun {
 public:
  explicit DryRun(Refusal refusal) : refusal_(std::move(refusal)) {}

  Status add(const RowPlace& place, const Entity& entity);
  void refuse(const RefusedRow& row);
  Status finish() { return Status(); }
  Status stop() { return Status(); }

  /// `repeated` may count some rows too many above a million rows.
  const ImportCounts& counts() const noexcept { return counts_; }
  /// Prints what would be imported: the first entities, and the properties with their types.
  void report(const std::string& table, bool json) const;

 private:
  static constexpr std::size_t kFirstMax = 5;

  Refusal refusal_;
  ImportCounts counts_;
  SeenKeys seen_;
  EntitySummary summary_;
  std::vector<std::string> first_;
};

}  // namespace varve::tool
