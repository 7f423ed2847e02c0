// Owns: what a table's rule makes of an entity: its end, or its age.
// Must never: read a clock.
#pragma once

#include <cstdint>
#include <string_view>

#include "varve/table_expiry.h"

namespace varve {

inline constexpr std::int64_t kAgeTicksPerMillisecond = 10'000;

/// Returns what format::LoneOperation::set_end() takes: the end of an entity, its age, or zero if it has no end. `entity`
/// is encoded. An end is at least 1: a time in year 1 has passed like any other.
std::uint64_t end_by_rule(const TableExpiry& rule, std::string_view entity) noexcept;

}  // namespace varve
