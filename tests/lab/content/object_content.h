// Owns: what a store shows of its queues, containers, blobs and large values, as lines of JSON.
// Must never: depend on the clock: messages that are hidden, and blocks that are only staged, are left out.
#pragma once

#include <string>
#include <vector>

#include "tests/lab/content/store_content.h"

namespace varve::lab {

/// Returns a line for each queue, visible message, container, published blob and large value. `content` names the accounts
/// and the entities. A queue's line has the number of all its messages. Of a queue's visible messages the first 32 are
/// shown. Returns the first error.
Result<std::vector<std::string>> object_lines(const Store& store, const StoreContent& content);

}  // namespace varve::lab
