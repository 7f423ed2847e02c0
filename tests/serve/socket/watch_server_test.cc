// Goal: a running server shows its state: to monitors on a separate listener, and to users at /_varve/.
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"
#include "tests/serve/socket/http_client.h"
#include "tests/serve/socket/served_program.h"
#include "tools/serve/server.h"
#include "tools/serve/transport/request_log.h"

namespace varve::serve::watch_server_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

class WatchedServer : public ::testing::Test {
 protected:
  void SetUp() override {
    bench_.open();
    listening_.port = 0;
    listening_.threads = 2;
    listening_.metrics = FurtherAddress();
  }
  Server& serve(Accounts chosen = *Accounts::create()) {
    Result<std::unique_ptr<Server>> started = Server::start(*bench_.store, std::move(chosen), listening_);
    EXPECT_TRUE(started.ok()) << started.status().to_string();
    if (!started.ok()) std::abort();
    server_ = *std::move(started);
    return *server_;
  }
  static HttpResponse ask(std::uint16_t port, const std::string& target, std::string_view host = "localhost") {
    HttpClient client(port);
    HttpRequest request;
    request.head.verb = "GET";
    EXPECT_TRUE(set_target(request, target));
    request.head.headers = {{"Host", std::string(host)}};
    EXPECT_TRUE(client.send(to_bytes(request)));
    const std::optional<HttpResponse> response = client.read();
    EXPECT_TRUE(response.has_value());
    return response.value_or(HttpResponse());
  }

  StoreBench bench_;
  ListenOptions listening_;
  std::unique_ptr<Server> server_;  // ends before the store
};

TEST_F(WatchedServer, MetricsHaveAListenerOfTheirOwn) {
  const Server& server = serve();
  ASSERT_NE(server.metrics_port(), 0);
  ASSERT_NE(server.metrics_port(), server.port());
  EXPECT_EQ(ask(server.port(), "/devstoreaccount1/Tables").status, 401);
  const HttpResponse metrics = ask(server.metrics_port(), "/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_THAT(metrics.body, HasSubstr("varve_requests_total{operation=\"Unresolved\",status=\"401\"} 1\n"));
  EXPECT_THAT(metrics.body, HasSubstr("varve_connections_accepted_total 1\n"));
  EXPECT_EQ(ask(server.metrics_port(), "/health").body, "healthy\n");
  EXPECT_EQ(ask(server.metrics_port(), "/devstoreaccount1/Tables").status, 404);
  EXPECT_EQ(ask(server.port(), "/metrics").status, 401) << "an account like others";
}

