// Owns: one request as one line of the log.
// Must never: show a signature, a key or a byte that could end or disguise the line.
#pragma once

#include <string>
#include <string_view>

#include "api/rest/protocol/message.h"
#include "tools/serve/watch/request_figures.h"

namespace varve::serve {

/// The path and query as they were sent, made safe: of the query only what is known to be harmless keeps its value, so
/// that a signature under any spelling is hidden; bytes that are not printable ASCII are percent-encoded, and what is
/// long is cut.
std::string logged_target(const security::Request& head);

/// What a line says of a request that was not answered yet.
struct LoggedRequest {
  std::string client;
  std::string verb;
  std::string target;
};
LoggedRequest logged_request(const HttpRequest& request);

/// `127.0.0.1 GET /devstoreaccount1/Orders() QueryEntities 200 - 0 B in, 512 B out, 1.234 ms, id 5f...`; `-` stands
/// where there is no error code.
std::string log_text(const LoggedRequest& request, const RequestRecord& record, const HttpResponse& response);

}  // namespace varve::serve
