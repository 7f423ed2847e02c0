// Owns: the forms of a line of the log: text, or JSON.
// Must never: show a signature, a key or a byte that could end or disguise the line.
#pragma once

#include <chrono>
#include <cstdint>
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

/// The forms of the lines of the log.
enum class LogFormat : std::uint8_t { kText, kJson };

/// Returns a line such as `127.0.0.1 GET /devstoreaccount1/Orders() QueryEntities 200 - 0 B in, 512 B out, 1.234 ms, id
/// 5f...`. A `-` replaces the error code if there is none.
std::string log_text(const LoggedRequest& request, const RequestRecord& record, const HttpResponse& response);

using LogTime = std::chrono::system_clock::time_point;

/// Returns one JSON object, without an end of line:
/// `{"time":"2026-11-22T13:05:10.120Z","level":"info","event":"request","client":"127.0.0.1","method":"GET",`
/// `"target":"/devstoreaccount1/Orders()","operation":"QueryEntities","status":200,"error_code":null,"bytes_in":0,`
/// `"bytes_out":512,"duration_ms":1.234,"request_id":"5f..."}`.
std::string log_json(LogTime time, const LoggedRequest& request, const RequestRecord& record,
                     const HttpResponse& response);
/// Returns one JSON object: `{"time":"...","level":"info","event":"server","message":"..."}`. If `request_id` is not
/// empty, it is added. Bytes of the message that are not UTF-8 become U+FFFD.
std::string log_json(LogTime time, std::string_view level, std::string_view message, std::string_view request_id = {});

}  // namespace varve::serve
