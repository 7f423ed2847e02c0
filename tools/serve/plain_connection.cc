// Owns: connections without TLS, compiled.
// Must never: differ from those with TLS.
#include "tools/serve/connection.h"
#include "tools/serve/http_connection.h"

namespace varve::serve {

void serve_plain(boost::asio::io_context& context, boost::asio::ip::tcp::socket socket, ConnectionHost& host) {
  ErrorCode error;
  const std::string address = socket.remote_endpoint(error).address().to_string();
  if (error) return;  // gone already
  std::make_shared<HttpConnection<beast::tcp_stream>>(host, address, context, std::move(socket))->begin();
}

}  // namespace varve::serve
