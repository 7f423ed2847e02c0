// Owns: the names of the properties of every entity, as JSON and addresses spell them.
// Must never: contain the names of annotations. The file that writes annotations defines their names.
#pragma once

#include <string_view>

namespace varve::serve {

inline constexpr std::string_view kPartitionKey = "PartitionKey";
inline constexpr std::string_view kRowKey = "RowKey";
inline constexpr std::string_view kTimestamp = "Timestamp";

}  // namespace varve::serve
