// Owns: reading every entity of a table, page by page.
// Must never: mix two states of a table in a directory, if its caller gives a snapshot.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "tools/varve/progress.h"
#include "varve/store.h"

namespace varve::tool {

/// The entities of a table in key order, one after the other. `Scanned` is a Table or a TableAccess.
template <typename Scanned>
class EntityStream {
 public:
  explicit EntityStream(const Scanned& table, const ReadOptions& options = {}) : table_(table) { scan_.read = options; }

  /// Returns the next entity, or null at the end. It is valid until the next call. Errors: those of Table::scan.
  Result<const Entity*> next() {
    while (at_ == page_.entities.size()) {
      if (has_begun_ && !page_.continuation) return static_cast<const Entity*>(nullptr);
      scan_.continuation = page_.continuation.value_or(std::string());
      Result<Page> page = table_.scan(scan_);
      if (!page.ok()) return page.status();
      page_ = *std::move(page);
      has_begun_ = true;
      at_ = 0;
    }
    return static_cast<const Entity*>(&page_.entities[at_++]);
  }

 private:
  const Scanned& table_;
  Scan scan_;
  Page page_;
  std::size_t at_ = 0;
  bool has_begun_ = false;
};

/// Receives an entity. Returns false if no more entities are needed.
using EntityVisit = std::function<bool(const Entity&)>;

/// Calls `visit` for the entities in key order, and shows the progress. Errors: those of Table::scan.
template <typename Scanned>
Status for_each_entity(const Scanned& table, const ReadOptions& options, Progress& progress, const EntityVisit& visit) {
  EntityStream<Scanned> stream(table, options);
  std::uint64_t bytes = 0;
  for (std::uint64_t count = 1;; ++count) {
    const Result<const Entity*> entity = stream.next();
    if (!entity.ok()) return entity.status();
    if (*entity == nullptr || !visit(**entity)) return Status();
    bytes += accounted_size_bytes(**entity);
    progress.update(count, bytes);
  }
}

}  // namespace varve::tool
