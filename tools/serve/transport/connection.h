// Owns: how a connection begins: from an accepted socket, with or without TLS.
// Must never: show what speaks HTTP; that is compiled in two files of its own, since it takes long.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "tools/serve/transport/connection_host.h"

namespace boost::asio::ssl {
class context;
}

namespace varve::serve {

/// Of a context that one thread runs, so that a connection needs no lock.
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

/// Each serves the socket until either side ends it; the host outlives it. Throws std::bad_alloc; the socket is closed
/// then.
void serve_plain(Socket socket, ConnectionHost& host);
void serve_tls(Socket socket, ConnectionHost& host, boost::asio::ssl::context& tls);

}  // namespace varve::serve
