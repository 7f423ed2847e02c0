// Owns: the door of the table service: each request is counted, logged if that is asked for, and brought to the
// dispatcher or to the status page.
// Must never: judge a request; those behind it do.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "api/rest/service/dispatcher.h"
#include "api/rest/service/request_handler.h"
#include "tools/serve/watch/log_text.h"
#include "tools/serve/watch/request_figures.h"
#include "tools/serve/watch/status_page.h"

namespace varve::serve {

/// Which requests get a line: none, those answered with 4xx or 5xx, all.
enum class RequestLogLevel : std::uint8_t { kOff, kFailures, kAll };

struct RequestLog {
  RequestLogLevel level = RequestLogLevel::kOff;
  /// Must not wait.
  std::function<void(std::string_view line)> write{};
};

/// Any thread.
class Front final : public RequestHandler {
 public:
  /// All that is given outlives the front; `page` may be null.
  Front(Dispatcher& dispatcher, RequestFigures& figures, StatusPage* page, RequestLog log)
      : dispatcher_(dispatcher), figures_(figures), page_(page), log_(std::move(log)) {}

  Task<Status> admit(const HttpRequest& request, HomeThread* home) override;
  Task<Result<HttpResponse>> handle(HttpRequest request, HomeThread* home) override;
  HttpResponse refuse(const Status& status, const std::string& client_ip) override;
  void stop() noexcept override;

 private:
  void log(const LoggedRequest& request, const RequestRecord& record, const HttpResponse& response) const;
  LoggedRequest logged(const HttpRequest& request) const;

  Dispatcher& dispatcher_;
  RequestFigures& figures_;
  StatusPage* const page_;
  const RequestLog log_;
};

}  // namespace varve::serve
