// Owns: compiling connections with TLS.
// Must never: differ from connections without TLS.
#include <boost/beast/ssl/ssl_stream.hpp>

#include "tools/serve/transport/connection.h"
#include "tools/serve/transport/http_connection.h"
#include "tools/serve/transport/http_reading.h"
#include "tools/serve/transport/http_writing.h"

namespace varve::serve {

void serve_tls(Socket socket, ClientAddress client, ConnectionHost& host, boost::asio::ssl::context& tls) {
  using TlsStream = beast::ssl_stream<Socket>;
  std::make_shared<HttpConnection<TlsStream>>(host, std::move(client), std::move(socket), tls)->begin();
}

}  // namespace varve::serve
