#include "tools/varve/entity_walk.h"

namespace varve::tool {

Status for_each_entity(const Table& table, const Snapshot& snapshot, Progress& progress, const EntityVisit& visit) {
  Scan scan;
  scan.read.snapshot = snapshot;
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
