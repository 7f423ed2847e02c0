// Goal: a handler can read a body of any length piece by piece, and answer with one, in bounded memory. A refusal is sent
// without reading the body. The connection goes on after a body that was read whole, and ends after any other.
// Method: connections of a handler that reads a body by its source, counts it, and answers with its CRC, with and without
// TLS. Paths choose what it does.
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <gtest/gtest.h>

#include "format/bytes/crc64.h"
#include "tests/serve/socket/certificate.h"
#include "tests/serve/socket/http_client.h"
#include "tools/serve/transport/connection.h"
#include "tools/serve/transport/connection_host.h"
#include "tools/serve/transport/loops.h"
#include "tools/serve/transport/tls_settings.h"

namespace varve::serve::body_pieces_test {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;

std::string content_of(std::size_t bytes) {
  std::string content(bytes, ' ');
  for (std::size_t i = 0; i < bytes; ++i) content[i] = static_cast<char>('a' + (i * 13 + i / 1000) % 23);
  return content;
}

/// Makes the content of an answer in pieces. Fails after `good_bytes`.
class Pieces final : public AnswerSource {
 public:
  Pieces(std::string content, std::size_t begin, std::size_t good_bytes, std::atomic<int>& alive)
      : content_(std::move(content)), at_(begin), good_bytes_(good_bytes), alive_(alive) {
    ++alive_;
  }
  ~Pieces() override { --alive_; }
  Task<Result<std::string>> next() override {
    if (at_ >= good_bytes_) co_return Status::corruption("damaged");
    std::string piece = content_.substr(at_, kBodyPieceBytes);
    at_ += piece.size();
    co_return piece;
  }

 private:
  const std::string content_;
  std::size_t at_;
  const std::size_t good_bytes_;
  std::atomic<int>& alive_;
};

/// PUT /pieces answers with length and CRC of the body; PUT /refused answers 409 and reads nothing; PUT /half reads one
/// piece and answers. PUT /kept has its body in memory. PUT /headers has, too, and answers with the number of headers. GET /get/N and /broken/N answer with N bytes.
class Reader final : public RequestHandler {
 public:
  Task<Status> admit(const HttpRequest& /*request*/, HomeThread* /*home*/) override { co_return Status(); }
  bool reads_pieces(const HttpRequest& request) const override {
    return request.head.path != "/kept" && request.head.path != "/headers";
  }
  Task<Result<HttpResponse>> handle(HttpRequest request, HomeThread* /*home*/) override {
    if (request.head.verb == "GET") co_return content(request.head.path);
    if (request.refusal) co_return HttpResponse{413, {}, "refused"};
    if (request.head.path == "/headers") co_return HttpResponse{201, {}, std::to_string(request.head.headers.size())};
    if (request.head.path == "/refused") co_return HttpResponse{409, {}, "no"};
    format::Crc64 crc;
    std::size_t bytes = request.body.size();
    crc.update(request.body);
    while (request.source != nullptr) {
      Task<Result<std::string_view>> reading = request.source->next();
      const Result<std::string_view> piece = co_await reading;
      if (!piece.ok()) {
        ++failures;
        co_return HttpResponse{400, {}, std::string(piece.status().service_error())};
      }
      if (piece->empty()) break;
      longest = std::max<std::size_t>(longest, piece->size());
      crc.update(*piece);
      bytes += piece->size();
      if (request.head.path == "/half") break;
    }
    co_return HttpResponse{201, {}, std::to_string(bytes) + " " + std::to_string(crc.value())};
  }
  HttpResponse refuse(const Status& status, const std::string& /*client_ip*/) override {
    return {400, {}, status.to_string()};
  }
  void stop() noexcept override {}

  std::atomic<std::size_t> longest = 0;
  std::atomic<int> failures = 0;
  std::atomic<int> alive = 0;

 private:
  HttpResponse content(std::string_view path) {
    const bool is_broken = path.starts_with("/broken/");
    path.remove_prefix(path.find('/', 1) + 1);
    std::size_t bytes = 0;
    std::from_chars(path.data(), path.data() + path.size(), bytes);
    HttpResponse response;
    std::string whole = content_of(bytes);
    response.body = whole.substr(0, 1000);
    response.stated_bytes = bytes;
    if (bytes > 1000) {
      response.source = std::make_shared<Pieces>(std::move(whole), 1000, is_broken ? bytes / 2 : bytes, alive);
    }
    return response;
  }
};

class BodyPieces : public ::testing::TestWithParam<bool> {
 protected:
  BodyPieces() {
    if (GetParam()) tls_ = *make_tls({certificate_.certificate_path()}, {certificate_.key_path()}, false);
    EXPECT_TRUE(loops_.start(nullptr).ok());
  }
  ~BodyPieces() override {
    host_.end_all_now();
    EXPECT_TRUE(host_.wait_for_all(std::chrono::seconds(60)));
    loops_.finish();
    EXPECT_EQ(handler_.alive, 0);
  }

