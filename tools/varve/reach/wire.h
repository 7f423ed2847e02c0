// Owns: sending one HTTP request and receiving its answer, over a connected socket or to an address.
// Must never: wait without a deadline, follow a redirection, repeat a request, or take an answer of any size.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "api/rest/protocol/message.h"
#include "tools/varve/base/owned_descriptor.h"
#include "varve/result.h"

namespace varve::tool {

/// One thread at a time uses a wire. Its requests share one connection where possible.
class Wire {
 public:
  /// Adds to each request what authenticates it.
  using Sign = std::function<Status(serve::HttpRequest& request)>;
  /// Judges an answer before the caller gets it. A failure takes the answer's place.
  using Judge = std::function<Status(const serve::HttpResponse& response)>;

  /// Sends over one connection to the local socket at `path`, which the first request opens. The end of that connection
  /// ends the wire. `directory` is kept open for a path through /proc.
  static Result<std::unique_ptr<Wire>> to_socket(const std::string& path, OwnedDescriptor directory, Sign sign);
  /// Sends to an address such as `https://host:port`. `certificates` is a PEM file of authorities, or empty for those
  /// of the system.
  static Result<std::unique_ptr<Wire>> to_address(std::string address, const std::string& certificates, Sign sign,
                                                  Judge judge = {});
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// Returns the answer, whatever its status. `path` and `query` of the request are sent as they are.
  /// Errors: kIoError (no connection; the connection ended or was too slow before an answer to a read), kUnknown (the
  /// same, for a request that may have changed something), kTooLarge (an answer above 64 MiB), and those of `sign` and
  /// `judge`.
  Result<serve::HttpResponse> send(serve::HttpRequest request, std::chrono::seconds time_max = kTimeMax);

  /// Returns whether the last request reached a server, which perhaps gave no answer.
  bool has_reached_server() const noexcept;
  /// Returns the socket of the connection, or a number below 0 if there is none.
  int socket() const noexcept;
  /// Returns the address without a path, such as `https://host:port`.
  const std::string& address() const noexcept;

  static constexpr std::chrono::seconds kTimeMax{90};

 private:
  struct State;
  explicit Wire(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

/// Returns a request of this verb. `target` is a path, perhaps with a query.
serve::HttpRequest request_to(std::string_view verb, std::string_view target, std::string body = {});

}  // namespace varve::tool
