// Owns: how a connection sends answers, and how it ends (http_connection.h).
// Must never: send bytes of two answers at once, or continue after an answer that was cut.
#pragma once

#include "tools/serve/transport/http_connection.h"

namespace varve::serve {

template <typename Stream>
void HttpConnection<Stream>::answer(Result<HttpResponse> response) noexcept {
  if (!response.ok()) return close();
  try {
    send(*std::move(response));
  } catch (const std::bad_alloc&) {
    close();
  }
}

template <typename Stream>
void HttpConnection<Stream>::send(HttpResponse response) {
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

template <typename Stream>
bool HttpConnection<Stream>::send_now() {
  static_assert(ByteBudget::kFreeBytes <= kJoinedBodyMax);
  if constexpr (kIsTls) return false;  // Its stream has no calls that do not wait.
  assert(answer_.body.empty());
  ErrorCode error;
  sent_ = socket_layer().write_some(asio::buffer(answer_.head), error);
  return !error && sent_ == answer_.head.size();
}

template <typename Stream>
void HttpConnection<Stream>::on_sent_now() {
  if (buffer_.size() == 0) return on_sent(ErrorCode());
  asio::post(executor_, [self = this->shared_from_this()] { self->on_sent(ErrorCode()); });
}

template <typename Stream>
void HttpConnection<Stream>::send_piece() {
  if (sent_ >= answer_.head.size()) return send_some(asio::buffer(answer_.body) + (sent_ - answer_.head.size()));
  send_some(std::array<asio::const_buffer, 2>{asio::buffer(answer_.head) + sent_, asio::buffer(answer_.body)});
}

template <typename Stream>
void HttpConnection<Stream>::on_piece_sent(const ErrorCode& error, std::size_t bytes) {
  sent_ += bytes;
  if (error || sent_ == answer_.head.size() + answer_.body.size()) return on_sent(error);
  if (share_.holds()) share_.moved(bytes, Clock::now());
  send_piece();
}

template <typename Stream>
void HttpConnection<Stream>::on_sent(const ErrorCode& error) {
  answer_ = AnswerBytes();  // an idle connection holds no answer
  if (rest_ && !error && socket_layer().is_open()) return ask_for_rest();
  rest_.reset();
  if (share_.holds()) share_.give_back();
  if (error || !socket_layer().is_open()) return close();  // No request is carried out on a closed connection.
  if (keeps_alive_) return wait_for_request();
  say_goodbye();
}

template <typename Stream>
void HttpConnection<Stream>::ask_for_rest() {
  if (share_.holds()) share_.is_served();
  set_deadline(time_for(kAnswerPieceBytes));  // of the wait for room
  look_for_rest();
}

template <typename Stream>
void HttpConnection<Stream>::look_for_rest() noexcept {
  try {
    if (!socket_layer().is_open()) return lose_rest();
    const Clock::time_point now = Clock::now();
    const std::uint64_t bytes = std::min<std::uint64_t>(rest_bytes_, kAnswerPieceBytes);
    if (bytes > ByteBudget::kFreeBytes && !share_.take(ByteBudget::Use::kAnswer, bytes, now)) {
      room_timer_.expires_at(now + kRoomLookTime);
      room_timer_.async_wait(handler(&HttpConnection::on_rest_timer));
      return;
    }
    if (share_.holds()) share_.is_served();
    clear_deadline();  // as in admit()
    start(rest_->next(),
          [self = this->shared_from_this()](Result<std::string> piece) { self->on_rest(std::move(piece)); });
  } catch (const std::bad_alloc&) {
    lose_rest();
  }
}

template <typename Stream>
void HttpConnection<Stream>::on_rest(Result<std::string> piece) noexcept {
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

template <typename Stream>
void HttpConnection<Stream>::lose_rest() noexcept {
  rest_.reset();
  close();
}

template <typename Stream>
void HttpConnection<Stream>::say_goodbye() {
  set_deadline(kGoodbyeTime);
  if constexpr (kIsTls) {
    stream_.async_shutdown(handler(&HttpConnection::on_goodbye));
  } else {
    on_goodbye(ErrorCode());
  }
}

template <typename Stream>
void HttpConnection<Stream>::on_goodbye(const ErrorCode& /*error*/) {
  ErrorCode ignored;
  socket_layer().shutdown(Socket::shutdown_send, ignored);
  if (!has_unread_) return close();
  drain();
}

template <typename Stream>
void HttpConnection<Stream>::drain() {
  buffer_.clear();
  socket_layer().async_read_some(buffer_.prepare(kReadBytes), handler(&HttpConnection::on_drained));
}

template <typename Stream>
void HttpConnection<Stream>::on_drained(const ErrorCode& error) {
  if (error) return close();
  drain();
}

template <typename Stream>
void HttpConnection<Stream>::on_end_soon() {
  is_ending_ = true;
  if (is_idle_ && !has_arrived()) close();
}

template <typename Stream>
bool HttpConnection<Stream>::has_arrived() {
  ErrorCode error;
  return socket_layer().available(error) > 0 && !error;
}

template <typename Stream>
void HttpConnection<Stream>::on_end_unread() {
  is_late_ = true;
  ErrorCode ignored;
  if (is_reading_) socket_layer().cancel(ignored);
  if (waits_for_turn_) room_timer_.cancel();
}

template <typename Stream>
void HttpConnection<Stream>::close() {
  is_ending_ = true;
  ErrorCode ignored;
  socket_layer().close(ignored);
  if (waits_for_turn_) room_timer_.cancel();
}

}  // namespace varve::serve