  static ConnectionLimits limits() {
    ConnectionLimits limits;
    limits.body_bytes_max = 100'000;
    return limits;
  }
  std::unique_ptr<test::HttpClient> connect() {
    using Accepted = asio::basic_stream_socket<Tcp, asio::io_context::executor_type>;
    acceptor_.async_accept(loops_.first(), [this](const boost::system::error_code& error, Accepted socket) {
      ASSERT_FALSE(error);
      if (tls_) return serve_tls(std::move(socket), "127.0.0.1", host_, *tls_);
      serve_plain(std::move(socket), "127.0.0.1", host_);
    });
    return std::make_unique<test::HttpClient>(acceptor_.local_endpoint().port(), GetParam());
  }
  static std::string head(const std::string& path, const std::string& more) {
    return "PUT " + path + " HTTP/1.1\r\nHost: here\r\n" + more + "\r\n";
  }
  static std::string with_length(const std::string& path, const std::string& body) {
    return head(path, "Content-Length: " + std::to_string(body.size()) + "\r\n") + body;
  }
  static std::string in_chunks(const std::string& path, const std::string& body, std::size_t chunk) {
    std::string text = head(path, "Transfer-Encoding: chunked\r\n");
    for (std::size_t at = 0; at < body.size(); at += chunk) {
      const std::string part = body.substr(at, chunk);
      char size[20];
      const auto end = std::to_chars(size, size + sizeof size, part.size(), 16).ptr;
      text.append(size, end).append("\r\n").append(part).append("\r\n");
    }
    return text + "0\r\n\r\n";
  }
  static std::string summary(const std::string& body) {
    return std::to_string(body.size()) + " " + std::to_string(format::crc64(body));
  }
  static void expect_summary(test::HttpClient& client, const std::string& body) {
    const std::optional<HttpResponse> response = client.read();
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->status, 201);
    EXPECT_EQ(response->body, summary(body));
  }

