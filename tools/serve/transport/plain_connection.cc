// Owns: compiling connections without TLS.
// Must never: differ from connections with TLS.
#include "tools/serve/transport/connection.h"
#include "tools/serve/transport/http_connection.h"

namespace varve::serve {

void serve_plain(Socket socket, ConnectionHost& host) {
  ErrorCode error;
  const std::string address = socket.remote_endpoint(error).address().to_string();
  if (error) return;  // the client is gone already
  std::make_shared<HttpConnection<Socket>>(host, address, std::move(socket))->begin();
}

}  // namespace varve::serve
