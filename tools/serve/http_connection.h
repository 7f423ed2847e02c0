// Owns: one connection: requests read one after the other, each answered before the next is looked at.
// Must never: hold more of a request than the limits allow, wait without a deadline, or go on where a request did not
// end as it should: what follows could be read as another one.
//
// Everything here runs on the one thread of the connection's context, save begin(), end_soon(), end_now() and post().
// The connection lives as long as something of it is under way. Where memory ends, std::bad_alloc goes to who runs the
// context; nothing of the connection is under way then, and it is closed.
#pragma once

#include <array>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "api/task.h"
#include "tools/serve/connection_host.h"
#include "tools/serve/http_exchange.h"
#include "tools/serve/way_home.h"

namespace varve::serve {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using ErrorCode = boost::system::error_code;

template <typename Stream>
class HttpConnection final : public OpenConnection,
                             public HomeThread,
                             public std::enable_shared_from_this<HttpConnection<Stream>> {
 public:
  static constexpr bool kIsTls = !std::is_same_v<Stream, beast::tcp_stream>;

  template <typename... Arguments>
  HttpConnection(ConnectionHost& host, std::string client_ip, asio::io_context& context, asio::ip::tcp::socket socket,
                 Arguments&... arguments)
      : host_(host), client_ip_(std::move(client_ip)), context_(context), stream_(std::move(socket), arguments...) {}
  ~HttpConnection() override {
    if (is_counted_) host_.remove(*this, client_ip_);
  }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void begin() {
    is_counted_ = host_.add(*this, client_ip_);
    if (!is_counted_) return;
    asio::post(context_, [self = this->shared_from_this()] { self->shake_hands(); });
  }

  void end_soon() override {
    asio::post(context_, [weak = this->weak_from_this()] {
      if (const auto self = weak.lock()) self->on_end_soon();
    });
  }
  void end_now() override {
    asio::post(context_, [weak = this->weak_from_this()] {
      if (const auto self = weak.lock()) self->close();
    });
  }
  bool is_here() const noexcept override { return context_.get_executor().running_in_this_thread(); }
  void post(std::coroutine_handle<> coroutine) noexcept override { asio::post(context_, way_home_.step(coroutine)); }

 private:
  using Milliseconds = std::chrono::milliseconds;
  using Parser = http::request_parser<http::string_body>;

  /// A member function as a handler that keeps the connection alive.
  template <typename Member>
  auto handler(Member member) {
    return [self = this->shared_from_this(), member](const ErrorCode& error, auto... /*bytes*/) {
      (self.get()->*member)(error);
    };
  }
  auto& socket_layer() { return beast::get_lowest_layer(stream_); }
  void set_deadline(Milliseconds time) { socket_layer().expires_after(time); }
  Milliseconds time_for(std::uint64_t bytes) const {
    const ConnectionLimits& limits = host_.limits();
    return limits.header_time_max + Milliseconds(1000 * bytes / limits.bytes_per_second_min);
  }

  void shake_hands() {
    if constexpr (kIsTls) {
      set_deadline(host_.limits().header_time_max);
      stream_.async_handshake(Stream::server, handler(&HttpConnection::on_hands_shaken));
    } else {
      wait_for_request();
    }
  }
  void on_hands_shaken(const ErrorCode& error) {
    if (!error) wait_for_request();
  }

  // -- Reading ------------------------------------------------------------------------------------------------------

  /// The first byte of a request may take its time; the rest may not.
  void wait_for_request() {
    parser_.emplace();
    parser_->header_limit(kHeaderSlackBytes + host_.limits().target_bytes_max + host_.limits().header_bytes_max);
    parser_->body_limit(host_.limits().body_bytes_max);
    if (buffer_.size() > 0) return read_header();
    if (is_ending_) return close();
    is_idle_ = true;
    set_deadline(host_.limits().idle_time_max);
    stream_.async_read_some(buffer_.prepare(kReadBytes),
                            [self = this->shared_from_this()](const ErrorCode& error, std::size_t bytes) {
                              self->on_first_bytes(error, bytes);
                            });
  }
  void on_first_bytes(const ErrorCode& error, std::size_t bytes) {
    is_idle_ = false;
    if (error) return close();
    buffer_.commit(bytes);
    read_header();
  }

  void read_header() {
    set_deadline(host_.limits().header_time_max);
    http::async_read_header(stream_, buffer_, *parser_, handler(&HttpConnection::on_header));
  }
  void on_header(const ErrorCode& error) {
    if (error) return on_read_error(error);
    if (const Status framed = check_framing(*parser_, host_.limits()); !framed.ok()) return refuse(framed);
    if (!parser_->is_done() && wants_continue(*parser_)) return send_continue();
    read_body();
  }

  void send_continue() {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue.data(), kContinue.size()),
                      handler(&HttpConnection::on_continue_sent));
  }
  void on_continue_sent(const ErrorCode& error) {
    if (!error) return read_body();
    close();
  }

  void read_body() {
    set_deadline(time_for(body_bytes_expected(*parser_, host_.limits())));
    http::async_read(stream_, buffer_, *parser_, handler(&HttpConnection::on_body));
  }
  void on_body(const ErrorCode& error) {
    if (error) return on_read_error(error);
    keeps_alive_ = parser_->keep_alive();
    HttpRequest request;
    request.arrival = {client_ip_, kIsTls};
    if (!take_request(*parser_, request)) return refuse(bad_target());
    socket_layer().expires_never();  // the store takes the time that it takes
    start(host_.handler().handle(std::move(request), this),
          [self = this->shared_from_this()](Result<HttpResponse> response) { self->answer(std::move(response)); });
  }

  void on_read_error(const ErrorCode& error) {
    const std::optional<Status> answer = answer_to(error);
    if (answer) return refuse(*answer);
    close();
  }
  /// Answers what was no request, and ends, since nobody knows where the next one would begin.
  void refuse(const Status& status) {
    keeps_alive_ = false;
    has_unread_ = true;
    send(host_.handler().refuse(status, client_ip_));
  }

  // -- Writing ------------------------------------------------------------------------------------------------------

  /// At the end of a request's task, out of which nothing may be thrown. Without an answer there is none, rather than
  /// one that may be wrong.
  void answer(Result<HttpResponse> response) noexcept {
    if (!response.ok()) return close();
    try {
      send(*std::move(response));
    } catch (const std::bad_alloc&) {
      close();
    }
  }
  void send(HttpResponse response) {
    if (is_ending_) keeps_alive_ = false;
    set_deadline(time_for(response.body.size()));
    message_ = to_message(std::move(response), keeps_alive_);
    http::async_write(stream_, message_, handler(&HttpConnection::on_sent));
  }
  void on_sent(const ErrorCode& error) {
    if (error) return close();
    if (keeps_alive_) return wait_for_request();
    say_goodbye();
  }

  /// What the client may still be sending is read for a moment, for a reset would take the answer from it.
  void say_goodbye() {
    set_deadline(kGoodbyeTime);
    if constexpr (kIsTls) {
      stream_.async_shutdown(handler(&HttpConnection::on_goodbye));
    } else {
      ErrorCode ignored;
      socket_layer().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
      if (!has_unread_) return close();
      drain();
    }
  }
  void on_goodbye(const ErrorCode& /*error*/) { close(); }
  void drain() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(kReadBytes), handler(&HttpConnection::on_drained));
  }
  void on_drained(const ErrorCode& error) {
    if (error) return close();
    drain();
  }

  void on_end_soon() {
    is_ending_ = true;
    if (is_idle_) close();
  }
  void close() {
    is_ending_ = true;
    socket_layer().close();
  }

  static constexpr std::size_t kReadBytes = 8192;
  /// For the verb, the version and line ends.
  static constexpr std::uint32_t kHeaderSlackBytes = 1024;
  static constexpr Milliseconds kGoodbyeTime{2000};

  ConnectionHost& host_;
  const std::string client_ip_;
  asio::io_context& context_;
  WayHome way_home_;
  Stream stream_;
  beast::flat_buffer buffer_{std::size_t{128} << 10};
  std::optional<Parser> parser_;
  http::response<http::string_body> message_;
  bool is_counted_ = false;
  bool is_idle_ = false;
  bool is_ending_ = false;
  bool keeps_alive_ = false;
  bool has_unread_ = false;
};

}  // namespace varve::serve
