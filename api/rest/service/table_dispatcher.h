// Owns: the steps of a request that only the table service has: its routes, its batches, its formats.
// Must never: run before the caller is authenticated, except for the rules of headers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "api/rest/service/dispatcher.h"
#include "api/rest/service/index_builds.h"

namespace varve::serve {

/// The dispatcher of the table service. Can be used by any thread.
class TableDispatcher final : public Dispatcher {
 public:
  /// The store must outlive the dispatcher.
  TableDispatcher(Store& store, std::shared_ptr<Keyring> keyring, security::Clock clock, FailureLog log);

  /// Says at which port of this host the blob service is, for the addresses of large values.
  void set_blob_port(std::uint16_t port) noexcept { blob_port_.store(port, std::memory_order_relaxed); }
  /// Allows or refuses what the service lacks, for requests that begin later: conditions of filters, orders, indexes. The owner of the
  /// store may always use them. Any thread may call it.
  void set_extensions(bool are_allowed) noexcept { has_extensions_.store(are_allowed, std::memory_order_relaxed); }

  /// The builds of indexes that requests began.
  IndexBuilds& index_builds() noexcept { return index_builds_; }
  /// Goes on with the builds of indexes that are not ready (IndexBuilds::resume), until the end of the service.
  void resume_index_builds() noexcept { index_builds_.resume(stop_token()); }

 private:
  Result<std::string> verb_of(const HttpRequest& request, std::string_view version) const override;
  Result<security::SignedPlace> place_of(const HttpRequest& request, const Asked& asked) const override;
  Operation operation_of(const HttpRequest& request, const Asked& asked) const override;
  Task<Result<HttpResponse>> answer(const HttpRequest& request, const Asked& asked,
                                    const security::AsyncSession& session, const ErrorTrailer& trailer,
                                    HomeThread* home, Told& told) override;
  HttpResponse failure(const Status& status, const ErrorTrailer& trailer, const Told& told,
                       const HttpRequest* request) const override;

  Store& store_;
  IndexBuilds index_builds_;
  std::atomic<std::uint16_t> blob_port_{0};
  std::atomic<bool> has_extensions_{false};
};

}  // namespace varve::serve
