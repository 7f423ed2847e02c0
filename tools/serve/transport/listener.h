// Owns: a listening socket, and accepting connections from it.
// Must never: know what a connection carries, or stop accepting because one accept failed.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace varve::serve {

/// Used on the thread of its own context once it listens. `Protocol` is TCP or local sockets.
template <typename Protocol>
class Listener {
 public:
  using ErrorCode = boost::system::error_code;
  using Accepted = boost::asio::basic_stream_socket<Protocol, boost::asio::io_context::executor_type>;

  /// Accepts on the context `own`. `next_context` returns the context of the next connection, and `serve` takes the
  /// connection. Both must be usable until the contexts end.
  Listener(boost::asio::io_context& own, std::function<boost::asio::io_context&()> next_context,
           std::function<void(Accepted socket)> serve)
      : next_context_(std::move(next_context)), serve_(std::move(serve)), acceptor_(own), accept_timer_(own) {}

  ErrorCode listen(const typename Protocol::endpoint& endpoint, bool reuses_address) {
    ErrorCode error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error && reuses_address) acceptor_.set_option(boost::asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(boost::asio::socket_base::max_listen_connections, error);
    if (!error) local_ = acceptor_.local_endpoint(error);
    return error;
  }
  const typename Protocol::endpoint& local() const noexcept { return local_; }

  void accept() {
    const auto waiting = std::make_shared<Waiting>(*this);
    acceptor_.async_accept(next_context_(), [this, waiting](const ErrorCode& error, Accepted socket) {
      if (error == boost::asio::error::operation_aborted || !acceptor_.is_open()) return;
      if (error) return pause();
      serve_(std::move(socket));
      accept();
    });
  }
  /// Accepts again if no accept is pending although one should be.
  void resume() {
    if (acceptor_.is_open() && waits_ == 0) accept();
  }
  /// Closes the listener after serving the connections that were already established, at most `connections_max`.
  void close(std::size_t connections_max) {
    ErrorCode ignored;
    acceptor_.non_blocking(true, ignored);
    for (std::size_t i = 0; i < connections_max; ++i) {
      Accepted socket(next_context_());
      ErrorCode error;
      acceptor_.accept(socket, error);
      if (error) break;
      serve_(std::move(socket));
    }
    acceptor_.close(ignored);
    accept_timer_.cancel();
  }

 private:
  /// The pause after a failed accept, for example if no descriptor is free.
  static constexpr std::chrono::milliseconds kAcceptPause{100};

  void pause() {
    const auto waiting = std::make_shared<Waiting>(*this);
    accept_timer_.expires_after(kAcceptPause);
    accept_timer_.async_wait([this, waiting](const ErrorCode& error) {
      if (!error && acceptor_.is_open()) accept();
    });
  }

  /// Counts pending accepts and pauses, however they end.
  struct Waiting {
    explicit Waiting(Listener& of) noexcept : listener(of) { ++listener.waits_; }
    ~Waiting() { --listener.waits_; }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    Listener& listener;
  };

  const std::function<boost::asio::io_context&()> next_context_;
  const std::function<void(Accepted socket)> serve_;
  int waits_ = 0;
  boost::asio::basic_socket_acceptor<Protocol> acceptor_;
  boost::asio::steady_timer accept_timer_;
  typename Protocol::endpoint local_;
};

}  // namespace varve::serve
