// Owns: the steps of a request that only the queue service has: its addresses, its routes, its errors.
// Must never: look whether a queue exists before the caller is authenticated.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/rest/queues/queue_call.h"
#include "api/rest/service/dispatcher.h"

namespace varve::serve {

/// The dispatcher of the queue service. Can be used by any thread.
class QueueDispatcher final : public Dispatcher {
 public:
  /// The store must outlive the dispatcher.
  QueueDispatcher(Store& store, std::shared_ptr<Keyring> keyring, security::Clock clock, FailureLog log,
                  std::vector<DeadLetterRule> dead_letters = {});

 private:
  Result<std::string> verb_of(const HttpRequest& request, std::string_view version) const override;
  Result<security::SignedPlace> place_of(const HttpRequest& request, const Asked& asked) const override;
  Operation operation_of(const HttpRequest& request, const Asked& asked) const override;
  Task<Result<HttpResponse>> answer(const HttpRequest& request, const Asked& asked,
                                    const security::AsyncSession& session, const ErrorTrailer& trailer,
                                    HomeThread* home, Told& told) override;
  HttpResponse failure(const Status& status, const ErrorTrailer& trailer, const Told& told,
                       const HttpRequest* request) const override;

  const DeadLetterRule* rule_of(std::string_view account, std::string_view queue) const noexcept;

  Store& store_;
  const std::vector<DeadLetterRule> dead_letters_;
};

}  // namespace varve::serve
