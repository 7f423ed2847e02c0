// Goal: a running server counts and logs the requests of its accounts, and a clean stop leaves their metrics and logs in the
// store.
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/rest/encoding/present_time.h"
#include "api/security/http_date.h"
#include "tests/serve/log_reader.h"
#include "tests/serve/service_bench.h"
#include "tests/serve/socket/http_client.h"
#include "tools/serve/server.h"

namespace varve::serve::analytics_server_test {
namespace {

using namespace test;

class ServerWithMetrics : public ::testing::Test {
 protected:
  void SetUp() override {
    bench_.open();
    ASSERT_TRUE(bench_.store->create_account(kDevelopmentAccount).ok());
    listening_.port = 0;
    listening_.threads = 2;
    listening_.queues = FurtherAddress();
  }
  void want(StorageService service) {
    ServicePropertiesChange change;
    change.hour_metrics = MetricsProperties{true, true, std::nullopt};
    EXPECT_TRUE(bench_.store->set_service_properties(kDevelopmentAccount, change, service).ok());
  }
  void serve() {
    Result<std::unique_ptr<Server>> started = Server::start(*bench_.store, *Accounts::create(), listening_);
    EXPECT_TRUE(started.ok()) << started.status().to_string();
    if (!started.ok()) std::abort();
    server_ = *std::move(started);
  }
  static std::uint16_t ask(std::uint16_t port, const std::string& target) {
    HttpClient client(port);
    HttpRequest request;
    request.head.verb = "GET";
    EXPECT_TRUE(set_target(request, target));
    request.head.headers = {{"Host", "localhost"}};
    EXPECT_TRUE(client.send(to_bytes(request)));
    const std::optional<HttpResponse> response = client.read();
    EXPECT_TRUE(response.has_value());
    return response ? response->status : std::uint16_t{0};
  }
  /// Sends a request that is signed with the key of the account. Returns its status and the port of the client.
  static std::pair<std::uint16_t, std::uint16_t> ask_signed(std::uint16_t port, const std::string& target) {
    HttpClient client(port);
    HttpRequest request;
    request.head.verb = "GET";
    EXPECT_TRUE(set_target(request, target));
    request.head.headers = {{"Host", "localhost"}, {"x-ms-date", security::http_date(present_time())}};
    const security::AccountCredentials account{std::string(kDevelopmentAccount),
                                               *security::AccountKeys::create(kDevelopmentKey, "")};
    request.head.headers.emplace_back(
        "Authorization",
        *security::shared_key_authorization(security::SharedKeyScheme::kSharedKeyLite, request.head, account));
    EXPECT_TRUE(client.send(to_bytes(request)));
    const std::optional<HttpResponse> response = client.read();
    EXPECT_TRUE(response.has_value());
    return {response ? response->status : std::uint16_t{0}, client.port()};
  }
  /// Returns the entries of all logs of a service.
  std::vector<std::vector<std::string>> entries(const std::string& folder) {
    std::vector<std::vector<std::string>> found;
    const Result<Container> container = bench_.store->open_container(kDevelopmentAccount, "$logs");
    if (!container.ok()) return found;
    BlobListing listing;
    listing.prefix = folder;
    const Result<BlobPage> page = container->list(listing);
    EXPECT_TRUE(page.ok());
    for (const BlobListed& listed : page->entries) {
      const Result<BlobReader> reader = container->read(listed.blob.name);
      if (!reader.ok()) continue;
      std::string text(reader->state().length, '\0');
      EXPECT_TRUE(reader->read(0, std::span<char>(text)).ok());
      const std::optional<std::vector<std::vector<std::string>>> read = read_log(text);
      EXPECT_TRUE(read) << text;
      if (read) found.insert(found.end(), read->begin(), read->end());
    }
    return found;
  }
  /// Adds up a count over all hours.
  std::int64_t sum(std::string_view table, std::string_view row_key, std::string_view property) {
    const Result<Table> opened = bench_.store->open_table(kDevelopmentAccount, table);
    if (!opened.ok()) return -1;
    const Result<Page> page = opened->scan({});
    EXPECT_TRUE(page.ok());
    std::int64_t found = 0;
    for (const Entity& row : page->entities) {
      if (row.row_key() == row_key) found += *row.get<std::int64_t>(property);
    }
    return found;
  }
  std::uint16_t queue_port() const {
    const std::string url = server_->queues_url();
    return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  }

  StoreBench bench_;
  ListenOptions listening_;
  std::unique_ptr<Server> server_;  // ends before the store
};

TEST_F(ServerWithMetrics, AM01_AM06_AStoppedServerHasWrittenWhatItCounted) {
  want(StorageService::kTables);
  want(StorageService::kQueues);
  for (int run = 1; run <= 2; ++run) {
    serve();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(server_->port(), "/devstoreaccount1/Orders()"), 401);
    EXPECT_EQ(ask(queue_port(), "/devstoreaccount1/orders/messages"), 401);
    server_->stop();
    server_.reset();
    EXPECT_EQ(sum("$MetricsHourPrimaryTransactionsTable", "user;All", "TotalRequests"), 3 * run);
    EXPECT_EQ(sum("$MetricsHourPrimaryTransactionsTable", "user;QueryEntities", "AnonymousAuthorizationError"),
              3 * run);
    EXPECT_EQ(sum("$MetricsHourPrimaryTransactionsQueue", "user;GetMessages", "TotalRequests"), run);
  }
}

TEST_F(ServerWithMetrics, AL01_AL07_AStoppedServerHasLoggedEachRequestWithItsClient) {
  ServicePropertiesChange change;
  change.logging = LoggingProperties{true, true, true, std::nullopt};
  EXPECT_TRUE(bench_.store->set_service_properties(kDevelopmentAccount, change).ok());
  std::vector<std::uint16_t> ports;
  for (int run = 1; run <= 2; ++run) {
    serve();
    for (int i = 0; i < 3; ++i) {
      const auto [status, port] = ask_signed(server_->port(), "/devstoreaccount1/Tables");
      EXPECT_EQ(status, 200);
      ports.push_back(port);
    }
    EXPECT_EQ(ask(server_->port(), "/devstoreaccount1/Orders()"), 401) << "which has no entry";
    server_->stop();
    server_.reset();
    const std::vector<std::vector<std::string>> logged = entries("table/");
    ASSERT_EQ(logged.size(), ports.size());
    for (std::size_t i = 0; i < logged.size(); ++i) {
      EXPECT_EQ(logged[i][kTypeField], "QueryTables");
      EXPECT_EQ(logged[i][kStatusField], "Success");
      EXPECT_EQ(logged[i][kAddressField], "127.0.0.1:" + std::to_string(ports[i]));
    }
  }
}

TEST_F(ServerWithMetrics, AM01_AnAccountThatAskedForNoneHasNone) {
  serve();
  EXPECT_EQ(ask(server_->port(), "/devstoreaccount1/Orders()"), 401);
  server_->stop();
  ListOptions options;
  options.include_metrics_tables = true;
  EXPECT_TRUE((*bench_.store->list_tables(kDevelopmentAccount, options)).tables.empty());
}

}  // namespace
}  // namespace varve::serve::analytics_server_test
