// Owns: the edit that ends loads that were never finished (unfinished_loads.h).
#include "engine/manifest/unfinished_loads.h"

#include <algorithm>

#include "io/probe.h"

namespace varve::engine {

format::DeadId dead_load(format::TableId table) {
  return {format::encode_table(table), kNeverShown, {}};
}

Result<std::vector<format::DeadId>> drop_unfinished_loads(std::span<const format::TableId> adopted, FileSet& files) {
  format::ManifestEdit edit;
  for (const format::TableId loading : files.loading_ids) {
    if (std::find(adopted.begin(), adopted.end(), loading) != adopted.end()) continue;
    edit.removed_loading_ids.push_back(loading);
    bool is_mixed = false;
    for (const auto& [number, table] : files.tables) {
      if (table.last_table < loading || loading < table.first_table) continue;
      if (table.first_table == table.last_table) {
        edit.removed_tables.push_back(number);
      } else {
        is_mixed = true;
      }
    }
    if (is_mixed) edit.added_dead_ids.push_back(dead_load(loading));
  }
  if (edit.removed_loading_ids.empty()) return std::vector<format::DeadId>();
  io::probe("a load that was not adopted is dead");
  if (Status applied = files.apply(edit); !applied.ok()) return applied;
  return edit.added_dead_ids;
}

}  // namespace varve::engine
