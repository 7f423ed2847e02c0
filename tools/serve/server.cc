#include "tools/serve/server.h"

#include <algorithm>
#include <functional>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>

#include "tools/serve/connection.h"
#include "tools/serve/dispatcher.h"
#include "tools/serve/http_date.h"
#include "tools/serve/log.h"

namespace varve::serve {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using Tcp = asio::ip::tcp;

/// Requests at hand have this long to be answered when the server ends, before they are cut off.
constexpr std::chrono::milliseconds kEndTime{800};
/// After that, what the store has begun ends by itself.
constexpr std::chrono::milliseconds kStoreEndTime{60'000};
/// After an accept that failed, as it does without descriptors.
constexpr std::chrono::milliseconds kAcceptPause{100};
constexpr unsigned kThreadsMax = 16;

Status refuse(std::string_view what) {
  return Status::invalid_argument(what);
}

Result<Tcp::endpoint> endpoint_of(const ListenOptions& options) {
  ErrorCode error;
  const asio::ip::address address = asio::ip::make_address(options.address, error);
  if (error) return refuse("\"" + options.address + "\" is no IP address");
  return Tcp::endpoint(address, options.port);
}

Result<std::unique_ptr<asio::ssl::context>> make_tls(const ListenOptions& options) {
  if (options.tls_certificate.empty() && options.tls_key.empty()) return std::unique_ptr<asio::ssl::context>();
  auto tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  ErrorCode error;
  tls->set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1, error);
  if (!error) tls->use_certificate_chain_file(options.tls_certificate, error);
  if (error) return refuse("the certificate in \"" + options.tls_certificate + "\" cannot be used: " + error.message());
  tls->use_private_key_file(options.tls_key, asio::ssl::context::pem, error);
  if (error) return refuse("the key in \"" + options.tls_key + "\" cannot be used: " + error.message());
  return tls;
}

/// What may not be served to other machines.
Status check_exposure(const Tcp::endpoint& endpoint, const Accounts& accounts, bool has_tls) {
  if (endpoint.address().is_loopback()) return Status();
  if (accounts.empty()) return refuse("other machines are served with accounts of their own alone; give some");
  if (!has_tls) return refuse("other machines are served with TLS alone; give a certificate and its key");
  return Status();
}

Status make_accounts(Store& store, const Accounts& accounts) {
  for (const auto& [name, keys] : accounts.all()) {
    const Status made = store.create_account(name);
    if (!made.ok() && made.code() != Code::kExists) return made;
  }
  return Status();
}

unsigned thread_count(unsigned asked) {
  return asked > 0 ? asked : std::clamp(std::thread::hardware_concurrency(), 2U, kThreadsMax);
}

}  // namespace

struct Server::State {
  State(Store& store, Accounts accounts, const ConnectionLimits& limits)
      : dispatcher(store, std::move(accounts), present_time, log_failure), host(dispatcher, limits) {}

  void accept() {
    acceptor.async_accept(asio::make_strand(context), [this](const ErrorCode& error, Tcp::socket socket) {
      if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
      if (error) return pause();
      ErrorCode ignored;
      socket.set_option(Tcp::no_delay(true), ignored);
      if (tls) {
        serve_tls(std::move(socket), host, *tls);
      } else {
        serve_plain(std::move(socket), host);
      }
      accept();
    });
  }
  void pause() {
    accept_timer.expires_after(kAcceptPause);
    accept_timer.async_wait([this](const ErrorCode& error) {
      if (!error && acceptor.is_open()) accept();
    });
  }

  Status listen(const Tcp::endpoint& endpoint) {
    ErrorCode error;
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.set_option(Tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor.bind(endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (!error) return Status();
    return Status::io_error("cannot listen on " + endpoint.address().to_string() + ":" +
                            std::to_string(endpoint.port()) + ": " + error.message());
  }

  Dispatcher dispatcher;
  ConnectionHost host;
  std::unique_ptr<asio::ssl::context> tls;
  asio::io_context context;
  asio::executor_work_guard<asio::io_context::executor_type> work = asio::make_work_guard(context);
  /// The acceptor, its timer and the signals share a strand.
  asio::strand<asio::io_context::executor_type> strand = asio::make_strand(context);
  Tcp::acceptor acceptor{strand};
  asio::steady_timer accept_timer{strand};
  std::vector<std::thread> threads;
  Tcp::endpoint local;
  bool is_running = false;
};

Server::Server(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

Result<std::unique_ptr<Server>> Server::start(Store& store, Accounts accounts, const ListenOptions& options) {
  const Result<Tcp::endpoint> endpoint = endpoint_of(options);
  if (!endpoint.ok()) return endpoint.status();
  Result<std::unique_ptr<asio::ssl::context>> tls = make_tls(options);
  if (!tls.ok()) return tls.status();
  if (Status exposed = check_exposure(*endpoint, accounts, *tls != nullptr); !exposed.ok()) return exposed;
  if (accounts.empty()) {
    const Status added = accounts.add(std::string(kDevelopmentAccount) + ":" + std::string(kDevelopmentKey));
    if (!added.ok()) return added;
  }
  if (Status made = make_accounts(store, accounts); !made.ok()) return made;

  auto state = std::make_unique<State>(store, std::move(accounts), options.limits);
  state->tls = *std::move(tls);
  if (Status listening = state->listen(*endpoint); !listening.ok()) return listening;
  state->local = state->acceptor.local_endpoint();
  State& running = *state;
  asio::post(running.strand, [&running] { running.accept(); });
  for (unsigned i = thread_count(options.threads); i > 0; --i) {
    running.threads.emplace_back([&running] { running.context.run(); });
  }
  running.is_running = true;
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::~Server() {
  stop();
}

std::uint16_t Server::port() const noexcept {
  return state_->local.port();
}

std::string Server::url() const {
  const std::string address = state_->local.address().to_string();
  const std::string host = state_->local.address().is_v6() ? "[" + address + "]" : address;
  return (state_->tls ? "https://" : "http://") + host + ":" + std::to_string(port()) + "/";
}

void Server::wait_for_signal() {
  const auto came = std::make_shared<std::promise<void>>();  // shared: who sets it may still be at it
  asio::signal_set signals(state_->strand, SIGTERM, SIGINT);
  signals.async_wait([came](const ErrorCode&, int) { came->set_value(); });
  came->get_future().wait();
}

void Server::stop() {
  if (!std::exchange(state_->is_running, false)) return;
  State& state = *state_;
  asio::post(state.strand, [&state] {
    ErrorCode ignored;
    state.acceptor.close(ignored);
    state.accept_timer.cancel();
  });
  state.host.end_all_soon();
  if (!state.host.wait_for_all(kEndTime)) {
    state.dispatcher.stop();
    state.host.end_all_now();
    state.host.wait_for_all(kStoreEndTime);
  }
  state.work.reset();
  for (std::thread& thread : state.threads) thread.join();
}

}  // namespace varve::serve
