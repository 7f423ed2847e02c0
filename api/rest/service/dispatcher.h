// Owns: the one way of a request: from what was received to what is sent, whatever the connection.
// Must never: know a socket, do a route's work, or let a request by that was not authenticated.
//
// The order is that of O-07: the request's own rules, who asks, whether they may, what is asked for, how it is written.
// A failure at any step ends it there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "api/rest/encoding/error_body.h"
#include "api/rest/protocol/message.h"
#include "api/rest/protocol/target.h"
#include "api/rest/service/accounts.h"
#include "api/rest/service/cross_origin.h"
#include "api/rest/service/known_signatures.h"
#include "api/rest/service/operation.h"
#include "varve/home_thread.h"
#include "varve/security/async_session.h"
#include "varve/store.h"
#include "varve/task.h"

namespace varve::serve {

/// Told of each request that failed by no fault of the client.
using FailureLog = std::function<void(std::string_view request_id, const Status& status)>;

/// Any thread; requests run side by side.
class Dispatcher {
 public:
  /// The store outlives the dispatcher.
  Dispatcher(Store& store, Accounts accounts, security::Clock clock, FailureLog log);

  /// As RequestHandler::admit(): the caller is authenticated.
  Task<Status> admit(const HttpRequest& request, HomeThread* home = nullptr);

  /// As RequestHandler::handle(). `operation` is told what was asked for, and outlives the task.
  Task<Result<HttpResponse>> handle(HttpRequest request, HomeThread* home = nullptr, Operation* operation = nullptr);

  /// Ends requests that wait and have not begun to write; those answer OperationTimedOut. Any thread.
  void stop() noexcept { stop_.request_stop(); }

  /// An answer to what could not be read as a request.
  HttpResponse refuse(const Status& status);

 private:
  struct Asked;
  struct Prepared;
  struct Told;
  Task<Result<HttpResponse>> carry_out(const HttpRequest& request, const ErrorTrailer& trailer, HomeThread* home,
                                       Told& told);
  Task<Result<HttpResponse>> preflight(const HttpRequest& request, HomeThread* home);
  Result<Asked> identify(const HttpRequest& request, Told& told) const;
  static Result<Prepared> prepare(const HttpRequest& request, Asked asked, security::Session session);
  Result<Address> address_of(const HttpRequest& request) const;
  Task<Result<security::Session>> open_session(const HttpRequest& request, const std::string& account);
  std::string next_request_id();

  Store& store_;
  const Accounts accounts_;
  KnownSignatures signatures_{accounts_};
  const security::Clock clock_;
  const FailureLog log_;
  CrossOrigin cross_origin_;
  std::stop_source stop_;
  const std::uint64_t id_base_;
  std::atomic<std::uint64_t> requests_{0};
};

}  // namespace varve::serve
