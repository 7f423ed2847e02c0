// Owns: the path of a request from its arrival to its answer, as all services share it, independent of the connection.
// Must never: know a socket, do the work of a route, or let a request pass without authentication.
//
// The steps follow O-07: the rules for every request, authentication, permission, the resource, the format of the
// answer. A failure at any step ends the request there. A service adds its own steps by the private virtual functions.
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
#include "api/rest/protocol/payload_level.h"
#include "api/rest/protocol/request_rules.h"
#include "api/rest/protocol/target.h"
#include "api/rest/service/call.h"
#include "api/rest/service/cross_origin.h"
#include "api/rest/service/keyring.h"
#include "api/rest/service/operation.h"
#include "api/rest/service/request_facts.h"
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
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;
  virtual ~Dispatcher() = default;

  /// Implements RequestHandler::admit(): authenticates the caller.
  Task<Status> admit(const HttpRequest& request, HomeThread* home = nullptr);

  /// Implements RequestHandler::reads_pieces().
  virtual bool reads_pieces(const HttpRequest& /*request*/) const { return false; }

  /// Implements RequestHandler::handle(). Fills `facts` after the answer is complete. `facts` must outlive the task.
  Task<Result<HttpResponse>> handle(HttpRequest request, HomeThread* home = nullptr, RequestFacts* facts = nullptr);

  /// Ends waiting requests that have not begun to write. They answer OperationTimedOut. Any thread may call it.
  void stop() noexcept { stop_.request_stop(); }

  /// Replaces the accounts and keys for requests that begin later. Allocates nothing. Any thread may call it.
  void replace_keys(std::shared_ptr<Keyring> keyring) noexcept { keyring_.replace(std::move(keyring)); }

  /// Discards the cached service properties of the account, because they may have changed. Any thread may call it.
  void forget_properties(std::string_view account) { cross_origin_.forget(account); }

  /// Returns the answer to bytes that could not be parsed as a request.
  HttpResponse refuse(const Status& status);

 protected:
  /// The store must outlive the dispatcher. `name` is the value of the header Server, and must be static.
  Dispatcher(Store& store, std::shared_ptr<Keyring> keyring, security::Clock clock, FailureLog log,
             StorageService service, std::string_view name);

  /// The values that are parsed before authentication.
  struct Asked {
    std::string version;
    std::string verb;
    Address address;
  };

  /// The values of a request that its answer shows, as far as they were parsed.
  struct Told {
    std::string version{kNewestVersion};
    Operation operation = Operation::kUnresolved;
    /// The operation that a refused caller named.
    Operation refused_operation = Operation::kUnresolved;
    /// The account of a preflight, as `account`.
    std::string preflight_account{};
    /// An account that the server knows, or empty.
    std::string account{};
    /// The form of errors of the table service.
    Preference preference = Preference::kNone;
    PayloadLevel level = PayloadLevel::kMinimal;
    /// Further elements of an error's body.
    ErrorDetails details{};
    /// Further headers of an error.
    Headers headers{};
    /// Whether the answer itself says how long it may be kept.
    bool may_be_kept = false;
    /// The requests of a batch that have an answer of their own.
    std::vector<AnsweredPart> parts{};
  };

  /// Checks that the signature in the query of a URL permits an operation on a resource of a known account, now and from
  /// where the request came. The arguments outlive the task. Errors: those of AsyncSession::open() and check().
  Task<Status> check_signature(const HttpRequest& request, const std::string& account, const std::string& query,
                               const security::SignedPlace& place, security::AccountOperation operation,
                               const std::string& resource);
  /// Returns whether the server knows the account now.
  bool knows_account(std::string_view account) const { return keyring_.present()->accounts.knows(account); }
  std::stop_token stop_token() const noexcept { return stop_.get_token(); }

 private:
  /// Returns the effective verb, after the rules of the service for headers that depend on nothing else.
  virtual Result<std::string> verb_of(const HttpRequest& request, std::string_view version) const = 0;
  /// Returns the place that a signature of the service must be for. A service judges here what it judges before
  /// authentication.
  virtual Result<security::SignedPlace> place_of(const HttpRequest& request, const Asked& asked) const = 0;
  /// Returns the operation that a request names, or kUnresolved. Checks nothing else of it.
  virtual Operation operation_of(const HttpRequest& request, const Asked& asked) const = 0;
  /// Answers an authenticated request. The arguments outlive the task.
  virtual Task<Result<HttpResponse>> answer(const HttpRequest& request, const Asked& asked,
                                            const security::AsyncSession& session, const ErrorTrailer& trailer,
                                            HomeThread* home, Told& told) = 0;
  /// Answers a request of a known account without any authentication. `refusal` is the answer if the service gives no
  /// access to such callers. The arguments outlive the task.
  virtual Task<Result<HttpResponse>> answer_anonymous(const HttpRequest& request, const Asked& asked,
                                                      const Status& refusal, const ErrorTrailer& trailer,
                                                      HomeThread* home, Told& told);
  /// Returns the answer of a failure. `request` is null if it could not be read.
  virtual HttpResponse failure(const Status& status, const ErrorTrailer& trailer, const Told& told,
                               const HttpRequest* request) const = 0;

  Task<Result<HttpResponse>> carry_out(const HttpRequest& request, const ErrorTrailer& trailer, HomeThread* home,
                                       Told& told);
  Task<Result<HttpResponse>> preflight(const HttpRequest& request, HomeThread* home, const Keyring& keyring,
                                       Told& told);
  Result<Asked> identify(const HttpRequest& request, const Keyring& keyring, Told& told) const;
  /// Errors: those of parse_address(); kInvalidArgument (InvalidUri: the host names another service, QN-03).
  Result<Address> address_of(const HttpRequest& request, const Keyring& keyring) const;
  Task<Result<security::Session>> open_session(const HttpRequest& request, Keyring& keyring, const Asked& asked);
  void add_common_headers(const HttpRequest& request, const ErrorTrailer& trailer, const Told& told,
                          HttpResponse& response) const;
  std::string next_request_id();

  Store& store_;
  KeyringPlace keyring_;
  const security::Clock clock_;
  const FailureLog log_;
  const StorageService service_;
  const std::string_view name_;
  CrossOrigin cross_origin_;
  std::stop_source stop_;
  const std::uint64_t id_base_;
  std::atomic<std::uint64_t> requests_{0};
};

}  // namespace varve::serve
