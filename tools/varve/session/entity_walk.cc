#include "tools/varve/session/entity_walk.h"

#include <utility>

#include "tools/varve/session/entity_reader.h"

namespace varve::tool {

Result<ReadOptions> options_of_present_state(StoreAccess& store) {
  ReadOptions options;
  Store* const local = store.local();
  if (local == nullptr) return options;
  Result<Snapshot> snapshot = local->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  options.snapshot = *std::move(snapshot);
  return options;
}

Status for_each_entity(const TableAccess& table, const ReadOptions& options, Progress& progress,
                       const EntityVisit& visit) {
  EntityReader reader(table, options);
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  for (;;) {
    const Result<const Entity*> entity = reader.next();
    if (!entity.ok()) return entity.status();
    if (*entity == nullptr || !visit(**entity)) return Status();
    bytes += accounted_size_bytes(**entity);
    progress.update(++count, bytes);
  }
}

}  // namespace varve::tool
