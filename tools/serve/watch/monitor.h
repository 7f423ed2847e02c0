// Owns: the answers of the metrics listener: /metrics and /health.
// Must never: answer other paths, or reveal the content of a table.
#pragma once

#include <string>

#include "api/rest/service/request_handler.h"
#include "tools/serve/watch/observation.h"

namespace varve::serve {

class Monitor final : public RequestHandler {
 public:
  /// The observed objects must outlive the monitor.
  explicit Monitor(const Observed& observed) noexcept : observed_(&observed) {}
  /// Makes the monitor of a standby, which has no store yet.
  Monitor() noexcept = default;

  Task<Status> admit(const HttpRequest& request, HomeThread* home) override;
  Task<Result<HttpResponse>> handle(HttpRequest request, HomeThread* home) override;
  HttpResponse refuse(const Status& status, const std::string& client_ip) override;
  void stop() noexcept override {}

 private:
  HttpResponse answer(const HttpRequest& request) const;
  const Observed* const observed_ = nullptr;
};

}  // namespace varve::serve
