// Owns: access to the status page: users of this machine, through a page of this server.
// Must never: let a page of another site read the status page, whatever name that site gives this machine.
//
// A browser sends any request that a page asks for. A foreign page cannot read answers of another origin, unless its
// own name was pointed to this machine (DNS rebinding). Its requests then name that host, and are refused because of
// it.
#pragma once

#include <string>
#include <string_view>

#include "api/rest/protocol/message.h"
#include "varve/status.h"

namespace varve::serve {

/// Returns whether the host is `localhost`, an address of 127.0.0.0/8 or `[::1]`, perhaps with a port.
bool is_local_host(std::string_view host);
/// Returns whether the address is in 127.0.0.0/8 or is `::1`, also as a mapped address.
bool is_local_address(std::string_view address);

/// Checks that the caller is on this machine, used no proxy, and calls the server by a name of this machine.
/// Errors: kForbidden.
Status check_local(const HttpRequest& request);
/// Checks the headers in which a browser names the origin of a request: it must be a page of this server, or a URL that
/// the user typed. Other clients send no such header, and pass.
/// Errors: kForbidden.
Status check_same_origin(const HttpRequest& request);

}  // namespace varve::serve
