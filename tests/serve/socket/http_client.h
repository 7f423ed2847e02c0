// Owns: a client of a server on this machine that sends any bytes, good or bad, and reads answers.
// Must never: mend what it is given to send.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/rest/protocol/message.h"

namespace varve::serve::test {

/// One connection. Ends with the object.
class HttpClient {
 public:
  /// `from` is the client's own address, one of this machine's.
  explicit HttpClient(std::uint16_t port, bool with_tls = false, const std::string& from = "127.0.0.1");
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// False: the server has closed the connection.
  bool send(std::string_view bytes);
  /// The next answer; nothing if the connection ended instead.
  std::optional<HttpResponse> read();
  /// What of the last answer was no HTTP; empty where it was whole, or the connection ended before or within it.
  const std::string& fault() const noexcept;
  /// Whether the connection ends without another answer.
  bool ends();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The bytes of a request; a body gets its Content-Length.
std::string to_bytes(const HttpRequest& request);

}  // namespace varve::serve::test
