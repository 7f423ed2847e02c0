// Goal: a handler can read a body of any length piece by piece, and answer with one, in bounded memory. A refusal is sent
// without reading the body. The connection goes on after a body that was read whole, and ends after any other.
// Method: connections of a handler that reads a body by its source, counts it, and answers with its CRC, with and without
// TLS. Paths choose what it does.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <gtest/gtest.h>

#include "api/rest/protocol/wire_error.h"
#include "format/bytes/crc64.h"
#include "tests/serve/socket/certificate.h"
#include "tests/serve/socket/http_client.h"
#include "tools/serve/transport/byte_budget.h"
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
  Pieces(std::string content, std::size_t begin, std::size_t good_bytes, std::atomic<int>& alive,
         std::atomic<int>& made)
      : content_(std::move(content)), at_(begin), good_bytes_(good_bytes), alive_(alive), made_(made) {
    ++alive_;
  }
  ~Pieces() override { --alive_; }
  Task<Result<std::string>> next() override {
    ++made_;
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
  std::atomic<int>& made_;
};

/// PUT /pieces answers with length and CRC of the body; PUT /refused answers 409 and reads nothing; PUT /half reads one
/// piece and answers. PUT /served is read while others ask for the whole budget. PUT /grown gets 1,000,000 bytes of room.
/// PUT /kept has its body in memory. PUT /headers has, too, and answers with the number of headers. GET /get/N and
/// /broken/N answer with N bytes. GET /roomy/N, too, if it gets 1,000,000 bytes of room.
/// PUT /late ends unread requests, and reads its own. PUT /awaited waits until its client has gone, and GET /awaited/now
/// says whether it is there.
class Reader final : public RequestHandler {
 public:
  Task<Status> admit(const HttpRequest& /*request*/, HomeThread* /*home*/) override { co_return Status(); }
  bool reads_pieces(const HttpRequest& request) const override {
    return request.head.path != "/kept" && request.head.path != "/headers";
  }
  Task<Result<HttpResponse>> handle(HttpRequest request, HomeThread* /*home*/) override {
    if (request.head.path.starts_with("/roomy/") && !request.room->grow_to(1'000'000)) co_return HttpResponse{503};
    if (request.head.path == "/awaited/now") co_return HttpResponse{200, {}, request.room->is_awaited() ? "yes" : "no"};
    if (request.head.verb == "GET") co_return content(request.head.path);
    if (request.head.path == "/awaited") {
      while (request.room->is_awaited()) std::this_thread::yield();
      ++given_up;
      co_return HttpResponse{408, {}, {}};
    }
    if (request.refusal) co_return HttpResponse{413, {}, "refused"};
    if (request.head.path == "/headers") co_return HttpResponse{201, {}, std::to_string(request.head.headers.size())};
    if (request.head.path == "/served") ask_for_all();
    if (request.head.path == "/late") host->end_all_unread();
    if (request.head.path == "/refused") co_return HttpResponse{409, {}, "no"};
    format::Crc64 crc;
    std::size_t bytes = request.body.size();
    crc.update(request.body);
    while (request.source != nullptr) {
      Task<Result<std::string_view>> reading = request.source->next();
      const Result<std::string_view> piece = co_await reading;
      if (!piece.ok()) {
        ++failures;
        last_failure = wire_error(piece.status()).status;
        co_return HttpResponse{400, {}, std::string(piece.status().service_error())};
      }
      if (piece->empty()) break;
      longest = std::max<std::size_t>(longest, piece->size());
      if ((bytes + piece->size() - 1) / kBodyKeptBytes != bytes / kBodyKeptBytes) ++crossings;
      crc.update(*piece);
      bytes += piece->size();
      if (request.head.path == "/half") break;
      if (request.head.path == "/grown" && !request.room->grow_to(1'000'000)) break;
      if (request.head.path == "/grown" && bytes > 2 * kBodyPieceBytes) {
        least_room = std::min<std::uint64_t>(least_room, budget->bytes());
      }
    }
    co_return HttpResponse{201, {}, std::to_string(bytes) + " " + std::to_string(crc.value())};
  }
  HttpResponse refuse(const Status& status, const std::string& /*client_ip*/) override {
    return {400, {}, status.to_string()};
  }
  void stop() noexcept override {}

