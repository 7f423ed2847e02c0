// Owns: the names of columns: the nearest one to a wrong name, and those that become names of properties.
// Must never: change a name that is valid.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace varve::tool {

/// Returns the name that differs least from `wanted`, or an empty text if none is near.
std::string nearest_name(std::string_view wanted, const std::vector<std::string>& names);

/// Returns "; did you mean "A"? The WHAT are A, B, C", with at most some names.
std::string names_hint(std::string_view wanted, std::string_view what, const std::vector<std::string>& names);

/// Returns a name that a property may have: each character that it may not have becomes `_`.
std::string fixed_property_name(std::string_view name);

}  // namespace varve::tool
