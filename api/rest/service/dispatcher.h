// Owns: the path of a request from its arrival to its answer, independent of the connection.
// Must never: know a socket, do the work of a route, or let a request pass without authentication.
//
// The steps follow O-07: the rules for every request, authentication, permission, the resource, the format of the
// answer. A failure at any step ends the request there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "api/rest/encoding/error_body.h"
#include "api/rest/protocol/message.h"
#include "api/rest/protocol/target.h"
#include "api/rest/service/accounts.h"
#include "api/rest/service/cross_origin.h"
#include "api/rest/service/keyring.h"
#include "api/rest/service/operation.h"
#include "varve/home_thread.h"
#include "varve/security/async_session.h"
#include "varve/store.h"
#include "varve/task.h"

namespace varve::serve {

/// Called for each request that failed without a fault of the client.
using FailureLog = std::function<void(std::string_view request_id, const Status& status)>;

/// Can be used by any thread. Requests run concurrently.
class Dispatcher {
 public:
  /// The store must outlive the dispatcher.
  Dispatcher(Store& store, Accounts accounts, security::Clock clock, FailureLog log);

  /// Implements RequestHandler::admit(): authenticates the caller.
  Task<Status> admit(const HttpRequest& request, HomeThread* home = nullptr);

  /// Implements RequestHandler::handle(). Sets `operation` to the operation that the request named. `operation` must
  /// outlive the task.
  Task<Result<HttpResponse>> handle(HttpRequest request, HomeThread* home = nullptr, Operation* operation = nullptr);

  /// Ends waiting requests that have not begun to write. They answer OperationTimedOut. Any thread may call it.
  void stop() noexcept { stop_.request_stop(); }

  /// Replaces the accounts and keys for requests that begin later. Allocates nothing. Any thread may call it.
  void replace_keys(std::shared_ptr<Keyring> keyring) noexcept { keyring_.replace(std::move(keyring)); }

  /// Returns the answer to bytes that could not be parsed as a request.
  HttpResponse refuse(const Status& status);

 private:
  struct Asked;
  struct Prepared;
  struct Told;
  Task<Result<HttpResponse>> carry_out(const HttpRequest& request, const ErrorTrailer& trailer, HomeThread* home,
                                       Told& told);
  Task<Result<HttpResponse>> preflight(const HttpRequest& request, HomeThread* home, const Keyring& keyring);
  static Result<Asked> identify(const HttpRequest& request, const Keyring& keyring, Told& told);
  static Result<Prepared> prepare(const HttpRequest& request, Asked asked, security::Session session);
  static Result<Address> address_of(const HttpRequest& request, const Keyring& keyring);
  Task<Result<security::Session>> open_session(const HttpRequest& request, Keyring& keyring,
                                               const std::string& account);
  std::string next_request_id();

  Store& store_;
  KeyringPlace keyring_;
  const security::Clock clock_;
  const FailureLog log_;
  CrossOrigin cross_origin_;
  std::stop_source stop_;
  const std::uint64_t id_base_;
  std::atomic<std::uint64_t> requests_{0};
};

}  // namespace varve::serve
