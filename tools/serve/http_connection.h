// Owns: one connection: requests read one after the other, each answered before the next is looked at.
// Must never: hold more of a request than the limits allow, wait without a deadline, or go on where a request did not
// end as it should: what follows could be read as another one.
//
// Everything here runs on the one thread of the connection's context, save begin(), end_soon(), end_now() and post().
// The connection lives as long as something of it is under way. Where memory ends, std::bad_alloc goes to who runs the
// context; nothing of the connection is under way then, and it is closed.
#pragma once

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/write.hpp>

#include "api/task.h"
#include "tools/serve/connection.h"
#include "tools/serve/home_queue.h"
#include "tools/serve/http_exchange.h"

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
  static constexpr bool kIsTls = !std::is_same_v<Stream, Socket>;

  template <typename... Arguments>
  HttpConnection(ConnectionHost& host, std::string client_ip, Socket socket, Arguments&... arguments)
      : host_(host),
        client_ip_(std::move(client_ip)),
        executor_(socket.get_executor()),
        home_(asio::use_service<HomeQueue>(executor_.context())),
        timer_(executor_),
        stream_(std::move(socket), arguments...) {}
  ~HttpConnection() override {
    if (is_counted_) host_.remove(*this, client_ip_);
  }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void begin() {
    is_counted_ = host_.add(*this, client_ip_);
    if (!is_counted_) return;
    asio::post(executor_, [self = this->shared_from_this()] { self->shake_hands(); });
  }

  void end_soon() override {
    asio::post(executor_, [weak = this->weak_from_this()] {
      if (const auto self = weak.lock()) self->on_end_soon();
    });
  }
  void end_now() override {
    asio::post(executor_, [weak = this->weak_from_this()] {
      if (const auto self = weak.lock()) self->close();
    });
  }
  bool is_here() const noexcept override { return executor_.running_in_this_thread(); }
  void post(std::coroutine_handle<> coroutine) noexcept override { home_.post(home_place_, coroutine); }

 private:
  using Milliseconds = std::chrono::milliseconds;
  using Clock = std::chrono::steady_clock;
  using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Socket::executor_type>;

  /// A member function as a handler that keeps the connection alive.
  template <typename Member>
  auto handler(Member member) {
    return [self = this->shared_from_this(), member](const ErrorCode& error, auto... /*bytes*/) {
      (self.get()->*member)(error);
    };
  }
  auto& socket_layer() { return beast::get_lowest_layer(stream_); }
  Milliseconds time_for(std::uint64_t bytes) const {
    const ConnectionLimits& limits = host_.limits();
    return limits.header_time_max + Milliseconds(1000 * bytes / limits.bytes_per_second_min);
  }

  // -- The deadline -------------------------------------------------------------------------------------------------

  /// What is under way may take this long. To set a timer costs more than to look at a clock, so the timer runs on as
  /// it was set, and looks when it rings; it is seldom set further than any deadline is.
  void set_deadline(Milliseconds time) {
    deadline_ = Clock::now() + time;
    if (!is_timer_set_ || timer_.expiry() > deadline_) set_timer();
  }
  void clear_deadline() { deadline_ = Clock::time_point::max(); }
  void set_timer() {
    is_timer_set_ = true;
    timer_.expires_at(std::min(deadline_, Clock::now() + host_.limits().header_time_max));
    timer_.async_wait([weak = this->weak_from_this()](const ErrorCode& error) {
      if (error) return;
      if (const auto self = weak.lock()) self->on_timer();
    });
  }
  /// Beside it something is under way, which would have no deadline any more without another timer.
  void on_timer() {
    if (Clock::now() >= deadline_) return close();
    try {
      set_timer();
    } catch (const std::bad_alloc&) {
      close();
    }
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
    reader_.emplace(host_.limits());
    if (buffer_.size() > 0) {
      set_deadline(host_.limits().header_time_max);
      return read_header();
    }
    if (is_ending_) return close();
    is_idle_ = true;
    set_deadline(host_.limits().idle_time_max);
    read_more();
  }

  void read_more() {
    const std::size_t bytes =
        std::min(reader_->is_header_done() ? kBodyReadBytes : kReadBytes, buffer_.max_size() - buffer_.size());
    if (bytes == 0) return on_read_error(http::error::buffer_overflow);
    stream_.async_read_some(
        buffer_.prepare(bytes),
        [self = this->shared_from_this()](const ErrorCode& error, std::size_t count) { self->on_read(error, count); });
  }
  void on_read(const ErrorCode& error, std::size_t bytes) {
    const bool was_idle = std::exchange(is_idle_, false);
    if (error) return close();
    if (was_idle) set_deadline(host_.limits().header_time_max);
    buffer_.commit(bytes);
    if (reader_->is_header_done()) return read_body();
    read_header();
  }
  /// What of it stands in the buffer.
  ErrorCode parse() {
    ErrorCode error;
    buffer_.consume(reader_->put(buffer_.data(), error));
    return error;
  }

  void read_header() {
    const ErrorCode error = parse();
    if (error == http::error::need_more) return read_more();
    if (error) return on_read_error(error);
    if (const Status framed = reader_->check_framing(); !framed.ok()) return refuse(framed);
    reader_->eager(true);
    if (reader_->is_done()) return on_request();
    if (reader_->wants_continue()) return send_continue();
    begin_body();
  }

  void send_continue() {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue.data(), kContinue.size()),
                      handler(&HttpConnection::on_continue_sent));
  }
  void on_continue_sent(const ErrorCode& error) {
    if (!error) return begin_body();
    close();
  }

  void begin_body() {
    set_deadline(time_for(reader_->body_bytes_expected()));
    if (buffer_.size() == 0) return read_more();
    read_body();
  }
  void read_body() {
    const ErrorCode error = parse();
    if (error && error != http::error::need_more) return on_read_error(error);
    if (reader_->is_done()) return on_request();
    read_more();
  }
  void on_request() {
    keeps_alive_ = reader_->keep_alive();
    HttpRequest request;
    request.arrival = {client_ip_, kIsTls};
    if (!reader_->take(request)) return refuse(bad_target());
    clear_deadline();  // the store takes the time that it takes
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
    message_ = ResponseMessage();  // who is idle holds no answer
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
      socket_layer().shutdown(Socket::shutdown_send, ignored);
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
    ErrorCode ignored;
    socket_layer().close(ignored);
  }

  static constexpr std::size_t kReadBytes = 8192;
  static constexpr std::size_t kBodyReadBytes = std::size_t{64} << 10;
  static constexpr Milliseconds kGoodbyeTime{2000};

  ConnectionHost& host_;
  const std::string client_ip_;
  const Socket::executor_type executor_;
  HomeQueue& home_;
  HomeQueue::Place home_place_;
  Timer timer_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Stream stream_;
  beast::flat_buffer buffer_{std::size_t{128} << 10};
  std::optional<RequestReader> reader_;
  ResponseMessage message_;
  bool is_timer_set_ = false;
  bool is_counted_ = false;
  bool is_idle_ = false;
  bool is_ending_ = false;
  bool keeps_alive_ = false;
  bool has_unread_ = false;
};

}  // namespace varve::serve
