#include "tools/serve/front.h"

#include <chrono>
#include <utility>

namespace varve::serve {

LoggedRequest Front::logged(const HttpRequest& request) const {
  return level_ == RequestLogLevel::kOff ? LoggedRequest() : logged_request(request);
}

void Front::log(const LoggedRequest& request, const RequestRecord& record, const HttpResponse& response) const {
  const RequestLogLevel level = level_;
  if (level == RequestLogLevel::kOff || request.client.empty()) return;  // the log was off when the request began
  if (level == RequestLogLevel::kFailures && record.status < 400) return;
  const LogFormat format = format_;
  const bool is_json = format == LogFormat::kJson;
  write_(is_json ? log_json(std::chrono::system_clock::now(), request, record, response)
                 : log_text(request, record, response),
         format);
}

void Front::count(const RequestFacts& facts, const RequestRecord& record, const HttpResponse& response) const {
  if (counted_.analytics == nullptr) return;
  if (counted_.analytics->count(counted_.service, facts, record, response)) counted_.write_soon();
  const bool sets = facts.operation == Operation::kSetProperties || facts.operation == Operation::kSetQueueProperties ||
                    facts.operation == Operation::kSetBlobServiceProperties;
  if (sets && record.status < 400) counted_.properties_changed();
}

void Front::count_parts(const RequestFacts& batch, const RequestRecord& whole) const {
  if (counted_.analytics == nullptr) return;
  std::uint64_t number = 0;
  for (const AnsweredPart& part : batch.parts) {
    RequestRecord record;
    record.operation = part.facts.operation;
    record.status = part.response.status;
    record.duration = whole.duration / static_cast<std::int64_t>(batch.parts.size());
    record.end_to_end = record.duration;
    if (counted_.analytics->count(counted_.service, part.facts, record, part.response, number++)) {
      counted_.write_soon();
    }
  }
}

Task<Status> Front::admit(const HttpRequest& request, HomeThread* home) {
  // These requests need no key, and none of them has a body.
  const bool is_open = (page_ != nullptr && StatusPage::owns(request.head.path)) || request.head.verb == "OPTIONS";
  if (is_open) co_return Status::too_large("this request must not have a body");
  Task<Status> judging = dispatcher_.admit(request, home);
  const Status admitted = co_await judging;
  co_return admitted;
}

bool Front::reads_pieces(const HttpRequest& request) const {
  const bool is_page = page_ != nullptr && StatusPage::owns(request.head.path);
  return !is_page && dispatcher_.reads_pieces(request);
}

Task<Result<HttpResponse>> Front::handle(HttpRequest request, HomeThread* home) {
  const auto begun = std::chrono::steady_clock::now();
  const LoggedRequest what = logged(request);
  const bool is_page = page_ != nullptr && !request.refusal && StatusPage::owns(request.head.path);
  const bool is_poll = is_page && StatusPage::is_polled(request.head.path);
  const bool is_preflight = request.head.verb == "OPTIONS";
  RequestRecord record;
  record.bytes_in = request.body.size();
  const BodySource* const source = request.source;
  RequestFacts facts;
  Task<Result<HttpResponse>> handling =
      is_page ? page_->serve(std::move(request), home) : dispatcher_.handle(std::move(request), home, &facts);
  Result<HttpResponse> handled = co_await handling;
  if (!handled.ok()) co_return handled;
  HttpResponse& response = *handled;
  const auto ended = std::chrono::steady_clock::now();
  record.duration = ended - begun;
  record.end_to_end = ended - facts.request.headers_arrived.value_or(begun);
  if (is_preflight) facts.named = facts.operation = Operation::kPreflight;
  record.operation = facts.operation;
  if (is_page) record.operation = Operation::kStatusPage;
  record.status = response.status;
  if (source != nullptr) record.bytes_in = source->bytes();
  record.bytes_out = response.bytes_sent();
  if (!is_page) {  // viewing the page must not change the figures on it
    figures_.add(record);
    count(facts, record, response);
    count_parts(facts, record);
  }
  if (!is_poll || response.status >= 400) log(what, record, response);
  co_return handled;
}

HttpResponse Front::refuse(const Status& status, const std::string& client_ip) {
  HttpResponse response = dispatcher_.refuse(status);
  figures_.add_unreadable();
  RequestRecord record;
  record.status = response.status;
  record.bytes_out = response.body.size();
  log({client_ip, "-", "-"}, record, response);
  return response;
}

void Front::stop() noexcept {
  dispatcher_.stop();
  if (page_ != nullptr) page_->stop();
}

}  // namespace varve::serve
