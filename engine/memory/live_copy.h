// Owns: freeing the memory of dropped tables when a store opens.
// Must never: leave out an entry that a reader could still ask for. A store that opens has no readers, and versions
// below the drop can no longer be read.
#pragma once

#include <memory>

#include "engine/memory/memtable.h"
#include "engine/memory/retired_ids.h"
#include "varve/result.h"

namespace varve::engine {

/// The live entries of a memtable, and the bytes of the keys and values left out. The log still contains those bytes.
struct LiveCopy {
  std::unique_ptr<Memtable> memtable;
  std::uint64_t dead_bytes = 0;
};

/// Returns a memtable with the entries of `all`, without the entries of retired tables. Returns `all` itself if there
/// is nothing to leave out. Errors: kOutOfMemory.
Result<LiveCopy> without_retired(std::unique_ptr<Memtable> all, const RetiredIds& retired);

}  // namespace varve::engine
