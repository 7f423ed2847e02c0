// Owns: the functions that start a connection on an accepted socket, with or without TLS.
// Must never: include the HTTP code. Two files compile it, because it compiles slowly.
#pragma once

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

/// Each function serves the socket until either side ends the connection. `client` is the client's IP address, or a
/// word for clients of a local socket. The host must outlive the connection. Throws std::bad_alloc after closing the
/// socket.
void serve_plain(Socket socket, std::string client, ConnectionHost& host);
void serve_tls(Socket socket, std::string client, ConnectionHost& host, boost::asio::ssl::context& tls);

}  // namespace varve::serve
