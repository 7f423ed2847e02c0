// Goal: a running server has a further listener for blobs, which shares accounts, limits and figures with the first.
#include <cstdint>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/serve/socket/further_listener.h"

namespace varve::serve::blob_server_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kPhotos = "photos?restype=container";

std::string blob_bytes(std::string_view verb, std::string_view resource, std::string body = {},
                       const security::AccountCredentials& account = credentials()) {
  Headers headers;
  if (!body.empty()) headers.emplace_back("x-ms-blob-type", "BlockBlob");
  return service_bytes(StorageService::kBlobs, verb, resource, std::move(body), account, std::move(headers));
}

class BlobServer : public ServerWithAFurtherListener {
 protected:
  void SetUp() override {
    ServerWithAFurtherListener::SetUp();
    listening_.blobs = FurtherAddress();
  }
  std::uint16_t blob_port() const { return port_in(server_->blobs_url()); }
};

TEST_F(BlobServer, ListensBesideTheTables) {
  const Server& server = serve();
  EXPECT_THAT(server.blobs_url(), StartsWith("http://127.0.0.1:"));
  ASSERT_NE(blob_port(), server.port());
  EXPECT_EQ(told(blob_port(), blob_bytes("PUT", kPhotos)), "201");
  EXPECT_EQ(told(blob_port(), blob_bytes("PUT", "photos/a", "content")), "201");
  EXPECT_EQ(told(blob_port(), blob_bytes("GET", "photos/a")), "200");
  EXPECT_EQ(told(server.port(), signed_bytes("GET", "Tables")), "200");
  HttpClient monitor(server.metrics_port());
  ASSERT_TRUE(monitor.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  const std::string figures = monitor.read().value_or(HttpResponse()).body;
  EXPECT_THAT(figures, HasSubstr("varve_requests_total{operation=\"PutBlob\",status=\"201\"} 1\n"));
  EXPECT_THAT(figures, HasSubstr("varve_requests_total{operation=\"ListTables\",status=\"200\"} 1\n"));
  EXPECT_THAT(figures, HasSubstr("varve_connections_accepted_total 4\n"));
}

TEST_F(BlobServer, IsOffUnlessAskedFor) {
  listening_.blobs.reset();
  EXPECT_EQ(serve().blobs_url(), "");
}

TEST_F(BlobServer, SharesTheLimitOfConnections) {
  listening_.limits.connections_max = 1;
  const Server& server = serve();
  HttpClient first(server.port());
  ASSERT_TRUE(first.send(signed_bytes("GET", "Tables")));
  EXPECT_EQ(first.read()->status, 200);
  EXPECT_EQ(told(blob_port(), blob_bytes("PUT", kPhotos)), "closed");
}

TEST_F(BlobServer, RefusesABodyWithoutASignatureUnread) {
  serve();
  HttpClient client(blob_port());
  ASSERT_TRUE(client.send("PUT /" + std::string(kAccount) +
                          "/photos/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"));
  EXPECT_EQ(outcome(client.read().value_or(HttpResponse())), "401 NoAuthenticationInformation");
}

TEST_F(BlobServer, TakesReplacedKeys) {
  Server& server = serve();
  EXPECT_EQ(told(blob_port(), blob_bytes("PUT", kPhotos)), "201");
  EXPECT_EQ(told(blob_port(), blob_bytes("PUT", "photos/a", "content")), "201");
  Accounts replaced = *Accounts::create();
  ASSERT_TRUE(replaced.add(std::string(kAccount) + ":" + std::string(kOtherKeyText)).ok());
  ASSERT_TRUE(server.reload(std::move(replaced), listening_).ok());
  EXPECT_EQ(told(blob_port(), blob_bytes("GET", "photos/a")), "403 AuthenticationFailed");
  EXPECT_EQ(told(blob_port(), blob_bytes("GET", "photos/a", "", credentials(kOtherKeyText))), "200");
}

TEST_F(BlobServer, DoesNotStartWhereItMayNotOrCannotListen) {
  listening_.blobs = FurtherAddress{"0.0.0.0", 0};
  EXPECT_EQ(Server::start(*bench_.store, *Accounts::create(), listening_).code(), Code::kInvalidArgument);
  EXPECT_EQ(Server::start(*bench_.store, accounts(), listening_).code(), Code::kInvalidArgument) << "without TLS";
  listening_.blobs = FurtherAddress{"nowhere", 0};
  EXPECT_EQ(Server::start(*bench_.store, accounts(), listening_).code(), Code::kInvalidArgument);
  listening_.blobs = FurtherAddress();
  serve();
  listening_.blobs = FurtherAddress{"127.0.0.1", blob_port()};
  EXPECT_EQ(Server::start(*bench_.store, accounts(), listening_).code(), Code::kIoError);
}

}  // namespace
}  // namespace varve::serve::blob_server_test
