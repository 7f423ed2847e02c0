// Owns: finding the server that has a store open, by the socket in the store's directory.
// Must never: take a server of another store, or of another user, for the one that holds the store.
#pragma once

#include <memory>
#include <string>

#include "tools/varve/reach/wire.h"

namespace varve::tool {

/// Returns a wire to the server of the store in this directory. Its requests need no signature. Returns null if there
/// is no such server: there is no socket, the server that made it is gone, or it has another store open.
std::shared_ptr<Wire> find_server(const std::string& store);

}  // namespace varve::tool
