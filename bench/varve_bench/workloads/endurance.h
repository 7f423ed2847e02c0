// Owns: the work that `endurance` does at full speed, and `smooth` at an offered rate.
// Must never: differ between the two.
#pragma once

#include "bench/varve_bench/drive.h"

namespace varve::bench {

inline constexpr int kEnduranceClients = 4;
double milliseconds(std::uint64_t nanoseconds);

/// Returns settings with a write buffer of 32 MiB and a cache of 64 MiB.
Settings endurance_settings(const Choice& choice);
/// Does a buffered put of a random entity below Choice::entities.
Result<std::uint64_t> put_anywhere(Session& session, Worker& worker);

}  // namespace varve::bench
