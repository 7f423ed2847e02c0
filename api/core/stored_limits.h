// Owns: the encoding of a store's limits as stored bytes.
// Must never: accept a limit that the format cannot hold.
#pragma once

#include <string>
#include <string_view>

#include "varve/result.h"
#include "varve/store_limits.h"

namespace varve {

/// Errors: kInvalidArgument, naming the limit.
Status check_limits(const StoreLimits& limits);

/// Encodes the limits that differ from those of the service. The service's limits take no bytes.
std::string encode_limits(const StoreLimits& limits);
/// Errors: kCorruption, kUnsupported (limits of a newer build).
Result<StoreLimits> decode_limits(std::string_view bytes);

}  // namespace varve
