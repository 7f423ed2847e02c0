// Owns: a client of a server on this machine that sends any bytes, valid or not, and reads answers.
// Must never: correct the bytes that it sends.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/rest/protocol/message.h"

namespace varve::serve::test {

/// One connection. It ends with the object.
class HttpClient {
 public:
  /// `from` is the client's own address, one of this machine's.
  explicit HttpClient(std::uint16_t port, bool with_tls = false, const std::string& from = "127.0.0.1");
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Sends bytes. Returns false if the server has closed the connection.
  bool send(std::string_view bytes);
  /// Returns the next answer, or nothing if the connection ended instead.
  std::optional<HttpResponse> read();
  /// Returns the part of the last answer that was no HTTP. Empty if the answer was complete, or the connection ended
  /// before or within it.
  const std::string& fault() const noexcept;
  /// Returns the client's own port, or 0 if it has no connection.
  std::uint16_t port() const;
  /// Returns whether the connection ends without another answer.
  bool ends();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns the bytes of a request. A body gets its Content-Length.
std::string to_bytes(const HttpRequest& request);

}  // namespace varve::serve::test
