// Owns: how a connection begins: from an accepted socket, with or without TLS.
// Must never: show what speaks HTTP; that is compiled in two files of its own, since it takes long.
#pragma once

#include <memory>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "tools/serve/connection_host.h"

namespace boost::asio::ssl {
class context;
}

namespace varve::serve {

/// Each serves the socket until either side ends it; the host outlives it. The socket is of the context, which one
/// thread runs. Throws std::bad_alloc; the socket is closed then.
void serve_plain(boost::asio::io_context& context, boost::asio::ip::tcp::socket socket, ConnectionHost& host);
void serve_tls(boost::asio::io_context& context, boost::asio::ip::tcp::socket socket, ConnectionHost& host,
               boost::asio::ssl::context& tls);

}  // namespace varve::serve
