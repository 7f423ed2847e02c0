// Owns: the steps of a request that only the blob service has: its addresses, its routes, its errors.
// Must never: look whether a container exists before the caller is authenticated.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "api/rest/blobs/blob_call.h"
#include "api/rest/blobs/blob_routes.h"
#include "api/rest/service/dispatcher.h"

namespace varve::serve {

/// The dispatcher of the blob service. Can be used by any thread.
class BlobDispatcher final : public Dispatcher {
 public:
  /// The store must outlive the dispatcher.
  BlobDispatcher(Store& store, std::shared_ptr<Keyring> keyring, security::Clock clock, FailureLog log,
                 const BlobServiceOptions& options = {});

  bool reads_pieces(const HttpRequest& request) const override;

 private:
  Result<std::string> verb_of(const HttpRequest& request, std::string_view version) const override;
  Result<security::SignedPlace> place_of(const HttpRequest& request, const Asked& asked) const override;
  Operation operation_of(const HttpRequest& request, const Asked& asked) const override;
  Task<Result<HttpResponse>> answer(const HttpRequest& request, const Asked& asked,
                                    const security::AsyncSession& session, const ErrorTrailer& trailer,
                                    HomeThread* home, Told& told) override;
  Task<Result<HttpResponse>> answer_anonymous(const HttpRequest& request, const Asked& asked, const Status& refusal,
                                              const ErrorTrailer& trailer, HomeThread* home, Told& told) override;
  HttpResponse failure(const Status& status, const ErrorTrailer& trailer, const Told& told,
                       const HttpRequest* request) const override;

  /// An authenticated request for an existing kind of resource.
  struct Routed;
  static Result<Routed> routed(const HttpRequest& request, const Asked& asked);
  BlobCall call_of(const HttpRequest& request, const Asked& asked, const Routed& found, const ErrorTrailer& trailer,
                   HomeThread* home, Told& told);
  /// Judges one permission of the caller, and goes home.
  Task<Status> check_permission(const security::AsyncSession& session, security::AccountOperation operation,
                                const std::string& resource, HomeThread* home);
  /// Judges what the request does with tags, which have a permission of their own (BS-12).
  Task<Status> check_tags(const Routed& found, const HttpRequest& request, const security::AsyncSession& session,
                          const std::string& resource, BlobCall& call);
  Task<Status> check_source(const BlobCall& call, const security::AsyncSession& session, const CopySource& source,
                            security::AccountOperation operation);
  /// Answers a request of a batch, and adds it to the facts about the batch.
  Answer answer_part(HttpRequest part, HomeThread* home, Told& told);
  Answer carry_out_route(const BlobCall& call, const BlobRoute& route, Told& told);

  Store& store_;
  const BlobServiceOptions options_;
  std::atomic<std::uint32_t> long_sources_{0};  // see BlobServiceOptions::long_sources_max
};

}  // namespace varve::serve
