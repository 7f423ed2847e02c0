// Owns: the environment of a test of metrics and logs: all services on one store, and requests that are counted.
// Must never: check results. The tests check them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rest/blobs/blob_dispatcher.h"
#include "api/rest/queues/queue_dispatcher.h"
#include "tests/serve/service_bench.h"
#include "tools/serve/analytics/analytics.h"
#include "tools/serve/front.h"

namespace varve::serve::test {

inline constexpr std::string_view kHourTable = "$MetricsHourPrimaryTransactionsTable";
inline constexpr std::string_view kMinuteTable = "$MetricsMinutePrimaryTransactionsTable";
inline constexpr std::string_view kMinuteQueue = "$MetricsMinutePrimaryTransactionsQueue";
inline constexpr std::uint64_t kTicksOfMinute = 600'000'000;

/// Returns a time of 2026-03-03: `clock("10:20:30")`.
inline DateTime clock(std::string_view time) {
  return at("2026-03-03T" + std::string(time) + "Z");
}

class AnalyticsBench {
 public:
  AnalyticsBench()
      : queues(
            *service.bench.store, std::make_shared<Keyring>(accounts()), [] { return kPresent; },
            [](std::string_view, const Status&) {}),
        blobs(
            *service.bench.store, std::make_shared<Keyring>(accounts()), [] { return kPresent; },
            [](std::string_view, const Status&) {}) {
    begin();
  }

  /// Begins like a server that starts on the store.
  void begin() {
    analytics = std::make_unique<Analytics>(*service.bench.store, [this] { return now; });
    analytics->add_accounts({std::string(kAccount)});
    front = std::make_unique<Front>(service.dispatcher, figures, nullptr, RequestLog(),
                                    CountedService{analytics.get(), StorageService::kTables, [this] { ++changes; }});
    queue_front =
        std::make_unique<Front>(queues, figures, nullptr, RequestLog(),
                                CountedService{analytics.get(), StorageService::kQueues, [this] { ++changes; }});
    blob_front =
        std::make_unique<Front>(blobs, figures, nullptr, RequestLog(),
                                CountedService{analytics.get(), StorageService::kBlobs, [this] { ++changes; }});
  }

  Store& store() { return *service.bench.store; }
  HttpResponse send(HttpRequest request) { return *wait(front->handle(std::move(request), nullptr)); }
  HttpResponse send(std::string_view verb, std::string_view resource, std::string body = {}, Headers headers = {}) {
    return send(service.signed_request(verb, resource, std::move(body), std::move(headers)));
  }
  std::string told(std::string_view verb, std::string_view resource, std::string body = {}, Headers headers = {}) {
    return outcome(send(verb, resource, std::move(body), std::move(headers)));
  }
  std::string put_message(std::string_view queue) {
    HttpRequest made = ServiceBench::request("POST", ServiceBench::path_of(std::string(queue) + "/messages"),
                                             "<QueueMessage><MessageText>x</MessageText></QueueMessage>",
                                             {{"x-ms-version", "2021-12-02"}});
    made.head.headers.emplace_back("Content-Length", std::to_string(made.body.size()));
    made.head.headers.emplace_back("Authorization", *security::shared_key_authorization(
                                                        security::SharedKeyScheme::kSharedKey, made.head, credentials(),
                                                        security::KeyChoice::kPrimary, StorageService::kQueues));
    return outcome(*wait(queue_front->handle(std::move(made), nullptr)));
  }
  /// Sends a signed request to the blob service.
  HttpResponse to_blobs(std::string_view verb, std::string_view resource, std::string body = {}, Headers headers = {}) {
    HttpRequest made =
        ServiceBench::request(verb, ServiceBench::path_of(resource), std::move(body), std::move(headers));
    if (verb == "PUT") made.head.headers.emplace_back("Content-Length", std::to_string(made.body.size()));
    made.head.headers.emplace_back("x-ms-version", "2021-12-02");
    made.head.headers.emplace_back("Authorization", *security::shared_key_authorization(
                                                        security::SharedKeyScheme::kSharedKey, made.head, credentials(),
                                                        security::KeyChoice::kPrimary, StorageService::kBlobs));
    HttpResponse response = *wait(blob_front->handle(std::move(made), nullptr));
    while (response.source && response.body.size() < *response.stated_bytes) {
      const Result<std::string> piece = wait(response.source->next());
      if (!piece.ok()) break;
      response.body += *piece;
    }
    return response;
  }

  /// Sets what the account wants of a service.
  void want(const MetricsProperties& hour, const MetricsProperties& minute,
            StorageService of = StorageService::kTables) {
    ServicePropertiesChange change;
    change.hour_metrics = hour;
    change.minute_metrics = minute;
    EXPECT_TRUE(store().set_service_properties(kAccount, change, of).ok());
  }
  /// Sets which requests of a service the account wants to be logged.
  void want_log(const LoggingProperties& logging, StorageService of = StorageService::kTables) {
    ServicePropertiesChange change;
    change.logging = logging;
    EXPECT_TRUE(store().set_service_properties(kAccount, change, of).ok());
  }
  /// Returns the names of the logs of the account.
  std::vector<std::string> logs() {
    std::vector<std::string> names;
    const Result<Container> container = store().open_container(kAccount, "$logs");
    if (!container.ok()) return names;
    const Result<BlobPage> page = container->list();
    EXPECT_TRUE(page.ok());
    for (const BlobListed& listed : page->entries) names.push_back(listed.blob.name);
    return names;
  }
  /// Returns the content of a log.
  std::string log(std::string_view name) {
    const Result<Container> container = store().open_container(kAccount, "$logs");
    const Result<BlobReader> reader = container.ok() ? container->read(name) : container.status();
    if (!reader.ok()) return reader.status().to_string();
    std::string text(reader->state().length, '\0');
    EXPECT_TRUE(reader->read(0, std::span<char>(text)).ok());
    return text;
  }
  /// Returns a row of metrics, or nothing.
  std::optional<Entity> row(std::string_view table, std::string_view interval, std::string_view row_key = "user;All") {
    const Result<Table> opened = store().open_table(kAccount, table);
    if (!opened.ok()) return std::nullopt;
    return *opened->get(interval, row_key);
  }
  /// Returns a count of a row, or -1 if there is no row.
  std::int64_t count(std::string_view table, std::string_view interval, std::string_view property = "TotalRequests",
                     std::string_view row_key = "user;All") {
    const std::optional<Entity> found = row(table, interval, row_key);
    return found ? *found->get<std::int64_t>(property) : -1;
  }
  std::string insert(const std::string& row_key) {
    return told("POST", "Orders", R"({"PartitionKey":"p","RowKey":")" + row_key + "\"}");
  }

  ServiceBench service;
  QueueDispatcher queues;
  BlobDispatcher blobs;
  RequestFigures figures;
  /// The time of requests in logs.
  DateTime now = kPresent;
  int changes = 0;
  std::unique_ptr<Analytics> analytics;
  std::unique_ptr<Front> front;
  std::unique_ptr<Front> queue_front;
  std::unique_ptr<Front> blob_front;
};

}  // namespace varve::serve::test
