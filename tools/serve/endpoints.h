// Owns: the addresses on which a server listens, from their text.
// Must never: open a socket.
#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>

#include "varve/result.h"

namespace varve::serve {

/// Errors: kInvalidArgument (`text` is no IP address).
inline Result<boost::asio::ip::tcp::endpoint> endpoint_of(const std::string& text, std::uint16_t port) {
  boost::system::error_code error;
  const boost::asio::ip::address address = boost::asio::ip::make_address(text, error);
  if (error) return Status::invalid_argument("\"" + text + "\" is not an IP address");
  return boost::asio::ip::tcp::endpoint(address, port);
}

/// Returns the failure to listen, or Ok without an error.
inline Status cannot_listen(const boost::asio::ip::tcp::endpoint& endpoint, const boost::system::error_code& error) {
  if (!error) return Status();
  return Status::io_error("cannot listen on " + endpoint.address().to_string() + ":" + std::to_string(endpoint.port()) +
                          ": " + error.message());
}

}  // namespace varve::serve
