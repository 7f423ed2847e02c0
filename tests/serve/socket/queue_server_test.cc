// Goal: a running server has a second listener for queues, which shares accounts, limits and figures with the first.
#include <cstdint>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/queue_service_bench.h"
#include "tests/serve/socket/further_listener.h"

namespace varve::serve::queue_server_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string queue_bytes(std::string_view verb, std::string_view resource, std::string body = {},
                        const security::AccountCredentials& account = credentials()) {
  return service_bytes(StorageService::kQueues, verb, resource, std::move(body), account);
}

class QueueServer : public ServerWithAFurtherListener {
 protected:
  void SetUp() override {
    ServerWithAFurtherListener::SetUp();
    listening_.queues = FurtherAddress();
  }
  std::uint16_t queue_port() const { return port_in(server_->queues_url()); }
};

TEST_F(QueueServer, ListensBesideTheTables) {
  const Server& server = serve();
  EXPECT_THAT(server.queues_url(), StartsWith("http://127.0.0.1:"));
  ASSERT_NE(queue_port(), server.port());
  EXPECT_EQ(told(queue_port(), queue_bytes("PUT", "orders")), "201");
  EXPECT_EQ(told(queue_port(), queue_bytes("POST", "orders/messages", message_body("a"))), "201");
  EXPECT_EQ(told(queue_port(), queue_bytes("GET", "orders/messages")), "200");
  EXPECT_EQ(told(server.port(), signed_bytes("GET", "Tables")), "200");
  EXPECT_EQ(told(queue_port(), signed_bytes("GET", "Tables")), "400 InvalidResourceName");
  HttpClient monitor(server.metrics_port());
  ASSERT_TRUE(monitor.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  const std::string figures = monitor.read().value_or(HttpResponse()).body;
  EXPECT_THAT(figures, HasSubstr("varve_requests_total{operation=\"CreateQueue\",status=\"201\"} 1\n"));
  EXPECT_THAT(figures, HasSubstr("varve_requests_total{operation=\"ListTables\",status=\"200\"} 1\n"));
  EXPECT_THAT(figures, HasSubstr("varve_connections_accepted_total 5\n"));
}

TEST_F(QueueServer, IsOffUnlessAskedFor) {
  listening_.queues.reset();
  EXPECT_EQ(serve().queues_url(), "");
}

TEST_F(QueueServer, SharesTheLimitOfConnections) {
  listening_.limits.connections_max = 1;
  const Server& server = serve();
  HttpClient first(server.port());
  ASSERT_TRUE(first.send(signed_bytes("GET", "Tables")));
  EXPECT_EQ(first.read()->status, 200);
  EXPECT_EQ(told(queue_port(), queue_bytes("PUT", "orders")), "closed");
}

TEST_F(QueueServer, RefusesABodyWithoutASignatureUnread) {
  serve();
  HttpClient client(queue_port());
  ASSERT_TRUE(client.send("POST /" + std::string(kAccount) +
                          "/orders/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"));
  EXPECT_EQ(outcome(client.read().value_or(HttpResponse())), "401 NoAuthenticationInformation");
}

TEST_F(QueueServer, TakesReplacedKeys) {
  Server& server = serve();
  EXPECT_EQ(told(queue_port(), queue_bytes("PUT", "orders")), "201");
  Accounts replaced = *Accounts::create();
  ASSERT_TRUE(replaced.add(std::string(kAccount) + ":" + std::string(kOtherKeyText)).ok());
  ASSERT_TRUE(server.reload(std::move(replaced), listening_).ok());
  EXPECT_EQ(told(queue_port(), queue_bytes("GET", "orders/messages")), "403 AuthenticationFailed");
  EXPECT_EQ(told(queue_port(), queue_bytes("GET", "orders/messages", "", credentials(kOtherKeyText))), "200");
}

TEST_F(QueueServer, DoesNotStartWhereItMayNotOrCannotListen) {
  listening_.queues = FurtherAddress{"0.0.0.0", 0};
  EXPECT_EQ(Server::start(*bench_.store, *Accounts::create(), listening_).code(), Code::kInvalidArgument);
  EXPECT_EQ(Server::start(*bench_.store, accounts(), listening_).code(), Code::kInvalidArgument) << "without TLS";
  listening_.queues = FurtherAddress{"nowhere", 0};
  EXPECT_EQ(Server::start(*bench_.store, accounts(), listening_).code(), Code::kInvalidArgument);
  listening_.queues = FurtherAddress();
  serve();
  listening_.queues = FurtherAddress{"127.0.0.1", queue_port()};
  EXPECT_EQ(Server::start(*bench_.store, accounts(), listening_).code(), Code::kIoError);
}

}  // namespace
}  // namespace varve::serve::queue_server_test
