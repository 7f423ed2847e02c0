// Owns: who may see the status page: people at this machine, by a page of this very server.
// Must never: let a page of another site read what is behind it, whatever name that site gives this machine.
//
// A browser sends what any page tells it to send. A foreign page cannot read answers of another origin, unless its own
// name was made to point to this machine (DNS rebinding): then its requests name that host, and are refused by it.
#pragma once

#include <string>
#include <string_view>

#include "api/rest/protocol/message.h"
#include "varve/status.h"

namespace varve::serve {

/// `localhost`, an address of 127.0.0.0/8 or `[::1]`, perhaps with a port.
bool is_local_host(std::string_view host);
/// 127.0.0.0/8 and `::1`, also as a mapped address.
bool is_local_address(std::string_view address);

/// The caller is at this machine, came by no proxy, and calls the server by a name of this machine.
/// Errors: kForbidden.
Status check_local(const HttpRequest& request);
/// A browser says that a page of this server asks, or a person by typing; what is no browser says nothing.
/// Errors: kForbidden.
Status check_same_origin(const HttpRequest& request);

}  // namespace varve::serve
