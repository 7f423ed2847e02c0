// Owns: the build of an index beside writers (I4).
// Must never: make an index ready while an entity may lack its entry.
//
// Writers maintain a declared index from the commit on that declared it. The build walks the table in views of later
// versions, some entities at a time. It reads them again under the locks of their partitions, and puts their entries. So an
// entity that a writer changes meanwhile has the entry of its newest state, in either order. A build that was stopped,
// or ended with its process, begins anew, and puts the same entries again.
//
// A unique index refuses from its declaration on. Every entry of it is put under the lock of its value, also by the build. A
// search for another entity that has the value comes before. So a ready index has no value twice, and the build fails at
// the second entity of a value.
#pragma once

#include <functional>

#include "api/catalog/catalog.h"
#include "api/core/store_core.h"
#include "varve/result.h"
#include "varve/table_index.h"

namespace varve {

/// Builds a declared index, and makes it ready. Returns at once if it is ready. `goes_on` is called after each part, under
/// no lock; if it returns false, the build stops, and the index stays declared. It may be empty. Errors: kCancelled
/// (stopped), kNotFound (TableNotFound; ResourceNotFound: the index was dropped), those of reading and of Engine::commit;
/// after each of them the index stays declared. If the build fails, or failed earlier: kConflict, with the reason.
Status build_index(StoreCore& core, const TableName& name, format::TableId index,
                   const std::function<bool(const IndexBuildProgress&)>& goes_on);

}  // namespace varve
