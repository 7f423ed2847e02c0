// Owns: one connection: requests are read one after the other, and each is answered before the next is parsed.
// Must never: store more of a request than the limits allow, or wait without a deadline. Must never continue after a
// request that did not end correctly: its remaining bytes could be read as another request.
//
// All functions run on the one thread of the connection's context. The exceptions are begin(), end_soon(), end_now(),
// end_unread(), cut_off(), look_again(), is_here() and post().
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
#include <poll.h>

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
  HttpConnection(ConnectionHost& host, ClientAddress client, Socket socket, Arguments&... arguments)
      : host_(host),
        client_(std::move(client)),
        address_(address_key(client_.ip)),
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
  bool cut_off() noexcept override;
  void look_again() noexcept override;
  bool is_here() const noexcept override { return executor_.running_in_this_thread(); }
  void post(std::coroutine_handle<> coroutine) noexcept override { home_.post(home_place_, coroutine); }
  Task<Result<std::string_view>> next() override {
    PieceArrival arrival(*this);
    const Status arrived = co_await arrival;
    if (!arrived.ok()) co_return arrived;
    co_return std::string_view(reader_->piece());
  }
  void keeps_all(std::uint64_t bytes_max, std::uint64_t times) override {
    kept_max_ = std::min(bytes_max, stated_bytes_) * times;
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
  void wait_for_request();

  /// Moves the socket to another loop, between two requests. Another object serves it there, because everything here
  /// belongs to this loop. Returns false if the connection stays. If the socket is lost on the way, both objects end.
  bool move_to(asio::io_context& to);

  void read_more();
  std::size_t bytes_to_read() const;
  void on_read(const ErrorCode& error, std::size_t bytes);
  /// Parses the bytes in the buffer.
  ErrorCode parse();

  void read_header();

  // -- Before a body ------------------------------------------------------------------------------------------------

  /// Authenticates the client and waits for room before any byte of a body is read or asked for.
  void admit();
  /// Continues after admit(). Throws nothing, like answer().
  void on_admitted(const Status& admitted) noexcept;
  void wait_for_room();
  void look_for_room();
  void on_room_timer(const ErrorCode& /*error*/) { look_for_room(); }
  bool finds_room(Clock::time_point now);
  static Status busy() { return Status(Code::kBusy, "the server has no memory for this request; repeat it later"); }

  void ask_for_body();

  void send_continue();
  void on_continue_sent(const ErrorCode& error);

  void begin_body();
  void read_body();
  void on_request();
  /// Called by the thread that builds the answer. The connection does nothing meanwhile.
  bool grow_to(std::uint64_t bytes) override;
  bool is_awaited() noexcept override;
  void run(HttpRequest request);

  void on_read_error(const ErrorCode& error);
  /// Answers a request that is not read to its end, or not carried out.
  void refuse_unread(const Status& status);
  /// Answers bytes that are no request, and ends the connection: the beginning of the next request is unknown.
  void refuse(const Status& status);

  // -- A body in pieces ---------------------------------------------------------------------------------------------

  /// Passes a request to the handler, which reads the body by next(). The first next() takes memory, so a client whom
  /// the handler refuses uses none.
  void begin_pieces();

  /// Returns the bytes that reads and pieces need, and those that the handler keeps of earlier pieces. The handler
  /// got `passed` bytes. Before the first piece it keeps none, so many clients may begin at once and be slow.
  std::uint64_t room_for_pieces(std::uint64_t passed) const;
  /// Returns the bytes that the handler keeps after it got `passed` bytes of the body.
  std::uint64_t kept_of(std::uint64_t passed) const;
  /// Takes the memory for the next piece. An upload takes its turn each time when the handler has dropped what it kept, so
  /// a long upload makes room for those that wait. Returns false if the upload is queued.
  bool takes_turn();
  void wait_for_turn();
  void on_turn_timer(const ErrorCode& /*error*/) { look_for_turn(); }
  void look_for_turn();

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
  bool begin_piece();
  void parse_piece();
  bool wants_more_of_piece();
  static Status client_is_gone() {
    return Status::io_error("the client has closed the connection, or was too slow")
        .with_service_error("RequestTimedOut");
  }

  /// Reads until the piece is complete. An exception on the way leaves no operation pending, so the piece ends with it.
  void ask_for_piece();
  void begin_reading_piece();
  void send_continue_for_piece();
  void read_for_piece();
  void on_more_of_piece(const ErrorCode& error, std::size_t bytes);
  void end_piece(const Status& status);

  // -- Writing ------------------------------------------------------------------------------------------------------

  /// Sends the answer at the end of a request's task, which must not throw. If there is no answer, the connection is
  /// closed, because any other answer might be wrong.
  void answer(Result<HttpResponse> response) noexcept;
  void send(HttpResponse response);
  /// Sends a short answer to a client that has room for it. Most answers end here, without a turn of the loop.
  bool send_now();
  /// A client may have sent the next requests already. Each is carried out in a turn of its own.
  void on_sent_now();
  /// Sends a piece of an answer, to see whether the client still receives.
  void send_piece();
  /// The first of the buffers is not empty. Otherwise a TLS stream would send nothing, and report success.
  template <typename Buffers>
  void send_some(const Buffers& rest) {
    stream_.async_write_some(rest, [self = this->shared_from_this()](const ErrorCode& error, std::size_t bytes) {
      self->on_piece_sent(error, bytes);
    });
  }
  void on_piece_sent(const ErrorCode& error, std::size_t bytes);
  void on_sent(const ErrorCode& error);

  /// Sends the next piece of an answer, as soon as there is room for it and the handler has made it.
  void ask_for_rest();
  /// Throws nothing, like answer().
  void look_for_rest() noexcept;
  void on_rest_timer(const ErrorCode& /*error*/) { look_for_rest(); }
  /// Throws nothing, like answer().
  void on_rest(Result<std::string> piece) noexcept;
  /// Cuts the connection, because the client was promised more bytes.
  void lose_rest() noexcept;

  /// Ends the sending side. Reads and drops the client's remaining bytes for a moment, because a reset would discard
  /// the answer.
  void say_goodbye();
  /// Unread bytes make the end of TLS fail, so the error says nothing about the client.
  void on_goodbye(const ErrorCode& /*error*/);
  /// Reads below TLS, because the bytes are dropped and need no decryption.
  void drain();
  void on_drained(const ErrorCode& error);

  void on_end_soon();
  /// Returns whether bytes of a request are in the socket. Such a request counts as begun.
  bool has_arrived();
  void on_end_unread();
  void close();

  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  static constexpr std::size_t kReadBytes = 8192;
  static constexpr std::size_t kBodyReadBytes = std::size_t{64} << 10;
  /// The most bytes of a body in pieces that a connection holds: a piece, a read, and the bytes before it.
  static constexpr std::uint64_t kPiecesRoomBytes = kBodyPieceBytes + 3 * kBodyReadBytes;
  static constexpr Milliseconds kGoodbyeTime{2000};
  static constexpr Milliseconds kRoomLookTime{50};
  /// Only if the call of look_again() was lost.
  static constexpr Milliseconds kTurnLookTime{1000};

  ConnectionHost& host_;
  const ClientAddress client_;
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
  /// The bytes that the handler got by grow_to(), beside those of the body.
  std::uint64_t granted_ = 0;
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
  /// The memory for the pieces of the present body, once the upload had its turn.
  std::uint64_t piece_room_ = 0;
  /// The bytes of the body up to which the handler keeps pieces in that memory.
  std::uint64_t turn_end_ = 0;
  /// The length of the body, or the greatest number if the client did not state it.
  std::uint64_t stated_bytes_ = 0;
  std::optional<std::uint64_t> kept_max_{};  // of a handler that keeps the whole body
  bool waits_for_turn_ = false;
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
