#include "tools/serve/watch/monitor.h"

#include <utility>

#include "api/rest/encoding/present_time.h"
#include "api/rest/protocol/wire_error.h"
#include "api/security/http_date.h"
#include "tools/serve/watch/metrics_text.h"
#include "tools/serve/watch/store_health.h"

namespace varve::serve {
namespace {

HttpResponse text_response(std::uint16_t status, std::string body,
                           std::string_view type = "text/plain; charset=utf-8") {
  HttpResponse response;
  response.status = status;
  response.with("Content-Type", type).with("Cache-Control", "no-store").with("X-Content-Type-Options", "nosniff");
  response.with("Date", security::http_date(present_time()));
  response.body = std::move(body);
  return response;
}

HttpResponse health_response(const StoreHealth& health) {
  std::string text(health.state);
  if (!health.reason.empty()) text += ": " + health.reason;
  return text_response(health.accepts_writes ? 200 : 503, text + "\n");
}

}  // namespace

HttpResponse Monitor::answer(const HttpRequest& request) const {
  const std::string& verb = request.head.verb;
  if (request.head.path != "/metrics" && request.head.path != "/health") {
    return text_response(404, "not found; use /metrics or /health\n");
  }
  if (verb != "GET" && verb != "HEAD")
    return text_response(405, "method not allowed; use GET or HEAD\n").with("Allow", "GET, HEAD");
  if (request.head.path == "/metrics") {
    return text_response(200, observed_ == nullptr ? standby_metrics_text() : metrics_text(*observed_), kMetricsType);
  }
  return health_response(observed_ == nullptr ? standby_health()
                                              : health_of(observed_->store.statistics(), observed_->cluster_figures()));
}

Task<Status> Monitor::admit(const HttpRequest& /*request*/, HomeThread* /*home*/) {
  co_return Status::too_large("requests to this address must not have a body");
}

Task<Result<HttpResponse>> Monitor::handle(HttpRequest request, HomeThread* /*home*/) {
  HttpResponse response = request.refusal ? refuse(*request.refusal, request.arrival.client_ip) : answer(request);
  if (request.head.verb == "HEAD") response.body.clear();
  co_return response;
}

HttpResponse Monitor::refuse(const Status& status, const std::string& /*client_ip*/) {
  const WireError error = wire_error(status);
  return text_response(error.status, error.message + "\n");
}

}  // namespace varve::serve
