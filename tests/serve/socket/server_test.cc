// Goal: over real sockets, valid requests are answered for every division of their bytes. Invalid requests end only
// their connection.
#include "tools/serve/server.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/service_bench.h"
#include "tests/serve/socket/certificate.h"
#include "tests/serve/socket/http_client.h"
#include "tests/serve/socket/signed_bytes.h"

namespace varve::serve::server_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

std::string insert_bytes(const std::string& row) {
  return signed_bytes("POST", "Orders", R"({"PartitionKey":"p","RowKey":")" + row + "\"}");
}

class RunningServer : public ::testing::Test {
 protected:
  void SetUp() override {
    bench_.open();
    listening_.port = 0;
    listening_.threads = 2;
  }
  Server& serve() {
    Result<std::unique_ptr<Server>> started = Server::start(*bench_.store, *Accounts::create(), listening_);
    EXPECT_TRUE(started.ok()) << started.status().to_string();
    if (!started.ok()) std::abort();
    server_ = *std::move(started);
    EXPECT_TRUE(bench_.store->create_table(kAccount, "Orders").ok());
    return *server_;
  }
  std::size_t stored() { return (*(*bench_.store->open_table(kAccount, "Orders")).scan({})).entities.size(); }
  /// Returns the answer to these bytes, after which the connection ends.
  std::string refusal(const std::string& bytes) {
    HttpClient client(server_->port());
    (void)client.send(bytes);  // the server may have stopped reading
    const std::optional<HttpResponse> response = client.read();
    EXPECT_TRUE(client.ends()) << bytes.substr(0, 200);
    return response ? outcome(*response) : "nothing";
  }

  StoreBench bench_;
  ListenOptions listening_;
  std::unique_ptr<Server> server_;  // ends before the store
};

TEST_F(RunningServer, H62_ConnectionsAreKeptAndRequestsMayBePipelined) {
  HttpClient client(serve().port());
  ASSERT_TRUE(client.send(insert_bytes("1") + insert_bytes("2") + insert_bytes("2")));
  EXPECT_EQ(outcome(*client.read()), "201");
  EXPECT_EQ(outcome(*client.read()), "201");
  EXPECT_EQ(outcome(*client.read()), "409 EntityAlreadyExists");
  ASSERT_TRUE(client.send(signed_bytes("GET", "Orders()")));
  EXPECT_EQ(outcome(*client.read()), "200");
  ASSERT_TRUE(client.send(signed_bytes("GET", "Orders()", "", {{"Connection", "close"}})));
  EXPECT_EQ(outcome(*client.read()), "200");
  EXPECT_TRUE(client.ends());
}

TEST_F(RunningServer, RequestsArriveInAnyPieces) {
  HttpClient client(serve().port());
  for (const char byte : insert_bytes("1")) ASSERT_TRUE(client.send(std::string_view(&byte, 1)));
  EXPECT_EQ(outcome(*client.read()), "201");
}

TEST_F(RunningServer, H62_ABodyIsAskedForWhereTheClientWaits) {
  HttpClient client(serve().port());
  const std::string whole =
      signed_bytes("POST", "Orders", R"({"PartitionKey":"p","RowKey":"1"})", {{"Expect", "100-continue"}});
  const std::size_t body = whole.find("\r\n\r\n") + 4;
  ASSERT_TRUE(client.send(whole.substr(0, body)));
  EXPECT_EQ(client.read()->status, 100);
  ASSERT_TRUE(client.send(whole.substr(body)));
  EXPECT_EQ(outcome(*client.read()), "201");
}

TEST_F(RunningServer, NothingOfABodyIsReadOrAskedForBeforeItIsKnownWhoseItIs) {
  serve();
  for (const bool expects : {false, true}) {
    for (const char* const length : {"Content-Length: 4194304", "Transfer-Encoding: chunked"}) {
      HttpClient client(server_->port());
      const std::string expect = expects ? "Expect: 100-continue\r\n" : "";
      ASSERT_TRUE(client.send("POST /devstoreaccount1/Orders HTTP/1.1\r\nHost: x\r\n" + expect + length + "\r\n\r\n"));
      const std::optional<HttpResponse> response = client.read();
      ASSERT_TRUE(response.has_value()) << length;
      EXPECT_EQ(outcome(*response), "401 NoAuthenticationInformation") << length;
      EXPECT_TRUE(client.ends());
    }
  }
}

