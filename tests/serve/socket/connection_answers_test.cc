// Goal: a client receives every answer whole and in order, whatever its size and however slowly it is taken. A request
// that follows on a closed connection is not carried out.
// Method: connections of a handler whose answers have the sizes that the paths name, with and without TLS. The server's
// sockets have little room for bytes that the client has not taken.
#include <charconv>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/ssl/context.hpp>
#include <gtest/gtest.h>

#include "tests/serve/socket/certificate.h"
#include "tests/serve/socket/http_client.h"
#include "tools/serve/transport/connection.h"
#include "tools/serve/transport/connection_host.h"
#include "tools/serve/transport/loops.h"
#include "tools/serve/transport/tls_settings.h"

namespace varve::serve::connection_answers_test {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

std::string body_of(std::size_t bytes) {
  std::string body(bytes, ' ');
  for (std::size_t i = 0; i < bytes; ++i) body[i] = static_cast<char>('a' + (i * 7 + bytes) % 23);
  return body;
}
std::string request_of(std::size_t bytes) {
  return "GET /" + std::to_string(bytes) + " HTTP/1.1\r\nHost: here\r\n\r\n";
}

/// Answers `/16` with 16 bytes. After `requests_max` requests it ends all connections, and then answers.
class Sizes final : public RequestHandler {
 public:
  Task<Status> admit(const HttpRequest& /*request*/, HomeThread* /*home*/) override { co_return Status(); }
  Task<Result<HttpResponse>> handle(HttpRequest request, HomeThread* /*home*/) override {
    std::size_t bytes = 0;
    const std::string& path = request.head.path;
    std::from_chars(path.data() + 1, path.data() + path.size(), bytes);
    if (++requests == requests_max) host->end_all_now();
    co_return HttpResponse{200, {}, body_of(bytes)};
  }
  HttpResponse refuse(const Status& status, const std::string& /*client_ip*/) override {
    return {400, {}, status.to_string()};
  }
  void stop() noexcept override {}

  ConnectionHost* host = nullptr;
  int requests = 0;  // on the only loop
  int requests_max = 0;
};

class ConnectionAnswers : public ::testing::TestWithParam<bool> {
 protected:
  ConnectionAnswers() {
    handler_.host = &host_;
    if (GetParam()) tls_ = *make_tls({certificate_.certificate_path()}, {certificate_.key_path()}, false);
    EXPECT_TRUE(loops_.start(nullptr).ok());
  }
  ~ConnectionAnswers() override {
    host_.end_all_now();
    EXPECT_TRUE(host_.wait_for_all(std::chrono::seconds(60)));
    loops_.finish();
  }

  std::unique_ptr<test::HttpClient> connect() {
    constexpr int kRoom = 4096;
    // The socket is accepted while the client waits for the end of the TLS handshake.
    using Accepted = asio::basic_stream_socket<Tcp, asio::io_context::executor_type>;
    acceptor_.async_accept(loops_.first(), [this](const boost::system::error_code& error, Accepted socket) {
      ASSERT_FALSE(error);
      socket.set_option(asio::socket_base::send_buffer_size(kRoom));
      if (tls_) return serve_tls(std::move(socket), ClientAddress{"127.0.0.1"}, host_, *tls_);
      serve_plain(std::move(socket), ClientAddress{"127.0.0.1"}, host_);
    });
    return std::make_unique<test::HttpClient>(acceptor_.local_endpoint().port(), GetParam());
  }
  static void expect_answer(test::HttpClient& client, std::size_t bytes) {
    const std::optional<HttpResponse> response = client.read();
    ASSERT_TRUE(response.has_value()) << bytes;
    EXPECT_TRUE(response->body == body_of(bytes)) << bytes;
  }

  const test::Certificate certificate_;
  std::unique_ptr<asio::ssl::context> tls_;
  Sizes handler_;
  ConnectionHost host_{handler_, {}};
  Loops loops_{1};
  asio::basic_socket_acceptor<Tcp, asio::io_context::executor_type> acceptor_{
      loops_.first(), Tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
};

TEST_P(ConnectionAnswers, ArriveWholeInEverySize) {
  const auto client = connect();
  for (const std::size_t bytes : {0u, 1u, 16'000u, 16'383u, 16'384u, 16'385u, 65'536u, 1'000'000u, 5'000'000u}) {
    ASSERT_TRUE(client->send(request_of(bytes)));
    expect_answer(*client, bytes);
    if (HasFailure()) return;
  }
}

TEST_P(ConnectionAnswers, ArriveInOrderIfTheClientAsksAheadAndTakesThemLate) {
  const auto client = connect();
  constexpr std::size_t kRequests = 600;
  const auto size_of = [](std::size_t number) { return number * 7919 % 20'000; };  // both sides of 16 KiB
  std::string bytes;
  for (std::size_t i = 0; i < kRequests; ++i) bytes += request_of(size_of(i));
  ASSERT_TRUE(client->send(bytes));
  for (std::size_t i = 0; i < kRequests; ++i) {
    expect_answer(*client, size_of(i));
    if (HasFailure()) return;
  }
}

TEST_P(ConnectionAnswers, EndWithTheConnectionAlthoughTheClientHasAskedForMore) {
  handler_.requests_max = 2;
  const auto client = connect();
  ASSERT_TRUE(client->send(request_of(1) + request_of(2) + request_of(3) + request_of(4)));
  expect_answer(*client, 1);
  while (client->read().has_value()) continue;
  ASSERT_TRUE(host_.wait_for_all(std::chrono::seconds(60)));
  EXPECT_EQ(handler_.requests, 2);
}

INSTANTIATE_TEST_SUITE_P(Streams, ConnectionAnswers, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& shown) { return shown.param ? "Tls" : "Plain"; });

}  // namespace
}  // namespace varve::serve::connection_answers_test