  const test::Certificate certificate_;
  std::unique_ptr<asio::ssl::context> tls_;
  Reader handler_;
  ConnectionHost main_{handler_, limits()};
  ConnectionHost host_{handler_, main_, true};
  Loops loops_{1};
  asio::basic_socket_acceptor<Tcp, asio::io_context::executor_type> acceptor_{
      loops_.first(), Tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
};

TEST_P(BodyPieces, BodiesOfEveryLengthArriveWholeOnOneConnection) {
  const auto client = connect();
  for (const std::size_t bytes : {0u, 1u, 5'000u, 9'000u, 131'072u, 131'073u, 1'000'000u, 20'000'000u}) {
    const std::string body = content_of(bytes);
    ASSERT_TRUE(client->send(with_length("/pieces", body)));
    expect_summary(*client, body);
    ASSERT_TRUE(client->send(in_chunks("/pieces", body, 70'001)));
    expect_summary(*client, body);
    if (HasFailure()) return;
  }
  EXPECT_LE(handler_.longest, kBodyPieceBytes * 3 / 2);
}

TEST_P(BodyPieces, ManySmallChunksAreJoined) {
  const auto client = connect();
  const std::string body = content_of(50'000);
  ASSERT_TRUE(client->send(in_chunks("/pieces", body, 3)));
  expect_summary(*client, body);
  ASSERT_TRUE(client->send(with_length("/pieces", body) + with_length("/pieces", "next")));  // one after the other
  expect_summary(*client, body);
  expect_summary(*client, "next");
}

TEST_P(BodyPieces, BH06_ARefusalIsSentWithoutReadingTheBody) {
  const auto client = connect();
  ASSERT_TRUE(client->send(head("/refused", "Content-Length: 5000000000\r\nExpect: 100-continue\r\n")));
  const std::optional<HttpResponse> response = client->read();
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 409);
  EXPECT_TRUE(client->ends());
}

TEST_P(BodyPieces, BH06_AClientThatWaitsIsToldToGoOnWhenTheBodyIsRead) {
  const auto client = connect();
  ASSERT_TRUE(client->send(head("/pieces", "Content-Length: 4\r\nExpect: 100-continue\r\n")));
  const std::optional<HttpResponse> told = client->read();
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->status, 100);
  ASSERT_TRUE(client->send("body"));
  expect_summary(*client, "body");
}

TEST_P(BodyPieces, AConnectionEndsAfterABodyThatWasNotReadWhole) {
  const auto client = connect();
  ASSERT_TRUE(client->send(head("/half", "Content-Length: 5000000000\r\n") + content_of(4'000'000)));
  const std::optional<HttpResponse> response = client->read();
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 201);
  EXPECT_TRUE(client->ends());
}

TEST_P(BodyPieces, BH07_ABodyThatIsKeptHasItsLimit) {
  const auto client = connect();
  const std::string body = content_of(100'000);
  ASSERT_TRUE(client->send(with_length("/kept", body)));
  expect_summary(*client, body);
  ASSERT_TRUE(client->send(in_chunks("/kept", body, 30'000)));
  expect_summary(*client, body);
  ASSERT_TRUE(client->send(head("/kept", "Content-Length: 100001\r\n")));
  const std::optional<HttpResponse> response = client->read();
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 413);
  EXPECT_TRUE(client->ends());
}

TEST_P(BodyPieces, BH07_ABodyThatEndsEarlyIsAFailureOfTheHandler) {
  {
    const auto client = connect();
    ASSERT_TRUE(client->send(head("/pieces", "Content-Length: 1000000\r\n") + content_of(300'000)));
  }
  ASSERT_TRUE(host_.wait_for_all(std::chrono::seconds(60)));
  EXPECT_EQ(handler_.failures, 1);
}

TEST_P(BodyPieces, AChunkThatIsNoneIsAFailureOfTheHandler) {
  const auto client = connect();
  ASSERT_TRUE(client->send(head("/pieces", "Transfer-Encoding: chunked\r\n") + "3\r\nabc\r\nxyz\r\n"));
  const std::optional<HttpResponse> response = client->read();
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 400);
  EXPECT_EQ(handler_.failures, 1);
  EXPECT_TRUE(client->ends());
}

TEST_P(BodyPieces, AChunkExtensionThatFillsTheBufferIsAFailureOfTheHandler) {
  const auto client = connect();
  client->send(head("/pieces", "Transfer-Encoding: chunked\r\n") + "1;" + std::string(200'000, 'a'));
  const std::optional<HttpResponse> response = client->read();
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 400);
  EXPECT_EQ(response->body, "InvalidHeaderValue");
  EXPECT_TRUE(client->ends());
}

TEST_P(BodyPieces, ATrailerThatFillsTheBufferIsAFailureOfTheHandler) {
  const auto client = connect();
  client->send(head("/pieces", "Transfer-Encoding: chunked\r\n") + "1\r\nx\r\n0\r\nName: " + std::string(200'000, 'a'));
  const std::optional<HttpResponse> response = client->read();
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 400);
  EXPECT_EQ(response->body, "InvalidHeaderValue");
  EXPECT_TRUE(client->ends());
}

TEST_P(BodyPieces, FieldsAfterABodyAreNoHeaders) {
  const auto client = connect();
  std::string text = in_chunks("/headers", "body", 4);
  text.resize(text.size() - 2);  // the end of the trailer
  for (int i = 0; i < 20'000; ++i) text += "a:\r\n";
  ASSERT_TRUE(client->send(text + "\r\n"));
  const std::optional<HttpResponse> response = client->read();
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, "2");
}

TEST_P(BodyPieces, AnswersOfEveryLengthArriveWhole) {
  const auto client = connect();
  for (const std::size_t bytes : {0u, 999u, 1'000u, 1'001u, 131'072u + 1'000u, 131'073u + 1'000u, 20'000'000u}) {
    ASSERT_TRUE(client->send("GET /get/" + std::to_string(bytes) + " HTTP/1.1\r\nHost: here\r\n\r\n"));
    const std::optional<HttpResponse> response = client->read();
    ASSERT_TRUE(response.has_value()) << bytes;
    EXPECT_TRUE(response->body == content_of(bytes)) << bytes;
  }
}

TEST_P(BodyPieces, BX07_AnAnswerThatCannotGoOnIsCut) {
  const auto client = connect();
  ASSERT_TRUE(client->send("GET /broken/1000000 HTTP/1.1\r\nHost: here\r\n\r\n"));
  EXPECT_FALSE(client->read().has_value());
}

INSTANTIATE_TEST_SUITE_P(Streams, BodyPieces, ::testing::Bool(),
                         [](const ::testing::TestParamInfo<bool>& shown) { return shown.param ? "Tls" : "Plain"; });

}  // namespace
}  // namespace varve::serve::body_pieces_test
