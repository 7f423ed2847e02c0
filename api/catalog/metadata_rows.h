// Owns: metadata as properties of a row: for number n, from 0, Meta<n>Name and Meta<n>Value (String), without gaps.
// Must never: change the case of a name, or the order.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "format/keys/entity.h"
#include "varve/queue.h"

namespace varve {

/// The names of all these properties begin with this.
inline constexpr std::string_view kMetadataPrefix = "Meta";

void add_metadata(format::EntityBuilder& builder, const std::vector<MetadataPair>& metadata);
/// Returns nothing if a property is missing or has another type.
std::optional<std::vector<MetadataPair>> find_metadata(const format::EncodedEntity& row);

}  // namespace varve