TEST_F(RunningServer, WithheldBodiesAreCutOffForThoseThatCome) {
  listening_.limits.memory_max = std::uint64_t{8} << 20;
  listening_.limits.room_time_max = std::chrono::milliseconds(20'000);
  serve();
  const std::string body(std::size_t{3} << 20, ' ');
  const std::string whole = signed_bytes("POST", "Orders", body);
  HttpClient withheld(server_->port());
  ASSERT_TRUE(withheld.send(whole.substr(0, whole.size() - 1)));
  HttpClient next(server_->port());
  ASSERT_TRUE(next.send(whole));
  EXPECT_EQ(outcome(*next.read()), "400 InvalidInput");  // read completely, and found to be no JSON
  EXPECT_TRUE(withheld.ends());
}

TEST_F(RunningServer, ChunkedBodiesAreRead) {
  HttpClient client(serve().port());
  ASSERT_TRUE(client.send(signed_bytes("POST", "Orders",
                                       "10\r\n{\"PartitionKey\":\r\n11\r\n\"p\",\"RowKey\":\"1\"}\r\n0\r\n\r\n",
                                       {{"Transfer-Encoding", "chunked"}})));
  EXPECT_EQ(outcome(*client.read()), "201");
}

TEST_F(RunningServer, H63_LongRequestLinesAreNormalAndLongerOnesRefused) {
  HttpClient client(serve().port());
  const std::string prefix = "Orders()?$filter=PartitionKey%20eq%20'p'&x=";
  const std::size_t room = listening_.limits.target_bytes_max - ServiceBench::path_of(prefix).size();
  ASSERT_TRUE(client.send(signed_bytes("GET", prefix + std::string(room, 'x'))));
  EXPECT_EQ(outcome(*client.read()), "200");
  EXPECT_EQ(refusal(signed_bytes("GET", prefix + std::string(room + 1, 'x'))), "400 InvalidUri");
  EXPECT_EQ(refusal("GET /" + std::string(100'000, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n"), "400 InvalidHeaderValue");
}

TEST_F(RunningServer, TooManyOrTooLongHeadersAreRefused) {
  serve();
  Headers many;
  for (int i = 0; i < 100; ++i) many.emplace_back("X-Header-" + std::to_string(i), "x");
  EXPECT_EQ(refusal(signed_bytes("GET", "Orders()", "", many)), "400 InvalidHeaderValue");
  EXPECT_EQ(refusal(signed_bytes("GET", "Orders()", "", {{"X-Long", std::string(16'384, 'x')}})),
            "400 InvalidHeaderValue");
}

TEST_F(RunningServer, D62_BodiesAreAtMostFourMebibytes) {
  HttpClient client(serve().port());
  const std::string limit(std::size_t{4} << 20, ' ');
  ASSERT_TRUE(client.send(signed_bytes("POST", "Orders", limit)));
  EXPECT_EQ(outcome(*client.read()), "400 InvalidInput");  // read completely, and found to be no JSON
  EXPECT_EQ(refusal(signed_bytes("POST", "Orders", limit + " ")), "413 RequestBodyTooLarge");
}

TEST_F(RunningServer, BodiesThatEndInTwoPlacesEndTheConnection) {
  serve();
  const Headers chunked = {{"Transfer-Encoding", "chunked"}};
  const auto with = [&](const Headers& headers, const std::string& body) {
    return refusal(signed_bytes("POST", "Orders", body, headers));
  };
  EXPECT_EQ(with({{"Transfer-Encoding", "chunked"}, {"Content-Length", "5"}}, "0\r\n\r\n"), "400 InvalidInput");
  EXPECT_EQ(with({{"Content-Length", "5"}, {"Transfer-Encoding", "chunked"}}, "0\r\n\r\n"), "400 InvalidInput");
  EXPECT_EQ(with({{"Content-Length", "2"}, {"Content-Length", "2"}}, "{}"), "400 InvalidInput");
  EXPECT_EQ(with({{"Content-Length", "2"}, {"Content-Length", "3"}}, "{} "), "400 InvalidInput");
  EXPECT_EQ(with({{"Content-Length", "-1"}}, "{}"), "400 InvalidInput");
  EXPECT_EQ(with({{"Content-Length", "0x2"}}, "{}"), "400 InvalidInput");
  EXPECT_EQ(with({{"Transfer-Encoding", "gzip"}}, "{}"), "400 InvalidInput");
  EXPECT_EQ(with({{"Transfer-Encoding", "chunked, chunked"}}, "0\r\n\r\n"), "400 InvalidInput");
  EXPECT_EQ(with(chunked, "zz\r\n{}\r\n0\r\n\r\n"), "400 InvalidInput");
  EXPECT_EQ(stored(), 0U);
}

TEST_F(RunningServer, WhatIsNoRequestEndsTheConnection) {
  serve();
  EXPECT_EQ(refusal("nonsense\r\n\r\n"), "400 InvalidInput");
  EXPECT_EQ(refusal("GET / HTTP/9.9\r\nHost: x\r\n\r\n"), "400 InvalidInput");
  EXPECT_EQ(refusal("GET /devstoreaccount1/Tables HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n"), "400 InvalidInput");
  EXPECT_EQ(refusal("GET /devstoreaccount1/Tables HTTP/1.1\r\nHost: x\r\nFolded: a\x01z\r\n\r\n"), "400 InvalidInput");
  EXPECT_EQ(refusal("GET nowhere HTTP/1.1\r\nHost: x\r\n\r\n"), "400 InvalidUri");
  EXPECT_EQ(refusal("POST /devstoreaccount1/Tables HTTP/1.1\r\nHost: x\r\n\r\n"), "411 MissingContentLengthHeader");
}

TEST_F(RunningServer, ClientsThatAreSlowOrIdleAreCutOff) {
  listening_.limits.header_time_max = std::chrono::milliseconds(50);
  listening_.limits.idle_time_max = std::chrono::milliseconds(50);
  serve();
  HttpClient idle(server_->port());
  EXPECT_TRUE(idle.ends());
  HttpClient slow(server_->port());
  ASSERT_TRUE(slow.send("GET /devstoreaccount1/Tables HTTP/1.1\r\nHost:"));
  EXPECT_TRUE(slow.ends());
  HttpClient without_body(server_->port());
  const std::string whole = insert_bytes("1");
  ASSERT_TRUE(without_body.send(whole.substr(0, whole.size() - 1)));
  EXPECT_TRUE(without_body.ends());
}

TEST_F(RunningServer, WhatIsKeptIsCutOffByTheDeadlineThatCounts) {
  listening_.limits.header_time_max = std::chrono::milliseconds(50);
  serve();
  HttpClient kept(server_->port());
  ASSERT_TRUE(kept.send(signed_bytes("GET", "Orders()")));
  EXPECT_EQ(outcome(*kept.read()), "200");
  HttpClient slow(server_->port());
  ASSERT_TRUE(slow.send("GET /devstoreaccount1/Tables HTTP/1.1\r\nHost:"));
  EXPECT_TRUE(slow.ends());  // so the time for headers is over, but not the idle time
  ASSERT_TRUE(kept.send(signed_bytes("GET", "Orders()")));
  EXPECT_EQ(outcome(*kept.read()), "200");
  ASSERT_TRUE(kept.send("GET /devstoreaccount1/Tables HTTP/1.1\r\nHost:"));
  EXPECT_TRUE(kept.ends());
}

TEST_F(RunningServer, ThereAreAtMostSoManyConnections) {
  listening_.limits.connections_max = 2;
  serve();
  HttpClient first(server_->port());
  HttpClient second(server_->port());
  for (HttpClient* const client : {&first, &second}) {
    ASSERT_TRUE(client->send(signed_bytes("GET", "Orders()")));
    EXPECT_EQ(outcome(*client->read()), "200");
  }
  HttpClient third(server_->port());
  EXPECT_TRUE(third.ends());
  ASSERT_TRUE(first.send(signed_bytes("GET", "Orders()")));
  EXPECT_EQ(outcome(*first.read()), "200");
}

TEST_F(RunningServer, ManyConnectionsWriteSideBySide) {
  constexpr int kThreads = 8;
  constexpr int kInserts = 25;
  serve();
  std::vector<std::thread> threads;
  std::atomic<int> made{0};
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      HttpClient client(server_->port());
      for (int i = 0; i < kInserts; ++i) {
        if (!client.send(insert_bytes(std::to_string(thread) + "-" + std::to_string(i)))) return;
        const std::optional<HttpResponse> response = client.read();
        if (response && response->status == 201) ++made;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, kThreads * kInserts);
  EXPECT_EQ(stored(), static_cast<std::size_t>(kThreads * kInserts));
}

TEST_F(RunningServer, AReadThatIsStuckHoldsUpItsRequestAlone) {
  ResourceOptions resources;
  resources.block_cache_bytes = 0;
  StoreOptions options = bench_.options();
  options.resources = *Resources::create(resources);
  bench_.open(options);
  listening_.threads = 1;  // one thread for all connections
  const std::uint16_t port = serve().port();
  AccessPolicy policy;
  policy.id = "readers";
  policy.permissions = *Permissions::parse("r");
  policy.expiry = at("2999-01-01T00:00:00Z");
  ASSERT_TRUE(bench_.store->set_access_policies(kAccount, "Orders", std::vector{policy}).ok());
  ASSERT_TRUE(bench_.store->compact().ok());
  EXPECT_EQ(stored(), 0U);  // opens the file, for which all first readers wait; its blocks are read again each time
  security::TableSasTerms terms;
  terms.table = "Orders";
  terms.policy = "readers";
  HttpRequest request;
  request.head.verb = "GET";
  ASSERT_TRUE(set_target(request, ServiceBench::path_of("Orders()?") +
                                      security::to_query(*security::sign_table_sas(terms, credentials()))));
  request.head.headers = {{"Host", "127.0.0.1"}};

  io::MemoryFileSystem& files = *bench_.machine.files;
  io::FaultRule rule;
  rule.kind = io::OperationKind::kRead;
  rule.name_suffix = ".sst";
  rule.effect = io::FaultEffect::kNever;
  files.faults().add(rule);
  HttpClient stuck(port);
  ASSERT_TRUE(stuck.send(to_bytes(request)));  // its policy is read first
  files.await_stuck(1);
  HttpClient other(port);
  ASSERT_TRUE(other.send(insert_bytes("1") + signed_bytes("GET", "Orders()")));
  EXPECT_EQ(outcome(*other.read()), "201");
  EXPECT_EQ(outcome(*other.read()), "200");
  files.faults().clear();
  files.let_go();
  EXPECT_EQ(outcome(*stuck.read()), "200");
}

TEST_F(RunningServer, AStopLosesNothingAndTakesNothingMore) {
  const std::uint16_t port = serve().port();
  HttpClient busy(port);
  HttpClient idle(port);
  ASSERT_TRUE(busy.send(insert_bytes("1")));
  EXPECT_EQ(outcome(*busy.read()), "201");
  server_->stop();
  EXPECT_TRUE(busy.ends());
  EXPECT_TRUE(idle.ends());
  HttpClient late(port);
  EXPECT_TRUE(late.ends());
  bench_.open();  // closes and opens the store
  EXPECT_EQ(stored(), 1U);
}

TEST_F(RunningServer, OtherMachinesAreServedWithAccountsAndTlsAlone) {
  listening_.address = "0.0.0.0";
  const auto start = [&](Accounts chosen) {
    return said(Server::start(*bench_.store, std::move(chosen), listening_).status());
  };
  EXPECT_EQ(start(*Accounts::create()).code, Code::kInvalidArgument);
  EXPECT_EQ(start(accounts()).code, Code::kInvalidArgument);
  listening_.address = "localhost";
  EXPECT_EQ(start(accounts()).code, Code::kInvalidArgument);
  listening_.address = "127.0.0.1";
  listening_.tls_certificate = "/nowhere/certificate.pem";
  listening_.tls_key = "/nowhere/key.pem";
  EXPECT_EQ(start(accounts()).code, Code::kInvalidArgument);
}

TEST_F(RunningServer, WithTlsTheSameIsServed) {
  const Certificate certificate;
  listening_.tls_certificate = certificate.certificate_path();
  listening_.tls_key = certificate.key_path();
  EXPECT_TRUE(serve().url().starts_with("https://127.0.0.1:"));
  HttpClient client(server_->port(), true);
  ASSERT_TRUE(client.send(insert_bytes("1") + signed_bytes("GET", "Orders()")));
  const std::optional<HttpResponse> made = client.read();
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(outcome(*made), "201");
  EXPECT_EQ(header(*made, "Location"), "https://127.0.0.1/devstoreaccount1/Orders(PartitionKey='p',RowKey='1')");
  EXPECT_EQ(outcome(*client.read()), "200");
  HttpClient plain(server_->port());
  (void)plain.send(insert_bytes("2"));
  EXPECT_TRUE(plain.ends());
  EXPECT_EQ(stored(), 1U);
}

}  // namespace
}  // namespace varve::serve::server_test
