// Owns: one connection: requests are read one after the other, and each is answered before the next is parsed.
// Must never: store more of a request than the limits allow, or wait without a deadline. Must never continue after a
// request that did not end correctly: its remaining bytes could be read as another request.
//
// All functions run on the one thread of the connection's context. The exceptions are begin(), end_soon(), end_now(),
// end_unread(), cut_off(), is_here() and post().
// The connection lives as long as one of its operations is pending. If memory ends, std::bad_alloc reaches the thread
// that runs the context. No operation is pending then, and the connection is closed.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
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

#include "tools/serve/transport/connection.h"
#include "tools/serve/transport/home_queue.h"
#include "tools/serve/transport/http_exchange.h"
#include "tools/serve/transport/loop_load.h"
#include "tools/varve/base/owned_descriptor.h"
#include "varve/task.h"

namespace varve::serve {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using ErrorCode = boost::system::error_code;

template <typename Stream>
class HttpConnection final : public OpenConnection,
                             public ByteBudget::Owner,
                             public AnswerRoom,
                             public BodySource,
                             public HomeThread,
                             public std::enable_shared_from_this<HttpConnection<Stream>> {
 public:
  static constexpr bool kIsTls = !std::is_same_v<Stream, Socket>;

  template <typename... Arguments>
  HttpConnection(ConnectionHost& host, std::string client_ip, Socket socket, Arguments&... arguments)
      : host_(host),
        client_ip_(std::move(client_ip)),
        address_(address_key(client_ip_)),
        executor_(socket.get_executor()),
        home_(asio::use_service<HomeQueue>(executor_.context())),
        load_(asio::use_service<LoopLoad>(executor_.context())),
        timer_(executor_),
        room_timer_(executor_),
        share_(host.budget(), address_, *this),
        stream_(std::move(socket), arguments...) {
    load_.connection_began();
  }
  ~HttpConnection() override {
    load_.connection_ended();
    kept_.reset();  // before the host learns of the end: the object may use the store
    if (is_counted_) host_.remove(*this, address_);
  }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void begin() {
    is_counted_ = host_.add(*this, address_);
    if (!is_counted_) return;
    asio::post(executor_, [self = this->shared_from_this()] { self->shake_hands(); });
  }

  void end_soon() override {
    asio::post(executor_, [weak = this->weak_from_this()] {
      if (const auto self = weak.lock()) self->on_end_soon();
    });
  }
  void end_unread() override {
    asio::post(executor_, [weak = this->weak_from_this()] {
      if (const auto self = weak.lock()) self->on_end_unread();
    });
  }
  void end_now() override {
    asio::post(executor_, [weak = this->weak_from_this()] {
      if (const auto self = weak.lock()) self->close();
    });
  }
  void cut_off() override { end_now(); }
  bool is_here() const noexcept override { return executor_.running_in_this_thread(); }
  void post(std::coroutine_handle<> coroutine) noexcept override { home_.post(home_place_, coroutine); }
  Task<Result<std::string_view>> next() override {
    PieceArrival arrival(*this);
    const Status arrived = co_await arrival;
    if (!arrived.ok()) co_return arrived;
    co_return std::string_view(reader_->piece());
  }
  std::uint64_t bytes() const noexcept override { return piece_bytes_; }

 private:
  using Milliseconds = std::chrono::milliseconds;
  using Clock = std::chrono::steady_clock;
  using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Socket::executor_type>;

  /// Returns a completion handler that calls a member function and keeps the connection alive.
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

  /// Sets the deadline of the pending operation. Setting a timer costs more than reading a clock. So the timer keeps
  /// running, and compares the time with the deadline when it expires. A deadline is seldom later than the timer's
  /// usual expiry.
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
  /// Closes the connection after its deadline, or sets the timer again. If the timer cannot be set, the pending
  /// operation would have no deadline, so the connection is closed.
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
      ErrorCode error;
      socket_layer().non_blocking(true, error);  // send_now() must not wait
      if (error) return close();
      wait_for_request();
    }
  }
  void on_hands_shaken(const ErrorCode& error) {
    if (!error) wait_for_request();
  }

  // -- Reading ------------------------------------------------------------------------------------------------------

  /// Waits for a request. The first byte of a request may take the idle time. The rest has the shorter header time.
  void wait_for_request() {
    reader_.emplace(host_.limits(), host_.allows_pieces());
    is_in_pieces_ = false;
    if (buffer_.size() > 0) {
      is_first_read_ = true;
      return read_header();
    }
    if (is_ending_ && !has_arrived()) return close();
    if (buffer_.capacity() > 2 * kReadBytes) buffer_.shrink_to_fit();  // an idle connection holds no memory
    if constexpr (!kIsTls) {
      asio::io_context* const to = load_.take_move(part_of_load_);
      if (to != nullptr && !is_ending_ && move_to(*to)) return;
    }
    is_idle_ = true;
    set_deadline(host_.limits().idle_time_max);
    read_more();
  }

  /// Moves the socket to another loop, between two requests. Another object serves it there, because everything here
  /// belongs to this loop. Returns false if the connection stays. If the socket is lost on the way, both objects end.
  bool move_to(asio::io_context& to) {
    ErrorCode error;
    const auto protocol = socket_layer().local_endpoint(error).protocol();
    if (error || &to == &executor_.context()) return false;
    const auto next = std::make_shared<HttpConnection>(host_, client_ip_, Socket(to));
    const bool is_replaced = host_.replace(*this, *next, [&] {
      tool::OwnedDescriptor descriptor(socket_layer().release(error));
      if (error) return;
      next->socket_layer().assign(protocol, descriptor.number(), error);
      if (!error) descriptor.release();
    });
    if (!is_replaced) return false;
    next->is_counted_ = std::exchange(is_counted_, false);
    next->kept_ = std::move(kept_);
    asio::post(next->executor_, [next] { next->shake_hands(); });
    return true;
  }

  void read_more() {
    if (is_late_) return refuse_unread(busy());
    const bool is_long = !reader_->is_header_done() && buffer_.size() >= kReadBytes && !share_.holds();
    if (is_long && !share_.take(ByteBudget::Use::kHeaders, buffer_.max_size(), Clock::now())) {
      return refuse_unread(busy());
    }
    const std::size_t bytes = std::min(bytes_to_read(), buffer_.max_size() - buffer_.size());
    if (bytes == 0) return on_read_error(http::error::buffer_overflow);
    is_reading_ = true;
    stream_.async_read_some(
        buffer_.prepare(bytes),
        [self = this->shared_from_this()](const ErrorCode& error, std::size_t count) { self->on_read(error, count); });
  }
  std::size_t bytes_to_read() const {
    if (!reader_->is_header_done()) return kReadBytes;
    return std::clamp<std::size_t>(reader_->body_bytes_expected(), kReadBytes, kBodyReadBytes);
  }
  void on_read(const ErrorCode& error, std::size_t bytes) {
    const bool was_idle = std::exchange(is_idle_, false);
    is_reading_ = false;
    if (error == asio::error::operation_aborted && is_late_ && !was_idle) return refuse_unread(busy());
    if (error) return close();
    if (share_.holds()) share_.moved(bytes, Clock::now());
    buffer_.commit(bytes);
    if (reader_->is_header_done()) return read_body();
    is_first_read_ = was_idle;
    read_header();
  }
  /// Parses the bytes in the buffer.
  ErrorCode parse() {
    ErrorCode error;
    buffer_.consume(reader_->put(buffer_.data(), error));
    return error;
  }

  void read_header() {
    const ErrorCode error = parse();
    if (error == http::error::need_more) {
      if (is_first_read_) set_deadline(host_.limits().header_time_max);  // Most requests arrive in one piece.
      return read_more();
    }
    if (error) return on_read_error(error);
    if (const Status framed = reader_->check_framing(); !framed.ok()) return refuse(framed);
    if (!reader_->complete_head({client_ip_, kIsTls})) return refuse(bad_target());
    reader_->eager(true);
    if (reader_->is_done()) return on_request();
    if (reader_->is_body_within(buffer_.size())) return read_body();
    if (host_.allows_pieces()) {
      if (host_.handler().reads_pieces(reader_->request())) return begin_pieces();
      if (const Status limited = reader_->limit_kept_body(); !limited.ok()) return refuse_unread(limited);
    }
    admit();
  }

  // -- Before a body ------------------------------------------------------------------------------------------------

  /// Authenticates the client and waits for room before any byte of a body is read or asked for.
  void admit() {
    headers_arrived_ = Clock::now();
    clear_deadline();  // the store has no deadline
    start(host_.handler().admit(reader_->request(), this),
          [self = this->shared_from_this()](const Status& admitted) { self->on_admitted(admitted); });
  }
  /// Continues after admit(). Throws nothing, like answer().
  void on_admitted(const Status& admitted) noexcept {
    try {
      if (!admitted.ok()) return refuse_unread(admitted);
      wait_for_room();
    } catch (const std::bad_alloc&) {
      close();
    }
  }
  void wait_for_room() {
    room_deadline_ = Clock::now() + host_.limits().room_time_max;
    look_for_room();
  }
  void look_for_room() {
    const Clock::time_point now = Clock::now();
    if (finds_room(now)) return reader_->is_done() || is_in_pieces_ ? run(reader_->take()) : ask_for_body();
    if (is_late_ || now >= room_deadline_) return refuse_unread(busy());
    room_timer_.expires_at(std::min(room_deadline_, now + kRoomLookTime));
    room_timer_.async_wait(handler(&HttpConnection::on_room_timer));
  }
  void on_room_timer(const ErrorCode& /*error*/) { look_for_room(); }
  bool finds_room(Clock::time_point now) {
    if (reader_->is_done()) {
      if (!share_.is_used_up()) return true;
      share_.make_room(now);
      return false;
    }
    const std::uint64_t bytes = is_in_pieces_ ? piece_room_ : reader_->body_bytes_expected();
    return bytes <= ByteBudget::kFreeBytes || share_.take(ByteBudget::Use::kBody, bytes, now);
  }
  static Status busy() { return Status(Code::kBusy, "the server has no memory for this request; repeat it later"); }

  void ask_for_body() {
    if (reader_->wants_continue()) return send_continue();
    begin_body();
  }

  void send_continue() {
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
    clear_deadline();  // as in admit()
    load_.count_request(part_of_load_);
    if (share_.holds()) {
      share_.is_served();
    } else if (share_.is_used_up()) {
      return wait_for_room();
    }
    run(reader_->take());
  }
  /// Called by the thread that builds the answer. The connection does nothing meanwhile.
  bool grow_to(std::uint64_t bytes) override {
    if (bytes + body_bytes_ <= ByteBudget::kFreeBytes) return true;
    const bool has_room = share_.take(ByteBudget::Use::kAnswer, bytes + body_bytes_, Clock::now());
    if (has_room) share_.is_served();
    return has_room;
  }
  void run(HttpRequest request) {
    if (is_in_pieces_ && !request.refusal) request.source = this;
    request.room = this;
    request.kept = &kept_;
    request.headers_arrived = std::exchange(headers_arrived_, std::nullopt);
    body_bytes_ = request.body.size();
    start(host_.handler().handle(std::move(request), this),
          [self = this->shared_from_this()](Result<HttpResponse> response) { self->answer(std::move(response)); });
  }

  void on_read_error(const ErrorCode& error) {
    const std::optional<Status> answer = answer_to(error);
    if (answer) return refuse(*answer);
    close();
  }
  /// Answers a request that is not read to its end, or not carried out.
  void refuse_unread(const Status& status) {
    if (!reader_->is_header_done()) return refuse(status);
    if (!reader_->is_done()) {
      keeps_alive_ = false;
      has_unread_ = true;
    }
    HttpRequest request = reader_->take();
    request.body = std::string();
    request.refusal = status;
    if (share_.holds()) share_.give_back();
    clear_deadline();
    run(std::move(request));
  }
  /// Answers bytes that are no request, and ends the connection: the beginning of the next request is unknown.
  void refuse(const Status& status) {
    keeps_alive_ = false;
    has_unread_ = true;
    send(host_.handler().refuse(status, client_ip_));
  }

  // -- A body in pieces ---------------------------------------------------------------------------------------------

  /// Passes a request to the handler, which reads the body by next(). Takes room for the pieces before.
  void begin_pieces() {
    is_in_pieces_ = true;
    reader_->begin_pieces();
    piece_room_ =
        reader_->tells_body_bytes() ? std::min(reader_->body_bytes_expected(), kPiecesRoomBytes) : kPiecesRoomBytes;
    piece_bytes_ = 0;
    piece_status_ = Status();
    must_continue_ = reader_->wants_continue();
    keeps_alive_ = reader_->keep_alive();
    clear_deadline();  // as in admit()
    load_.count_request(part_of_load_);
    wait_for_room();
  }

  /// Awaited, waits until a piece or the end of the body is in the reader. Gives the failure of the connection.
  class PieceArrival {
   public:
    explicit PieceArrival(HttpConnection& connection) noexcept : connection_(connection) {}
    bool await_ready() const { return !connection_.begin_piece(); }
    void await_suspend(std::coroutine_handle<> waiting) {
      connection_.waiting_for_piece_ = waiting;
      connection_.ask_for_piece();
    }
    Status await_resume() const { return connection_.piece_status_; }

   private:
    HttpConnection& connection_;
  };

  /// Removes the last piece, and begins the next one with the bytes that have arrived. Returns whether more must arrive.
  bool begin_piece() {
    reader_->piece().clear();
    if (!piece_status_.ok() || reader_->is_done()) return false;
    if (is_late_) piece_status_ = Status(Code::kBusy, "the server ends");
    if (buffer_.size() > 0 && piece_status_.ok()) parse_piece();
    return wants_more_of_piece();
  }
  void parse_piece() {
    const std::size_t before = reader_->piece().size();
    const ErrorCode error = parse();
    piece_bytes_ += reader_->piece().size() - before;
    if (!error || error == http::error::need_more) return;
    piece_status_ = answer_to(error).value_or(client_is_gone());
  }
  bool wants_more_of_piece() {
    return piece_status_.ok() && !reader_->is_done() && reader_->piece().size() < kBodyPieceBytes;
  }
  static Status client_is_gone() { return Status::io_error("the client has closed the connection, or was too slow"); }

  /// Reads until the piece is complete. An exception on the way leaves no operation pending, so the piece ends with it.
  void ask_for_piece() {
    try {
      if (share_.holds()) share_.take_anyway(ByteBudget::Use::kBody, piece_room_, Clock::now());
      set_deadline(time_for(kBodyPieceBytes));
      if (std::exchange(must_continue_, false)) return send_continue_for_piece();
      read_for_piece();
    } catch (const std::bad_alloc&) {
      end_piece(Status::out_of_memory());
    }
  }
  void send_continue_for_piece() {
    asio::async_write(stream_, asio::buffer(kContinue.data(), kContinue.size()),
                      [self = this->shared_from_this()](const ErrorCode& error, std::size_t /*bytes*/) {
                        self->on_more_of_piece(error, 0);
                      });
  }
  void read_for_piece() {
    const std::size_t bytes = std::min(kBodyReadBytes, buffer_.max_size() - buffer_.size());
    // A read of no bytes would succeed at once, for ever. The buffer holds no piece of the body: it is framed too widely.
    if (bytes == 0) return end_piece(*answer_to(http::error::buffer_overflow));
    is_reading_ = true;
    stream_.async_read_some(buffer_.prepare(bytes),
                            [self = this->shared_from_this()](const ErrorCode& error, std::size_t count) {
                              self->on_more_of_piece(error, count);
                            });
  }
  void on_more_of_piece(const ErrorCode& error, std::size_t bytes) {
    is_reading_ = false;
    const bool is_lost = error || !socket_layer().is_open();
    if (is_lost) return end_piece(is_late_ ? Status(Code::kBusy, "the server ends") : client_is_gone());
    try {
      buffer_.commit(bytes);
      if (share_.holds()) share_.moved(bytes, Clock::now());
      if (bytes > 0) parse_piece();
      if (wants_more_of_piece()) return read_for_piece();
    } catch (const std::bad_alloc&) {
      return end_piece(Status::out_of_memory());
    }
    end_piece(piece_status_);
  }
  void end_piece(const Status& status) {
    piece_status_ = status;
    clear_deadline();
    if (share_.holds()) share_.is_served();
    std::exchange(waiting_for_piece_, nullptr).resume();
  }

  // -- Writing ------------------------------------------------------------------------------------------------------

  /// Sends the answer at the end of a request's task, which must not throw. If there is no answer, the connection is
  /// closed, because any other answer might be wrong.
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
    if (is_in_pieces_ && !reader_->is_done()) {
      keeps_alive_ = false;
      has_unread_ = true;
    }
    const std::size_t bytes = response.body.size();
    if (response.source && response.stated_bytes) {
      rest_ = std::move(response.source);
      rest_bytes_ = *response.stated_bytes - bytes;
    }
    answer_ = to_bytes(std::move(response), keeps_alive_);
    sent_ = 0;
    if (bytes > ByteBudget::kFreeBytes) {
      share_.take_anyway(ByteBudget::Use::kAnswer, bytes, Clock::now());
    } else {
      if (share_.holds()) share_.give_back();
      if (send_now()) return on_sent_now();
    }
    set_deadline(time_for(bytes));
    send_piece();
  }
  /// Sends a short answer to a client that has room for it. Most answers end here, without a turn of the loop.
  bool send_now() {
    static_assert(ByteBudget::kFreeBytes <= kJoinedBodyMax);
    if constexpr (kIsTls) return false;  // Its stream has no calls that do not wait.
    assert(answer_.body.empty());
    ErrorCode error;
    sent_ = socket_layer().write_some(asio::buffer(answer_.head), error);
    return !error && sent_ == answer_.head.size();
  }
  /// A client may have sent the next requests already. Each is carried out in a turn of its own.
  void on_sent_now() {
    if (buffer_.size() == 0) return on_sent(ErrorCode());
    asio::post(executor_, [self = this->shared_from_this()] { self->on_sent(ErrorCode()); });
  }
  /// Sends a piece of an answer, to see whether the client still receives.
  void send_piece() {
    if (sent_ >= answer_.head.size()) return send_some(asio::buffer(answer_.body) + (sent_ - answer_.head.size()));
    send_some(std::array<asio::const_buffer, 2>{asio::buffer(answer_.head) + sent_, asio::buffer(answer_.body)});
  }
  /// The first of the buffers is not empty. Otherwise a TLS stream would send nothing, and report success.
  template <typename Buffers>
  void send_some(const Buffers& rest) {
    stream_.async_write_some(rest, [self = this->shared_from_this()](const ErrorCode& error, std::size_t bytes) {
      self->on_piece_sent(error, bytes);
    });
  }
  void on_piece_sent(const ErrorCode& error, std::size_t bytes) {
    sent_ += bytes;
    if (error || sent_ == answer_.head.size() + answer_.body.size()) return on_sent(error);
    if (share_.holds()) share_.moved(bytes, Clock::now());
    send_piece();
  }
  void on_sent(const ErrorCode& error) {
    answer_ = AnswerBytes();  // an idle connection holds no answer
    if (rest_ && !error && socket_layer().is_open()) return ask_for_rest();
    rest_.reset();
    if (share_.holds()) share_.give_back();
    if (error || !socket_layer().is_open()) return close();  // No request is carried out on a closed connection.
    if (keeps_alive_) return wait_for_request();
    say_goodbye();
  }

  /// Sends the next piece of an answer, as soon as the handler has made it.
  void ask_for_rest() {
    if (share_.holds()) share_.is_served();
    clear_deadline();
    start(rest_->next(),
          [self = this->shared_from_this()](Result<std::string> piece) { self->on_rest(std::move(piece)); });
  }
  /// Throws nothing, like answer().
  void on_rest(Result<std::string> piece) noexcept {
    try {
      if (!piece.ok() || piece->empty() || piece->size() > rest_bytes_) return lose_rest();
      rest_bytes_ -= piece->size();
      if (rest_bytes_ == 0) rest_.reset();
      const std::size_t bytes = piece->size();
      answer_.head = *std::move(piece);
      sent_ = 0;
      share_.take_anyway(ByteBudget::Use::kAnswer, bytes, Clock::now());
      set_deadline(time_for(bytes));
      send_piece();
    } catch (const std::bad_alloc&) {
      lose_rest();
    }
  }
  /// Cuts the connection, because the client was promised more bytes.
  void lose_rest() noexcept {
    rest_.reset();
    close();
  }

  /// Ends the sending side. Reads and drops the client's remaining bytes for a moment, because a reset would discard
  /// the answer.
  void say_goodbye() {
    set_deadline(kGoodbyeTime);
    if constexpr (kIsTls) {
      stream_.async_shutdown(handler(&HttpConnection::on_goodbye));
    } else {
      on_goodbye(ErrorCode());
    }
  }
  /// Unread bytes make the end of TLS fail, so the error says nothing about the client.
  void on_goodbye(const ErrorCode& /*error*/) {
    ErrorCode ignored;
    socket_layer().shutdown(Socket::shutdown_send, ignored);
    if (!has_unread_) return close();
    drain();
  }
  /// Below TLS: what arrives now is dropped, so it is not decrypted.
  void drain() {
    buffer_.clear();
    socket_layer().async_read_some(buffer_.prepare(kReadBytes), handler(&HttpConnection::on_drained));
  }
  void on_drained(const ErrorCode& error) {
    if (error) return close();
    drain();
  }

  void on_end_soon() {
    is_ending_ = true;
    if (is_idle_ && !has_arrived()) close();
  }
  /// Returns whether bytes of a request are in the socket. Such a request counts as begun.
  bool has_arrived() {
    ErrorCode error;
    return socket_layer().available(error) > 0 && !error;
  }
  void on_end_unread() {
    is_late_ = true;
    ErrorCode ignored;
    if (is_reading_) socket_layer().cancel(ignored);
  }
  void close() {
    is_ending_ = true;
    ErrorCode ignored;
    socket_layer().close(ignored);
  }

  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  static constexpr std::size_t kReadBytes = 8192;
  static constexpr std::size_t kBodyReadBytes = std::size_t{64} << 10;
  /// The most bytes of a body in pieces that a connection holds: a piece, a read, and the bytes before it.
  static constexpr std::uint64_t kPiecesRoomBytes = kBodyPieceBytes + 3 * kBodyReadBytes;
  static constexpr Milliseconds kGoodbyeTime{2000};
  static constexpr Milliseconds kRoomLookTime{50};

  ConnectionHost& host_;
  const std::string client_ip_;
  std::shared_ptr<void> kept_;
  const std::string address_;
  const Socket::executor_type executor_;
  HomeQueue& home_;
  HomeQueue::Place home_place_;
  LoopLoad& load_;
  LoopLoad::Part part_of_load_;
  Timer timer_;
  Timer room_timer_;
  Clock::time_point room_deadline_{};
  std::uint64_t body_bytes_ = 0;
  /// When the headers of the present request had arrived, if its body arrives later.
  std::optional<Clock::time_point> headers_arrived_{};
  ByteBudget::Share share_;
  Clock::time_point deadline_ = Clock::time_point::max();
  Stream stream_;
  beast::flat_buffer buffer_{std::size_t{128} << 10};
  std::optional<RequestReader> reader_;
  AnswerBytes answer_;
  std::size_t sent_ = 0;  // bytes of answer_
  /// The pieces of the answer that were not made yet, and their bytes.
  std::shared_ptr<AnswerSource> rest_;
  std::uint64_t rest_bytes_ = 0;
  /// The coroutine that waits for a piece of the request's body.
  std::coroutine_handle<> waiting_for_piece_;
  Status piece_status_;
  std::uint64_t piece_bytes_ = 0;
  /// The memory for the pieces of the present body.
  std::uint64_t piece_room_ = 0;
  bool is_in_pieces_ = false;
  bool must_continue_ = false;
  bool is_timer_set_ = false;
  bool is_counted_ = false;
  bool is_idle_ = false;
  bool is_ending_ = false;
  /// The server ends, and reads no more bytes of a request.
  bool is_late_ = false;
  bool is_reading_ = false;
  bool is_first_read_ = false;  // of the present request's header
  bool keeps_alive_ = false;
  bool has_unread_ = false;
};

}  // namespace varve::serve
