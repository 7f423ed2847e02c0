// Owns: formatting one request as one line of the log.
// Must never: show a signature, a key or a byte that could end or disguise the line.
#pragma once

#include <string>
#include <string_view>

#include "api/rest/protocol/message.h"
#include "tools/serve/watch/request_figures.h"

namespace varve::serve {

/// Returns the path and query as they were sent, without secrets. Only parameters that are known to be harmless keep
/// their value, so that a signature under any spelling is hidden. Bytes other than printable ASCII are percent-encoded.
/// A long target is cut.
std::string logged_target(const security::Request& head);

/// The parts of a log line that are known before the answer.
struct LoggedRequest {
  std::string client;
  std::string verb;
  std::string target;
};
LoggedRequest logged_request(const HttpRequest& request);

/// Returns a line such as `127.0.0.1 GET /devstoreaccount1/Orders() QueryEntities 200 - 0 B in, 512 B out, 1.234 ms, id
/// 5f...`. A `-` replaces the error code if there is none.
std::string log_text(const LoggedRequest& request, const RequestRecord& record, const HttpResponse& response);

}  // namespace varve::serve
