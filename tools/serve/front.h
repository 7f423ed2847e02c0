// Owns: the entry of a service: it counts each request, for the server and for its account, logs it if required, and
// passes it to the dispatcher or to the status page.
// Must never: check a request. The dispatcher and the status page check it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "api/rest/service/dispatcher.h"
#include "api/rest/service/request_handler.h"
#include "tools/serve/analytics/analytics.h"
#include "tools/serve/watch/log_text.h"
#include "tools/serve/watch/request_figures.h"
#include "tools/serve/watch/status_page.h"

namespace varve::serve {

/// The requests that are logged: none, those answered with 4xx or 5xx, or all.
enum class RequestLogLevel : std::uint8_t { kOff, kFailures, kAll };

struct RequestLog {
  RequestLogLevel level = RequestLogLevel::kOff;
  LogFormat format = LogFormat::kText;
  /// Writes a line. A line of JSON is complete; a text gets its time. Must not wait.
  std::function<void(std::string_view line, LogFormat format)> write{};
};

/// Where the requests of a service are counted for their accounts.
struct CountedService {
  /// Null: they are not counted.
  Analytics* analytics = nullptr;
  StorageService service = StorageService::kTables;
  /// Called when the properties of an account may have changed. Must not wait.
  std::function<void()> properties_changed = [] {};
  /// Called when many entries of logs wait to be written. Must not wait.
  std::function<void()> write_soon = [] {};
};

/// Can be used by any thread.
class Front final : public RequestHandler {
 public:
  /// All arguments must outlive the front. `page` may be null.
  Front(Dispatcher& dispatcher, RequestFigures& figures, StatusPage* page, RequestLog log, CountedService counted = {})
      : dispatcher_(dispatcher),
        figures_(figures),
        page_(page),
        level_(log.level),
        format_(log.format),
        write_(std::move(log.write)),
        counted_(std::move(counted)) {}

  Task<Status> admit(const HttpRequest& request, HomeThread* home) override;
  bool reads_pieces(const HttpRequest& request) const override;
  Task<Result<HttpResponse>> handle(HttpRequest request, HomeThread* home) override;
  HttpResponse refuse(const Status& status, const std::string& client_ip) override;
  void stop() noexcept override;
  /// Sets which requests are logged from now on, and the form of their lines.
  void set_log(RequestLogLevel level, LogFormat format) noexcept {
    level_ = level;
    format_ = format;
  }

 private:
  void log(const LoggedRequest& request, const RequestRecord& record, const HttpResponse& response) const;
  LoggedRequest logged(const HttpRequest& request) const;
  void count(const RequestFacts& facts, const RequestRecord& record, const HttpResponse& response) const;
  /// Counts and logs the requests of a batch. Each has its share of the time. Source: AL-01, AL-05.
  void count_parts(const RequestFacts& batch, const RequestRecord& whole) const;

  Dispatcher& dispatcher_;
  RequestFigures& figures_;
  StatusPage* const page_;
  std::atomic<RequestLogLevel> level_;
  std::atomic<LogFormat> format_;
  const std::function<void(std::string_view line, LogFormat format)> write_;
  const CountedService counted_;
};

}  // namespace varve::serve