TEST_F(WatchedServer, UnreadableRequestsAndRefusedConnectionsAreCounted) {
  listening_.limits.connections_max = 1;
  const Server& server = serve();
  HttpClient first(server.port());
  ASSERT_TRUE(first.send("nonsense\r\n\r\n"));
  EXPECT_EQ(first.read()->status, 400);
  EXPECT_TRUE(first.ends());
  // The figures include the request when its answer has arrived, except the end of its connection. So ask until that
  // end is counted.
  std::string text;
  do {
    text = ask(server.metrics_port(), "/metrics").body;
  } while (text.find("varve_connections 0\n") == std::string::npos);
  EXPECT_THAT(text, HasSubstr("varve_unreadable_requests_total 1\n"));
  HttpClient second(server.port());
  ASSERT_TRUE(second.send("GET /_varve/api/status HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  EXPECT_EQ(second.read()->status, 200);
  HttpClient third(server.port());
  EXPECT_TRUE(third.ends());
  EXPECT_THAT(ask(server.metrics_port(), "/metrics").body, HasSubstr("varve_connections_refused_total 1\n"));
}

TEST_F(WatchedServer, ThePageLooksIntoTheDevelopmentAccountAndIntoOthersWhereAskedTo) {
  constexpr const char* kTables = "/_varve/api/tables";
  const Server& development = serve();
  EXPECT_EQ(development.page_url(), development.url() + "_varve/");
  EXPECT_EQ(ask(development.port(), kTables).status, 200);
  EXPECT_EQ(ask(development.port(), kTables, "evil.example").status, 403);
  server_.reset();
  const Server& own = serve(accounts());
  EXPECT_EQ(ask(own.port(), "/_varve/").status, 200);
  EXPECT_EQ(ask(own.port(), "/_varve/api/status").status, 200);
  EXPECT_EQ(ask(own.port(), kTables).status, 403);
  server_.reset();
  listening_.status_page = StatusPageMode::kExplore;
  EXPECT_EQ(ask(serve(accounts()).port(), kTables).status, 200);
  server_.reset();
  listening_.status_page = StatusPageMode::kFigures;
  EXPECT_EQ(ask(serve().port(), kTables).status, 403);
  server_.reset();
  listening_.status_page = StatusPageMode::kOff;
  EXPECT_EQ(serve().page_url(), "");
  EXPECT_EQ(ask(server_->port(), "/_varve/").status, 400) << "no account can be called so";
}

TEST_F(WatchedServer, BodiesAreRefusedBeforeTheyAreRead) {
  const std::uint16_t port = serve().metrics_port();
  for (const std::string verb : {"GET", "POST"}) {
    for (const std::string framing : {"Content-Length: 1", "Content-Length: 4194304", "Transfer-Encoding: chunked"}) {
      for (const std::string expect : {"", "Expect: 100-continue\r\n"}) {
        HttpClient client(port);
        ASSERT_TRUE(client.send(verb + " /health HTTP/1.1\r\nHost: x\r\n" + expect + framing + "\r\n\r\n"));
        const std::optional<HttpResponse> response = client.read();
        ASSERT_TRUE(response.has_value()) << verb << " " << framing;
        EXPECT_EQ(response->status, 413) << verb << " " << framing;
        EXPECT_TRUE(client.ends());
      }
    }
  }
  EXPECT_EQ(ask(port, "/health").body, "healthy\n");
}

TEST_F(WatchedServer, OneAddressCannotTakeAllPlacesOfThoseWhoWatch) {
  constexpr int kConnections = 100;
  const std::uint16_t port = serve().metrics_port();
  std::vector<Descriptor> idle;
  for (int i = 0; i < kConnections; ++i) idle.push_back(connect_from("127.0.0.1", port));
  EXPECT_EQ(test::ask(port, "/health", "127.0.0.2").body, "healthy\n");
  EXPECT_EQ(test::ask(port, "/health", "127.0.0.1").status, 0) << "its places are taken";
}

TEST_F(WatchedServer, ClientsOfTheServiceTakeNoPlaceOfThoseWhoWatch) {
  listening_.limits.connections_max = 4;
  const Server& server = serve();
  std::vector<Descriptor> idle;
  for (int i = 0; i < 20; ++i) idle.push_back(connect_from("127.0.0.1", server.port()));
  EXPECT_EQ(ask(server.metrics_port(), "/health").body, "healthy\n");
}

TEST_F(WatchedServer, MetricsNeedAnAddressThatCanBeListenedOn) {
  const Server& server = serve();
  ListenOptions taken = listening_;
  taken.metrics->port = server.metrics_port();
  EXPECT_EQ(said(Server::start(*bench_.store, *Accounts::create(), taken).status()).code, Code::kIoError);
  taken.metrics->address = "somewhere";
  EXPECT_EQ(said(Server::start(*bench_.store, *Accounts::create(), taken).status()).code, Code::kInvalidArgument);
}

TEST_F(WatchedServer, TheRequestLogIsOnTheStreamWhenTheServerIsGone) {
  listening_.request_log = RequestLogLevel::kAll;
  testing::internal::CaptureStderr();
  EXPECT_EQ(ask(serve().port(), "/devstoreaccount1/Tables?sig=c2VjcmV0").status, 403);
  server_.reset();
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr("127.0.0.1 GET /devstoreaccount1/Tables?sig=*** Unresolved 403 AuthenticationFailed "));
}

TEST(RequestLogLines, AreLostRatherThanWaitedFor) {
  testing::internal::CaptureStderr();
  std::uint64_t lost = 0;
  constexpr std::uint64_t kLines = 50'000;
  {
    AsyncLines lines;
    for (std::uint64_t i = 0; i < kLines; ++i) lines.write("line");
    lost = lines.lost();
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(static_cast<std::uint64_t>(std::count(log.begin(), log.end(), '\n')) + lost, kLines);
}

}  // namespace
}  // namespace varve::serve::watch_server_test
