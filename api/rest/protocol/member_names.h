// Owns: the names of the properties that every entity has, as JSON and addresses spell them.
// Must never: hold the names of annotations; those belong to who writes them.
#pragma once

#include <string_view>

namespace varve::serve {

inline constexpr std::string_view kPartitionKey = "PartitionKey";
inline constexpr std::string_view kRowKey = "RowKey";
inline constexpr std::string_view kTimestamp = "Timestamp";

}  // namespace varve::serve
