// Owns: giving back, when a store is opened, the memory of tables that were dropped.
// Must never: leave out an entry that a reader could still ask for: at open there are no readers, and versions below
// the drop are readable no more.
#pragma once

#include <memory>

#include "engine/memory/memtable.h"
#include "engine/memory/retired_ids.h"
#include "varve/result.h"

namespace varve::engine {

/// What is live of a memtable, and the bytes of keys and values that were left out: the log still holds them.
struct LiveCopy {
  std::unique_ptr<Memtable> memtable;
  std::uint64_t dead_bytes = 0;
};

/// A memtable with the entries of `all` but those of retired tables; `all` itself when there are none to leave out.
/// Errors: kOutOfMemory.
Result<LiveCopy> without_retired(std::unique_ptr<Memtable> all, const RetiredIds& retired);

}  // namespace varve::engine
