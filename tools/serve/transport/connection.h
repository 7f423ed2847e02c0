// Owns: the functions that start a connection on an accepted socket, with or without TLS.
// Must never: include the HTTP code. Two files compile it, because it compiles slowly.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "tools/serve/transport/connection_host.h"

namespace boost::asio::ssl {
class context;
}

namespace varve::serve {

/// A socket of a context that one thread runs, so that a connection needs no lock.
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

/// Each function serves the socket until either side ends the connection. The host must outlive it. Throws
/// std::bad_alloc after closing the socket.
void serve_plain(Socket socket, ConnectionHost& host);
void serve_tls(Socket socket, ConnectionHost& host, boost::asio::ssl::context& tls);

}  // namespace varve::serve
