// Owns: a server that does no work on the HTTP library of `varve serve`: it parses each request, and sends an answer of
// eight headers and a short body through the library. It shows what the library costs.
// Must never: be used as a real server, or do less than any program on this library does.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  explicit Connection(Tcp::socket socket) : socket_(std::move(socket)) {}

  void read() {
    request_ = {};
    http::async_read(socket_, buffer_, request_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (!error) self->answer();
    });
  }

 private:
  void answer() {
    response_ = {http::status::ok, 11};
    response_.insert("Server", "empty");
    response_.insert("x-ms-request-id", "00000000-0000-0000-0000-000000000000");
    response_.insert("x-ms-version", "2019-02-02");
    response_.insert("Date", "Thu, 01 Jan 1970 00:00:00 GMT");
    response_.insert("Content-Type", "application/json;odata=nometadata");
    response_.insert("X-Content-Type-Options", "nosniff");
    response_.insert("Cache-Control", "no-cache");
    response_.body() = "{}";
    response_.prepare_payload();
    http::async_write(socket_, response_, [self = shared_from_this()](beast::error_code error, std::size_t) {
      if (!error) self->read();
    });
  }

  Tcp::socket socket_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
};

/// Deals connections out to the contexts in turn.
class Server {
 public:
  Server(std::uint16_t port, unsigned threads) {
    for (unsigned i = 0; i < threads; ++i) contexts_.push_back(std::make_unique<asio::io_context>(1));
    acceptor_.emplace(*contexts_.front(), Tcp::endpoint(asio::ip::address_v4::loopback(), port));
  }
  void run() {
    accept();
    std::vector<std::thread> threads;
    for (const auto& context : contexts_) {
      threads.emplace_back([&context] {
        const auto work = asio::make_work_guard(*context);
        context->run();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  void accept() {
    acceptor_->async_accept(*contexts_[next_++ % contexts_.size()],
                            [this](beast::error_code error, Tcp::socket socket) {
                              if (!error) {
                                beast::error_code ignored;
                                socket.set_option(Tcp::no_delay(true), ignored);
                                std::make_shared<Connection>(std::move(socket))->read();
                              }
                              accept();
                            });
  }

  std::vector<std::unique_ptr<asio::io_context>> contexts_;
  std::optional<Tcp::acceptor> acceptor_;
  std::size_t next_ = 0;
};

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 1;
  Server(static_cast<std::uint16_t>(std::atoi(words[1])), std::max(std::thread::hardware_concurrency(), 2U)).run();
}
