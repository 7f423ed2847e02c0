// Owns: the work that `endurance` does as fast as it can be done, and `smooth` at a rate on offer.
// Must never: differ between the two.
#pragma once

#include "bench/varve_bench/drive.h"

namespace varve::bench {

inline constexpr int kEnduranceClients = 4;
double milliseconds(std::uint64_t nanoseconds);

/// A write buffer of 32 MiB and a cache of 64 MiB.
Settings endurance_settings(const Choice& choice);
/// A buffered put of any of Choice::entities.
Result<std::uint64_t> put_anywhere(Session& session, Worker& worker);

}  // namespace varve::bench
