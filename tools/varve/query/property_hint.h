// Owns: the hint after an empty result: the filter names a property that no entity has, or compares one with a literal of a
// type that none of its values has.
// Must never: read more than a page.
#pragma once

#include <string>

#include "tools/varve/reach/table_access.h"

namespace varve::tool {

/// Looks at the first page of the table. Returns a hint if the filter names a property that no entity there has, or compares
/// it by `eq`, `gt` or `ge` with a literal whose type fits none of its values there. Else the text is empty. A failure of the
/// look gives no hint.
std::string property_hint(const TableAccess& table, const std::string& filter, const ReadOptions& options);

}  // namespace varve::tool
