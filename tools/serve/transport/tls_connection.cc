// Owns: compiling connections with TLS.
// Must never: differ from connections without TLS.
#include <boost/beast/ssl/ssl_stream.hpp>

#include "tools/serve/transport/connection.h"
#include "tools/serve/transport/http_connection.h"

namespace varve::serve {

void serve_tls(Socket socket, ConnectionHost& host, boost::asio::ssl::context& tls) {
  ErrorCode error;
  const std::string address = socket.remote_endpoint(error).address().to_string();
  if (error) return;  // the client is gone already
  using TlsStream = beast::ssl_stream<Socket>;
  std::make_shared<HttpConnection<TlsStream>>(host, address, std::move(socket), tls)->begin();
}

}  // namespace varve::serve
