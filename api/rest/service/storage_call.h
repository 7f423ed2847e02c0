// Owns: what parsed requests to the queue and blob services have in common, and what their handlers do with it.
// Must never: reach a handler before the permission was checked. The dispatchers check it.
#pragma once

#include <stop_token>
#include <string_view>
#include <utility>

#include "api/rest/encoding/error_body.h"
#include "api/rest/protocol/message.h"
#include "api/rest/protocol/query_parameters.h"
#include "api/rest/protocol/target.h"
#include "api/rest/service/asked_parameters.h"
#include "api/rest/service/handlers.h"
#include "api/rest/service/property_answers.h"
#include "varve/async.h"
#include "varve/home_thread.h"
#include "varve/result.h"
#include "varve/store.h"

namespace varve::serve {

/// Holds views. The dispatcher keeps the viewed values until the answer is complete.
struct StorageCall {
  const HttpRequest& request;
  const Address& address;
  const QueryParameters& parameters;
  /// The protocol version, `YYYY-MM-DD`.
  std::string_view version;
  ErrorTrailer trailer;
  HomeThread* home = nullptr;
  /// Ends a waiting operation that has not begun to write, when the server ends.
  std::stop_token stop{};
  Store& store;
  /// The elements that an error's body gets besides its code and message (QE-02).
  ErrorDetails& details;

  const Headers& headers() const noexcept { return request.head.headers; }
  operator AskedParameters() const noexcept { return {parameters, details}; }
  /// Returns the call as one about a service of the account.
  ServiceCall about(StorageService service) const {
    return {store, service, request, address, version, trailer.time, home, stop};
  }
};

/// Runs `work(Store&)`, which returns a Status, on a thread that may wait. The task ends on the home thread.
template <typename Work>
Task<Status> run_in_store(const StorageCall& call, Work work) {
  Task<Status> running = AsyncStore(call.store).run([&work](Store& store) -> Status { return work(store); }, call.stop);
  const Status done = co_await at_home(call.home, std::move(running));
  co_return done;
}

/// Returns the answer of a failure: XML, with the error string in a header too. `realm` names the service for callers
/// without authentication. Source: QE-01, BH-05, S-08.
HttpResponse storage_failure(const Status& status, const ErrorTrailer& trailer, const ErrorDetails& details,
                             std::string_view realm);

}  // namespace varve::serve
