// Owns: the limits of a store as the bytes that the store keeps of them.
// Must never: take a limit that the format cannot hold.
#pragma once

#include <string>
#include <string_view>

#include "varve/result.h"
#include "varve/store_limits.h"

namespace varve {

/// Errors: kInvalidArgument, naming the limit.
Status check_limits(const StoreLimits& limits);

/// The service's own limits are no bytes at all; of others, those that differ.
std::string encode_limits(const StoreLimits& limits);
/// Errors: kCorruption, kUnsupported (limits of a newer build).
Result<StoreLimits> decode_limits(std::string_view bytes);

}  // namespace varve