  std::atomic<std::size_t> longest = 0;
  std::atomic<int> crossings = 0;
  std::atomic<int> failures = 0;
  std::atomic<int> given_up = 0;
  std::atomic<std::uint16_t> last_failure = 0;
  ByteBudget* budget = nullptr;
  ConnectionHost* host = nullptr;
  std::uint64_t least_room = std::numeric_limits<std::uint64_t>::max();
  std::atomic<int> alive = 0;
  std::atomic<int> made = 0;  // pieces of answers

 private:
  /// Asks for more memory than there is, much later. That cuts off connections that wait for their clients.
  void ask_for_all() {
    struct Other final : ByteBudget::Owner {
      bool cut_off() noexcept override { return true; }
    } other;
    ByteBudget::Share share(*budget, "other", other);
    const auto later = ByteBudget::Clock::now() + std::chrono::hours(1);
    EXPECT_FALSE(share.take(ByteBudget::Use::kBody, std::uint64_t{1} << 40, later));
  }
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
      response.source = std::make_shared<Pieces>(std::move(whole), 1000, is_broken ? bytes / 2 : bytes, alive, made);
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
    limits.room_time_max = std::chrono::milliseconds(0);
    limits.bytes_per_second_min = 512;  // many clients at a time may be slow
    return limits;
  }
  /// Returns a client whose connection the host has in its list.
  std::unique_ptr<test::HttpClient> connect() {
    using Accepted = asio::basic_stream_socket<Tcp, asio::io_context::executor_type>;
    const auto accepted = std::make_shared<std::promise<void>>();
    acceptor_.async_accept(loops_.first(), [this, accepted](const boost::system::error_code& error, Accepted socket) {
      EXPECT_FALSE(error);
      if (!error)
        tls_ ? serve_tls(std::move(socket), {"127.0.0.1"}, host_, *tls_)
             : serve_plain(std::move(socket), {"127.0.0.1"}, host_);
      accepted->set_value();
    });
    auto client = std::make_unique<test::HttpClient>(acceptor_.local_endpoint().port(), GetParam());
    accepted->get_future().wait();
    return client;
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
  for (const std::size_t bytes :
       {0u, 1u, 5'000u, 9'000u, 131'072u, 131'073u, 1'000'000u, 1'048'576u, 1'048'577u, 20'000'000u}) {
    const std::string body = content_of(bytes);
    ASSERT_TRUE(client->send(with_length("/pieces", body)));
    expect_summary(*client, body);
    ASSERT_TRUE(client->send(in_chunks("/pieces", body, 70'001)));
    expect_summary(*client, body);
    if (HasFailure()) return;
  }
  EXPECT_LE(handler_.longest, kBodyPieceBytes * 3 / 2);
  EXPECT_EQ(handler_.crossings, 0) << "a handler kept bytes of a part beside the next one";
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

TEST_P(BodyPieces, AClientThatIsToldToGoOnDoesNotHoldTheEnd) {
  handler_.host = &host_;
  const auto client = connect();
  ASSERT_TRUE(client->send(head("/late", "Content-Length: 4\r\nExpect: 100-continue\r\n")));
  const std::optional<HttpResponse> told = client->read();
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->status, 100);
  const std::optional<HttpResponse> response = client->read();
  ASSERT_TRUE(response.has_value()) << "the body never comes";
  EXPECT_EQ(response->status, 400);
  EXPECT_TRUE(client->ends());
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
  EXPECT_EQ(handler_.last_failure, 408) << "it is no fault of the server";
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

TEST_P(BodyPieces, BX03_RoomThatAHandlerGotIsCountedWhileTheBodyArrives) {
  handler_.budget = &host_.budget();
  const auto client = connect();
  const std::string body = content_of(3'000'000);
  ASSERT_TRUE(client->send(with_length("/grown", body)));
  expect_summary(*client, body);
  EXPECT_GE(handler_.least_room, 1'000'000 + kBodyKeptBytes + kBodyPieceBytes);
}

TEST_P(BodyPieces, BX03_ABodyThatIsServedIsNotCutOffForOthers) {
  handler_.budget = &host_.budget();
  const auto client = connect();
  const std::string body = content_of(3'000'000);
  ASSERT_TRUE(client->send(with_length("/served", body)));
  expect_summary(*client, body);
}

TEST_P(BodyPieces, BX03_AnUploadWaitsForRoom) {
  struct Other final : ByteBudget::Owner {
    bool cut_off() noexcept override { return true; }
  } other;
  ByteBudget::Share share(host_.budget(), "other", other);
  share.take_anyway(ByteBudget::Use::kBody, limits().memory_max, ByteBudget::Clock::now());
  share.is_served();
  const auto client = connect();
  const std::string body = content_of(100'000);
  ASSERT_TRUE(client->send(with_length("/pieces", body)));
  const auto later = connect();  // is answered after the server has looked for room
  ASSERT_TRUE(later->send("GET /get/1 HTTP/1.1\r\nHost: here\r\n\r\n"));
  EXPECT_TRUE(later->read().has_value());
  share.give_back();
  expect_summary(*client, body);
}

TEST_P(BodyPieces, BH07_256UploadsOfOneAddressAreOpenAtOnceAndItReads) {
  const std::string body = content_of(1'200'000);
  std::vector<std::unique_ptr<test::HttpClient>> clients;
  for (int i = 0; i < 256; ++i) {
    clients.push_back(connect());
    ASSERT_TRUE(clients.back()->send(head("/pieces", "Content-Length: " + std::to_string(body.size()) + "\r\n")));
    ASSERT_TRUE(clients.back()->send(std::string_view(body).substr(0, 1'000)));
  }
  const auto reader = connect();
  ASSERT_TRUE(reader->send("GET /roomy/1000000 HTTP/1.1\r\nHost: here\r\n\r\n"));
  const std::optional<HttpResponse> answer = reader->read();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 200);
  EXPECT_LE(host_.budget().bytes(), limits().memory_max / 2);
  for (const auto& client : clients) {
    ASSERT_TRUE(client->send(std::string_view(body).substr(1'000)));
    expect_summary(*client, body);
    if (HasFailure()) return;
  }
}

TEST_P(BodyPieces, AHandlerSeesThatItsClientHasGone) {
  const auto other = connect();
  ASSERT_TRUE(other->send("GET /awaited/now HTTP/1.1\r\nHost: here\r\n\r\n"));
  EXPECT_EQ(other->read()->body, "yes");
  {
    const auto client = connect();
    ASSERT_TRUE(client->send(head("/awaited", "Content-Length: 0\r\n") + "GET /get/1 HTTP/1.1\r\n"));
  }
  while (handler_.given_up == 0) std::this_thread::yield();
  ASSERT_TRUE(other->send("GET /awaited/now HTTP/1.1\r\nHost: here\r\n\r\n"));
  EXPECT_EQ(other->read()->body, "yes") << "the loop goes on";
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

TEST_P(BodyPieces, BX03_AnAnswerInPiecesWaitsForRoom) {
  struct Other final : ByteBudget::Owner {
    bool cut_off() noexcept override { return true; }
  } other;
  ByteBudget::Share share(host_.budget(), "other", other);
  // A byte is left: with none, no request is begun.
  share.take_anyway(ByteBudget::Use::kBody, limits().memory_max - 1, ByteBudget::Clock::now());
  share.is_served();
  const auto client = connect();
  ASSERT_TRUE(client->send("GET /get/300000 HTTP/1.1\r\nHost: here\r\n\r\n"));
  while (handler_.alive == 0) std::this_thread::yield();
  const auto later = connect();  // is answered after the server has looked for room
  ASSERT_TRUE(later->send("GET /get/1 HTTP/1.1\r\nHost: here\r\n\r\n"));
  EXPECT_TRUE(later->read().has_value());
  EXPECT_EQ(handler_.made, 0);
  EXPECT_LE(host_.budget().bytes(), limits().memory_max);
  share.give_back();
  const std::optional<HttpResponse> response = client->read();
  ASSERT_TRUE(response.has_value());
  EXPECT_TRUE(response->body == content_of(300'000));
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
