// Owns: requests and answers between Beast's form and ours, and what a request's frame must keep.
// Must never: read or write a socket.
#pragma once

#include <cstdint>
#include <optional>

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "api/status.h"
#include "tools/serve/connection_host.h"
#include "tools/serve/message.h"

namespace varve::serve {

using RequestParser = boost::beast::http::request_parser<boost::beast::http::string_body>;
using ResponseMessage = boost::beast::http::response<boost::beast::http::string_body>;

/// Of a request whose headers were read. Errors: kInvalidArgument (InvalidUri, InvalidHeaderValue: over the limits;
/// InvalidInput: a body framed in two ways or none that is known; MissingContentLengthHeader).
Status check_framing(const RequestParser& parser, const ConnectionLimits& limits);
bool wants_continue(const RequestParser& parser);
std::uint64_t body_bytes_expected(const RequestParser& parser, const ConnectionLimits& limits);

/// False: the target is neither a path nor an absolute URL.
bool take_request(RequestParser& parser, HttpRequest& request);
Status bad_target();

/// What to tell a client whose request could not be read; nothing where it is gone, or has taken too long.
std::optional<Status> answer_to(const boost::system::error_code& error);

ResponseMessage to_message(HttpResponse response, bool keeps_alive);

}  // namespace varve::serve
