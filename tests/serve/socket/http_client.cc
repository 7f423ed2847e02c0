#include "tests/serve/socket/http_client.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>

namespace varve::serve::test {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using ErrorCode = boost::system::error_code;

}  // namespace

struct HttpClient::State {
  explicit State(bool with_tls) : has_tls(with_tls) {}

  template <typename Use>
  auto with_stream(Use use) {
    return has_tls ? use(tls_stream) : use(tls_stream.next_layer());
  }

  const bool has_tls;
  asio::io_context context;
  asio::ssl::context tls{asio::ssl::context::tls_client};
  asio::ssl::stream<asio::ip::tcp::socket> tls_stream{context, tls};
  boost::beast::flat_buffer buffer;
  std::string fault;
};

HttpClient::HttpClient(std::uint16_t port, bool with_tls, const std::string& from)
    : state_(std::make_unique<State>(with_tls)) {
  ErrorCode error;
  asio::ip::tcp::socket& socket = state_->tls_stream.next_layer();
  socket.open(asio::ip::tcp::v4(), error);
  if (!error && from != "127.0.0.1") socket.bind({asio::ip::make_address(from), 0}, error);
  if (!error) socket.connect({asio::ip::make_address("127.0.0.1"), port}, error);
  if (!error && with_tls) state_->tls_stream.handshake(asio::ssl::stream_base::client, error);
  if (error) socket.close(error);
}

HttpClient::~HttpClient() = default;

std::uint16_t HttpClient::port() const {
  ErrorCode error;
  const std::uint16_t port = state_->tls_stream.next_layer().local_endpoint(error).port();
  return error ? std::uint16_t{0} : port;
}

bool HttpClient::send(std::string_view bytes) {
  ErrorCode error;
  state_->with_stream(
      [&](auto& stream) { return asio::write(stream, asio::buffer(bytes.data(), bytes.size()), error); });
  return !error;
}

std::optional<HttpResponse> HttpClient::read() {
  ErrorCode error;
  http::response<http::string_body> message;
  state_->with_stream([&](auto& stream) { return http::read(stream, state_->buffer, message, error); });
  const bool has_ended = error == http::error::end_of_stream || error == http::error::partial_message;
  const bool is_of_http = error.category() == make_error_code(http::error::bad_version).category();
  state_->fault = error && is_of_http && !has_ended ? error.message() : std::string();
  if (error) return std::nullopt;
  HttpResponse response;
  response.status = static_cast<std::uint16_t>(message.result_int());
  for (const auto& field : message) {
    response.with(std::string(field.name_string()), std::string(field.value()));
  }
  response.body = message.body();
  return response;
}

const std::string& HttpClient::fault() const noexcept {
  return state_->fault;
}

bool HttpClient::ends() {
  return !read().has_value();
}

std::string to_bytes(const HttpRequest& request) {
  std::string text = request.head.verb + " " + request.head.path;
  if (!request.head.query.empty()) text += "?" + request.head.query;
  text += " HTTP/1.1\r\n";
  for (const auto& [name, value] : request.head.headers) text.append(name).append(": ").append(value).append("\r\n");
  const bool has_length = find_header(request.head.headers, "content-length") != nullptr ||
                          find_header(request.head.headers, "transfer-encoding") != nullptr;
  if (!has_length) text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  return text + "\r\n" + request.body;
}

}  // namespace varve::serve::test
