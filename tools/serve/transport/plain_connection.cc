// Owns: compiling connections without TLS.
// Must never: differ from connections with TLS.
#include "tools/serve/transport/connection.h"
#include "tools/serve/transport/http_connection.h"
#include "tools/serve/transport/http_reading.h"
#include "tools/serve/transport/http_writing.h"

namespace varve::serve {

void serve_plain(Socket socket, ClientAddress client, ConnectionHost& host) {
  std::make_shared<HttpConnection<Socket>>(host, std::move(client), std::move(socket))->begin();
}

}  // namespace varve::serve
