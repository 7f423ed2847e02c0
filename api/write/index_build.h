// Owns: the build of an index beside writers (I4).
// Must never: make an index ready while an entity may lack its entry.
//
// Writers maintain a declared index from the commit on that declared it. The build walks the table in a later snapshot, and
// loads the entries of its entities beneath all entries that writers put (engine/load/beneath_load.h). So an entity that a
// writer changes meanwhile has the entry of its newest state. A build that was stopped, or ended with its process, begins
// anew, and loads the same entries again.
//
// A unique index refuses from its declaration on. Every entry of it is put under the lock of its value, also by the build,
// which walks in views of later versions and commits the entries of some entities at a time. A search for another entity that
// has the value comes before. So a ready index has no value twice, and the build fails at the second entity of a value.
#pragma once

#include <functional>

#include "api/catalog/catalog.h"
#include "api/core/store_core.h"
#include "varve/result.h"
#include "varve/table_index.h"

namespace varve {

/// Builds a declared index, and makes it ready. Returns at once if it is ready. `goes_on` is called after each part of the
/// walk, and now and then while the entries are installed, under no lock; if it returns false, the build stops, and the index
/// stays declared. It may be empty. Errors: kCancelled
/// (stopped), kNotFound (TableNotFound; ResourceNotFound: the index was dropped), those of reading and of Engine::commit;
/// after each of them the index stays declared. If the build fails, or failed earlier: kConflict, with the reason.
Status build_index(StoreCore& core, const TableName& name, format::TableId index,
                   const std::function<bool(const IndexBuildProgress&)>& goes_on);

}  // namespace varve
