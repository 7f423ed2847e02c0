// Owns: how a connection reads requests: heads, room for bodies, whole bodies and bodies in pieces (http_connection.h).
// Must never: read a byte of a body before the client was admitted, or parse bytes after a request whose end is unclear.
#pragma once

#include "tools/serve/transport/http_connection.h"

namespace varve::serve {

template <typename Stream>
void HttpConnection<Stream>::wait_for_request() {
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

template <typename Stream>
bool HttpConnection<Stream>::move_to(asio::io_context& to) {
  ErrorCode error;
  const auto protocol = socket_layer().local_endpoint(error).protocol();
  if (error || &to == &executor_.context()) return false;
  const auto next = std::make_shared<HttpConnection>(host_, client_, Socket(to));
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

template <typename Stream>
void HttpConnection<Stream>::read_more() {
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

template <typename Stream>
std::size_t HttpConnection<Stream>::bytes_to_read() const {
  if (!reader_->is_header_done()) return kReadBytes;
  return std::clamp<std::size_t>(reader_->body_bytes_expected(), kReadBytes, kBodyReadBytes);
}

template <typename Stream>
void HttpConnection<Stream>::on_read(const ErrorCode& error, std::size_t bytes) {
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

template <typename Stream>
ErrorCode HttpConnection<Stream>::parse() {
  ErrorCode error;
  const auto arrived = buffer_.data();
  buffer_.consume(reader_->read({static_cast<const char*>(arrived.data()), arrived.size()}, error));
  return error;
}

template <typename Stream>
void HttpConnection<Stream>::read_header() {
  const ErrorCode error = parse();
  if (error == http::error::need_more) {
    if (is_first_read_) set_deadline(host_.limits().header_time_max);  // Most requests arrive in one piece.
    return read_more();
  }
  if (error) return on_read_error(error);
  if (const Status framed = reader_->check_framing(); !framed.ok()) return refuse(framed);
  if (!reader_->complete_head({client_.ip, kIsTls})) return refuse(bad_target());
  reader_->eager(true);
  if (reader_->is_done()) return on_request();
  if (reader_->is_body_within(buffer_.size())) return read_body();
  if (host_.allows_pieces()) {
    if (host_.handler().reads_pieces(reader_->request())) return begin_pieces();
    if (const Status limited = reader_->limit_kept_body(); !limited.ok()) return refuse_unread(limited);
  }
  admit();
}

template <typename Stream>
void HttpConnection<Stream>::admit() {
  headers_arrived_ = Clock::now();
  clear_deadline();  // the store has no deadline
  start(host_.handler().admit(reader_->request(), this),
        [self = this->shared_from_this()](const Status& admitted) { self->on_admitted(admitted); });
}

template <typename Stream>
void HttpConnection<Stream>::on_admitted(const Status& admitted) noexcept {
  try {
    if (!admitted.ok()) return refuse_unread(admitted);
    wait_for_room();
  } catch (const std::bad_alloc&) {
    close();
  }
}

template <typename Stream>
void HttpConnection<Stream>::wait_for_room() {
  room_deadline_ = Clock::now() + host_.limits().room_time_max;
  look_for_room();
}

template <typename Stream>
void HttpConnection<Stream>::look_for_room() {
  const Clock::time_point now = Clock::now();
  if (finds_room(now)) {
    if (!reader_->is_done()) return ask_for_body();
    if (share_.holds()) share_.is_served();  // The client is not asked for bytes, so it cannot stall.
    return run(reader_->take());
  }
  if (is_late_ || now >= room_deadline_) return refuse_unread(busy());
  room_timer_.expires_at(std::min(room_deadline_, now + kRoomLookTime));
  room_timer_.async_wait(handler(&HttpConnection::on_room_timer));
}

template <typename Stream>
bool HttpConnection<Stream>::finds_room(Clock::time_point now) {
  if (reader_->is_done()) {
    if (!share_.is_used_up()) return true;
    share_.make_room(now);
    return false;
  }
  const std::uint64_t bytes = reader_->body_bytes_expected();
  return bytes <= ByteBudget::kFreeBytes || share_.take(ByteBudget::Use::kBody, bytes, now);
}

template <typename Stream>
void HttpConnection<Stream>::ask_for_body() {
  if (reader_->wants_continue()) return send_continue();
  begin_body();
}

template <typename Stream>
void HttpConnection<Stream>::send_continue() {
  set_deadline(time_for(0));
  asio::async_write(stream_, asio::buffer(kContinue.data(), kContinue.size()),
                    handler(&HttpConnection::on_continue_sent));
}

template <typename Stream>
void HttpConnection<Stream>::on_continue_sent(const ErrorCode& error) {
  if (!error) return begin_body();
  close();
}

template <typename Stream>
void HttpConnection<Stream>::begin_body() {
  set_deadline(time_for(reader_->body_bytes_expected()));
  if (buffer_.size() == 0) return read_more();
  read_body();
}

template <typename Stream>
void HttpConnection<Stream>::read_body() {
  const ErrorCode error = parse();
  if (error && error != http::error::need_more) return on_read_error(error);
  if (reader_->is_done()) return on_request();
  read_more();
}

template <typename Stream>
void HttpConnection<Stream>::on_request() {
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

template <typename Stream>
bool HttpConnection<Stream>::grow_to(std::uint64_t bytes) {
  const std::uint64_t beside = is_in_pieces_ ? piece_room_ : body_bytes_;
  if (bytes + beside <= ByteBudget::kFreeBytes) return true;
  if (!share_.take(ByteBudget::Use::kAnswer, bytes + beside, Clock::now())) return false;
  share_.is_served();
  granted_ = bytes;
  return true;
}

template <typename Stream>
bool HttpConnection<Stream>::is_awaited() noexcept {
  // Also found if bytes of a next request are in the socket.
  pollfd asked{socket_layer().native_handle(), POLLRDHUP, 0};
  return socket_layer().is_open() && (::poll(&asked, 1, 0) <= 0 || asked.revents == 0);
}

template <typename Stream>
void HttpConnection<Stream>::run(HttpRequest request) {
  if (is_in_pieces_ && !request.refusal) request.source = this;
  request.room = this;
  request.kept = &kept_;
  request.client_port = client_.port;
  request.headers_arrived = std::exchange(headers_arrived_, std::nullopt);
  body_bytes_ = request.body.size();
  granted_ = 0;
  start(host_.handler().handle(std::move(request), this),
        [self = this->shared_from_this()](Result<HttpResponse> response) { self->answer(std::move(response)); });
}

template <typename Stream>
void HttpConnection<Stream>::on_read_error(const ErrorCode& error) {
  const std::optional<Status> answer = answer_to(error);
  if (answer) return refuse(*answer);
  close();
}

template <typename Stream>
void HttpConnection<Stream>::refuse_unread(const Status& status) {
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

template <typename Stream>
void HttpConnection<Stream>::refuse(const Status& status) {
  keeps_alive_ = false;
  has_unread_ = true;
  send(host_.handler().refuse(status, client_.ip));
}

template <typename Stream>
void HttpConnection<Stream>::begin_pieces() {
  is_in_pieces_ = true;
  reader_->begin_pieces();
  stated_bytes_ = reader_->tells_body_bytes() ? reader_->body_bytes_expected() : ~std::uint64_t{0};
  piece_room_ = 0;
  turn_end_ = 0;
  kept_max_.reset();
  piece_bytes_ = 0;
  piece_status_ = Status();
  must_continue_ = reader_->wants_continue();
  keeps_alive_ = reader_->keep_alive();
  clear_deadline();  // as in admit()
  load_.count_request(part_of_load_);
  if (share_.holds()) share_.is_served();
  run(reader_->take());
}

template <typename Stream>
bool HttpConnection<Stream>::begin_piece() {
  reader_->piece().clear();
  if (!piece_status_.ok() || reader_->is_done()) return false;
  if (is_late_) piece_status_ = Status(Code::kBusy, "the server ends");
  if (buffer_.size() > 0 && piece_status_.ok()) parse_piece();
  return wants_more_of_piece();
}

template <typename Stream>
void HttpConnection<Stream>::parse_piece() {
  const std::size_t before = reader_->piece().size();
  const ErrorCode error = parse();
  piece_bytes_ += reader_->piece().size() - before;
  if (!error || error == http::error::need_more || error == http::error::need_buffer) return;
  piece_status_ = answer_to(error).value_or(client_is_gone());
}

template <typename Stream>
bool HttpConnection<Stream>::wants_more_of_piece() {
  return piece_status_.ok() && !reader_->is_done() && reader_->piece().size() < kBodyPieceBytes &&
         !reader_->is_piece_cut();
}

template <typename Stream>
std::uint64_t HttpConnection<Stream>::room_for_pieces(std::uint64_t passed) const {
  const std::uint64_t kept = passed == 0 ? 0 : std::min(stated_bytes_, kBodyKeptBytes);
  return std::min(stated_bytes_, kPiecesRoomBytes) + kept_max_.value_or(kept);
}

template <typename Stream>
std::uint64_t HttpConnection<Stream>::kept_of(std::uint64_t passed) const {
  return kept_max_ ? passed : passed % kBodyKeptBytes;
}

template <typename Stream>
bool HttpConnection<Stream>::takes_turn() {
  const std::uint64_t passed = piece_bytes_ - reader_->piece().size();
  const std::uint64_t room = room_for_pieces(passed);
  if (room + granted_ <= ByteBudget::kFreeBytes) return true;
  if (passed < turn_end_) {
    share_.take_anyway(ByteBudget::Use::kStream, granted_ + piece_room_, Clock::now());
    return true;
  }
  const std::uint64_t kept = kept_of(passed);
  const std::uint64_t held = granted_ + kept + reader_->piece().size();
  if (!share_.take_turn(held, granted_ + room, Clock::now())) return false;
  piece_room_ = room;
  if (passed > 0) turn_end_ = passed - kept + kBodyKeptBytes;
  if (kept_max_) turn_end_ = ~std::uint64_t{0};
  return true;
}

template <typename Stream>
void HttpConnection<Stream>::ask_for_piece() {
  try {
    if (takes_turn()) return begin_reading_piece();
    reader_->piece().shrink_to_fit();
    buffer_.shrink_to_fit();
    waits_for_turn_ = true;
    wait_for_turn();
  } catch (const std::bad_alloc&) {
    end_piece(Status::out_of_memory());
  }
}

template <typename Stream>
void HttpConnection<Stream>::wait_for_turn() {
  room_timer_.expires_at(Clock::now() + kTurnLookTime);
  room_timer_.async_wait(handler(&HttpConnection::on_turn_timer));
}

/// Called by the timer, which look_again() ends early.
template <typename Stream>
void HttpConnection<Stream>::look_for_turn() {
  try {
    if (is_late_) return end_piece(Status(Code::kBusy, "the server ends"));
    if (!socket_layer().is_open()) return end_piece(client_is_gone());
    if (!takes_turn()) return wait_for_turn();
    begin_reading_piece();
  } catch (const std::bad_alloc&) {
    end_piece(Status::out_of_memory());
  }
}

template <typename Stream>
bool HttpConnection<Stream>::cut_off() noexcept {
  try {
    end_now();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

template <typename Stream>
void HttpConnection<Stream>::look_again() noexcept {
  try {
    asio::post(executor_, [weak = this->weak_from_this()] {
      const auto self = weak.lock();
      if (self && self->waits_for_turn_) self->room_timer_.cancel();
    });
  } catch (const std::bad_alloc&) {
    return;  // the timer looks, a little later
  }
}

template <typename Stream>
void HttpConnection<Stream>::begin_reading_piece() {
  waits_for_turn_ = false;
  set_deadline(time_for(kBodyPieceBytes));
  if (std::exchange(must_continue_, false)) return send_continue_for_piece();
  read_for_piece();
}

template <typename Stream>
void HttpConnection<Stream>::send_continue_for_piece() {
  asio::async_write(stream_, asio::buffer(kContinue.data(), kContinue.size()),
                    [self = this->shared_from_this()](const ErrorCode& error, std::size_t /*bytes*/) {
                      self->on_more_of_piece(error, 0);
                    });
}

template <typename Stream>
void HttpConnection<Stream>::read_for_piece() {
  if (is_late_) return end_piece(Status(Code::kBusy, "the server ends"));  // also after a `100 Continue`
  const std::size_t bytes = std::min(kBodyReadBytes, buffer_.max_size() - buffer_.size());
  // A read of no bytes would succeed at once, for ever. The buffer holds no piece of the body: it is framed too widely.
  if (bytes == 0) return end_piece(*answer_to(http::error::buffer_overflow));
  is_reading_ = true;
  stream_.async_read_some(buffer_.prepare(bytes),
                          [self = this->shared_from_this()](const ErrorCode& error, std::size_t count) {
                            self->on_more_of_piece(error, count);
                          });
}

template <typename Stream>
void HttpConnection<Stream>::on_more_of_piece(const ErrorCode& error, std::size_t bytes) {
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

template <typename Stream>
void HttpConnection<Stream>::end_piece(const Status& status) {
  piece_status_ = status;
  waits_for_turn_ = false;
  clear_deadline();
  if (share_.holds()) share_.is_served();
  std::exchange(waiting_for_piece_, nullptr).resume();
}

}  // namespace varve::serve
