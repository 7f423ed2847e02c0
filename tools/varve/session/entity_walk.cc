#include "tools/varve/session/entity_walk.h"

#include <utility>

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
  Scan scan;
  scan.read = options;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  for (;;) {
    const Result<Page> read = table.scan(scan);
    if (!read.ok()) return read.status();
    const Page& page = *read;
    for (const Entity& entity : page.entities) {
      if (!visit(entity)) return Status();
      bytes += accounted_size_bytes(entity);
      progress.update(++count, bytes);
    }
    if (!page.continuation) return Status();
    scan.continuation = *page.continuation;
  }
}

}  // namespace varve::tool
