// Owns: the limits of each listener, made of the limits of the server.
// Must never: know a listener.
#pragma once

#include <cstdint>

#include "tools/serve/transport/connection_host.h"

namespace varve::serve {

/// Returns the limits of the metrics listener. Its clients are few, do not use the connections of other clients, and
/// send only headers.
ConnectionLimits watch_limits(ConnectionLimits limits, std::uint64_t connections);
/// Returns the limits of the socket in the store's directory. Its connections are few and have memory of their own.
ConnectionLimits operator_limits(ConnectionLimits limits, std::uint64_t connections);
/// Returns limits that fit the descriptors. One address gets at most half of the connections.
ConnectionLimits limits_within(ConnectionLimits limits, std::uint64_t connections);

}  // namespace varve::serve
