// Owns: the functions that start a connection on an accepted socket, with or without TLS.
// Must never: include the HTTP code. Two files compile it, because it compiles slowly.
#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>

#include "tools/serve/transport/connection_host.h"

namespace boost::asio::ssl {
class context;
}

namespace varve::serve {

/// A socket of a context that one thread runs, so that a connection needs no lock. It is a TCP socket or a local one.
using Socket =
    boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, boost::asio::io_context::executor_type>;

/// The other end of a connection.
struct ClientAddress {
  /// The IP address, or a word for clients of a local socket.
  std::string ip;
  /// The port, or 0 for clients of a local socket.
  std::uint16_t port = 0;
};

/// Each function serves the socket until either side ends the connection. The host must outlive the connection. Throws
/// std::bad_alloc after closing the socket.
void serve_plain(Socket socket, ClientAddress client, ConnectionHost& host);
void serve_tls(Socket socket, ClientAddress client, ConnectionHost& host, boost::asio::ssl::context& tls);

}  // namespace varve::serve
