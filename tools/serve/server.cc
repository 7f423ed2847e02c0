#include "tools/serve/server.h"

#include <algorithm>
#include <functional>
#include <future>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "api/rest/blobs/blob_dispatcher.h"
#include "api/rest/encoding/present_time.h"
#include "api/rest/queues/queue_dispatcher.h"
#include "api/rest/service/table_dispatcher.h"
#include "tools/serve/analytics/analytics_worker.h"
#include "tools/serve/endpoints.h"
#include "tools/serve/listener_limits.h"
#include "tools/serve/local/operator_door.h"
#include "tools/serve/local/served_place.h"
#include "tools/serve/transport/connection.h"
#include "tools/serve/transport/descriptor_plan.h"
#include "tools/serve/transport/heartbeat.h"
#include "tools/serve/transport/listener.h"
#include "tools/serve/transport/log.h"
#include "tools/serve/transport/loops.h"
#include "tools/serve/transport/request_log.h"
#include "tools/serve/transport/tls_settings.h"
#include "tools/serve/watch/monitor.h"
#include "tools/varve/base/descriptor_limit.h"

namespace varve::serve {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using Tcp = asio::ip::tcp;

/// The time for requests to arrive completely and to be answered after the server began to end.
constexpr std::chrono::milliseconds kEndTime{1'000};
/// The time for the last answers. Before it begins, incomplete requests are refused and requests that wait in the store
/// are ended. After it all connections are closed.
constexpr std::chrono::milliseconds kLastAnswersTime{1'200};
/// The time for closing the listening sockets.
constexpr std::chrono::milliseconds kCloseTime{200};
/// The time for operations that the store has already begun. They end by themselves.
constexpr std::chrono::milliseconds kStoreEndTime{60'000};
/// The interval at which a server with more patience looks whether it shall hurry.
constexpr std::chrono::milliseconds kHurryTime{50};

Status refuse(std::string_view what) {
  return Status::invalid_argument(what);
}

/// Refuses to serve other machines without accounts of its own or without TLS.
Status check_exposure(const Tcp::endpoint& endpoint, const Accounts& accounts, bool has_tls) {
  if (endpoint.address().is_loopback()) return Status();
  if (accounts.empty()) return refuse("an address that other machines can reach needs accounts; give --account");
  if (!has_tls) return refuse("an address that other machines can reach needs TLS; give --tls-cert and --tls-key");
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
  return asked > 0 ? asked : std::max(std::thread::hardware_concurrency(), 2U);
}

using TcpListener = Listener<Tcp>;
using Local = asio::local::stream_protocol;
using LocalListener = Listener<Local>;

/// Returns whether the other end of a local socket belongs to this process's user or to root.
bool is_operator(int socket) noexcept {
  ucred other{};
  socklen_t size = sizeof(other);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) != 0) return false;
  return other.uid == ::geteuid() || other.uid == 0;
}

/// Returns the parts of the status page to show, or nothing if the page is off.
std::optional<PageRules> page_rules(StatusPageMode mode, bool is_local, bool is_development) {
  if (mode == StatusPageMode::kOff || (mode == StatusPageMode::kAuto && !is_local)) return std::nullopt;
  if (mode == StatusPageMode::kAuto) return PageRules{is_development, false};
  return PageRules{mode == StatusPageMode::kExplore, !is_local};
}

Result<std::unique_ptr<asio::ssl::context>> make_tls_of(const LiveOptions& options, bool asks) {
  return make_tls({options.tls_certificate, options.tls_certificate_place}, {options.tls_key, options.tls_key_place},
                  asks);
}

std::string url_of(const Tcp::endpoint& local, bool has_tls) {
  const std::string address = local.address().to_string();
  const std::string host = local.address().is_v6() ? "[" + address + "]" : address;
  return (has_tls ? "https://" : "http://") + host + ":" + std::to_string(local.port()) + "/";
}

std::vector<std::string> names_of(const Accounts& accounts) {
  std::vector<std::string> names;
  for (const auto& [name, keys] : accounts.all()) names.push_back(name);
  return names;
}

}  // namespace

struct Server::State {
  State(Store& served, std::shared_ptr<Keyring> keyring, const ListenOptions& options,
        const std::optional<PageRules>& rules, const DescriptorPlan& plan)
      : store(served),
        limits(options.limits),
        operator_connections(plan.operators),
        observed{store,
                 requests,
                 [this] { return main_host.figures(); },
                 [this] { return lost_log_lines() + lines.lost(); },
                 options.reloads,
                 std::chrono::steady_clock::now(),
                 [this] {
                   return AnalyticsFigures{analytics.lost_rows(), analytics.lost_entries()};
                 },
                 options.cluster},
        page(rules ? std::make_unique<StatusPage>(store, observed, names_of(keyring->accounts), *rules) : nullptr),
        tables(store, keyring, present_time, log_failure),
        queues(store, keyring, present_time, log_failure, options.dead_letters),
        blobs(store, keyring, present_time, log_failure, options.blob_options),
        analytics(store),
        front(tables, requests, page.get(), request_log(options), counted(StorageService::kTables)),
        queue_front(queues, requests, nullptr, request_log(options), counted(StorageService::kQueues)),
        blob_front(blobs, requests, nullptr, request_log(options), counted(StorageService::kBlobs)),
        monitor(observed),
        main_host(front, limits_within(options.limits, plan.connections)),
        queue_host(queue_front, main_host),
        blob_host(blob_front, main_host, true),
        watch_host(monitor, watch_limits(options.limits, plan.watch)),
        loops(thread_count(options.threads)),
        heartbeat(loops.all(), options.watchdog, options.alive),
        is_watched(options.watchdog.count() > 0) {
    analytics.add_accounts(names_of(keyring->accounts));
  }

  CountedService counted(StorageService service) {
    return {&analytics, service, [this] { follow_properties(); },
            [this] {
              if (worker) worker->write_soon();
            }};
  }
  void follow_properties() noexcept {
    if (worker) worker->wake();
  }

  RequestLog request_log(const LiveOptions& options) {
    return {options.request_log, options.log_format,
            [this](std::string_view line, LogFormat format) { lines.write(line, format); }};
  }

  Status begin(const Tcp::endpoint& endpoint, const ListenOptions& options) {
    tables.set_extensions(options.allows_extensions);
    if (Status listening = cannot_listen(endpoint, main.listen(endpoint, true)); !listening.ok()) return listening;
    if (options.queues) {
      if (Status listening = listen_beside(*options.queues, queue_listener, queue_host); !listening.ok())
        return listening;
    }
    if (options.blobs) {
      if (Status listening = listen_beside(*options.blobs, blob_listener, blob_host); !listening.ok()) return listening;
      tables.set_blob_port(blob_listener->local().port());
    }
    if (options.metrics) {
      if (Status listening = listen_beside(*options.metrics, watch, watch_host); !listening.ok()) return listening;
    }
    if (!options.operator_store.empty()) listen_for_operators(options.operator_store);
    asio::post(loops.first(), [this] { for_each_listener([](auto& listener, auto& /*host*/) { listener.accept(); }); });
    if (is_watched) heartbeat.resume();
    worker = std::make_unique<AnalyticsWorker>(analytics, present_time);
    Status started = loops.start([this] {
      for_each_listener([](auto& listener, auto& /*host*/) { listener.resume(); });
      if (is_watched) heartbeat.resume();
    });
    is_running = started.ok();
    if (!is_running) {
      asio::post(loops.first(), [this] { close_all(); });
      finish_loops();
    }
    if (is_running && options.allows_extensions) tables.resume_index_builds();
    return started;
  }
  Status listen_beside(const FurtherAddress& address, std::unique_ptr<TcpListener>& listener, ConnectionHost& host) {
    const Result<Tcp::endpoint> endpoint = endpoint_of(address.address, address.port);
    if (!endpoint.ok()) return endpoint.status();
    listener = std::make_unique<TcpListener>(
        loops.first(), next_loop(), [this, &host](TcpListener::Accepted socket) { serve(std::move(socket), host); });
    return cannot_listen(*endpoint, listener->listen(*endpoint, true));
  }
  void forget_properties(std::string_view account) {
    tables.forget_properties(account);
    queues.forget_properties(account);
    blobs.forget_properties(account);
  }
  /// Makes the socket in the store's directory. A server without this socket still serves its other clients.
  void listen_for_operators(const std::string& data) {
    Result<ServedPlace> made = ServedPlace::create(data);
    Status failed = made.status();
    if (made.ok()) {
      place.emplace(*std::move(made));
      door = std::make_unique<OperatorDoor>(store, (*place).identity(), (*place).path(), front,
                                            [this](std::string_view account) { forget_properties(account); });
      operator_host = std::make_unique<ConnectionHost>(*door, operator_limits(limits, operator_connections));
      operators = std::make_unique<LocalListener>(
          loops.first(), next_loop(), [this](LocalListener::Accepted socket) { serve_operator(std::move(socket)); });
      const ErrorCode error = operators->listen(Local::endpoint((*place).address()), false);
      failed = error ? Status::io_error("cannot listen: " + error.message()) : (*place).restrict_socket();
    }
    if (failed.ok()) return;
    operators.reset();
    place.reset();
    log_line("this server has no socket in the directory of the store, so `varve` cannot reach it there: " +
             failed.to_string());
  }
  std::function<asio::io_context&()> next_loop() {
    return [this]() -> asio::io_context& { return loops.next(); };
  }
  void serve(TcpListener::Accepted socket, ConnectionHost& host) {
    ErrorCode error;
    const Tcp::endpoint remote = socket.remote_endpoint(error);
    if (error) return;  // the client is gone already
    ClientAddress client{remote.address().to_string(), remote.port()};
    socket.set_option(Tcp::no_delay(true), error);
    if (tls && &host != &watch_host) {
      serve_tls(std::move(socket), std::move(client), host, *tls);
    } else {
      serve_plain(std::move(socket), std::move(client), host);
    }
  }
  void serve_operator(LocalListener::Accepted socket) {
    if (is_operator(socket.native_handle())) return serve_plain(std::move(socket), {"local"}, *operator_host);
    log_line("refused a client of the socket in the store's directory that belongs to another user");
  }
  template <typename Use>
  void for_each_listener(Use use) {
    use(main, main_host);
    if (queue_listener) use(*queue_listener, queue_host);
    if (blob_listener) use(*blob_listener, blob_host);
    if (watch) use(*watch, watch_host);
    if (operators) use(*operators, *operator_host);
  }
  void finish_loops() {
    asio::post(loops.first(), [this] { heartbeat.end(); });
    loops.finish();
  }
  void close_all() {
    for_each_listener([](auto& listener, ConnectionHost& host) {
      listener.close(host.limits().connections_max);
      host.end_all_soon();
    });
  }
  template <typename Use>
  void for_each_host(Use use) {
    for_each_listener([&use](auto& /*listener*/, ConnectionHost& host) { use(host); });
  }
  bool wait_for_connections(std::chrono::milliseconds time_max) {
    const auto deadline = std::chrono::steady_clock::now() + time_max;
    bool none_left = true;
    for_each_host([&](ConnectionHost& host) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      none_left = host.wait_for_all(std::max(left, std::chrono::milliseconds(0))) && none_left;
    });
    return none_left;
  }

  Store& store;
  const ConnectionLimits limits;
  const std::uint64_t operator_connections;
  RequestFigures requests;
  AsyncLines lines;
  Observed observed;
  std::unique_ptr<StatusPage> page;
  TableDispatcher tables;
  QueueDispatcher queues;
  BlobDispatcher blobs;
  Analytics analytics;
  Front front;
  Front queue_front;
  Front blob_front;
  Monitor monitor;
  ConnectionHost main_host;
  ConnectionHost queue_host;
  ConnectionHost blob_host;
  ConnectionHost watch_host;
  std::optional<ServedPlace> place;
  std::unique_ptr<OperatorDoor> door;
  std::unique_ptr<ConnectionHost> operator_host;
  std::unique_ptr<asio::ssl::context> tls;
  Loops loops;
  Heartbeat heartbeat;
  const bool is_watched;
  TcpListener main{loops.first(), next_loop(),
                   [this](TcpListener::Accepted socket) { serve(std::move(socket), main_host); }};
  std::unique_ptr<TcpListener> queue_listener;
  std::unique_ptr<TcpListener> blob_listener;
  std::unique_ptr<TcpListener> watch;
  std::unique_ptr<LocalListener> operators;
  std::unique_ptr<AnalyticsWorker> worker;
  bool is_running = false;
  bool is_development = false;
};

Server::Server(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

Result<std::unique_ptr<Server>> Server::start(Store& store, Accounts accounts, const ListenOptions& options) {
  const Result<Tcp::endpoint> endpoint = endpoint_of(options.address, options.port);
  if (!endpoint.ok()) return endpoint.status();
  Result<std::unique_ptr<asio::ssl::context>> tls = make_tls_of(options, true);
  if (!tls.ok()) return tls.status();
  if (Status exposed = check_exposure(*endpoint, accounts, *tls != nullptr); !exposed.ok()) return exposed;
  for (const std::optional<FurtherAddress>* further : {&options.queues, &options.blobs}) {
    if (!*further) continue;
    const Result<Tcp::endpoint> beside = endpoint_of((*further)->address, (*further)->port);
    if (!beside.ok()) return beside.status();
    if (Status exposed = check_exposure(*beside, accounts, *tls != nullptr); !exposed.ok()) return exposed;
  }
  const bool is_development = accounts.empty();
  if (is_development) {
    const Status added = accounts.add(std::string(kDevelopmentAccount) + ":" + std::string(kDevelopmentKey));
    if (!added.ok()) return added;
  }
  if (Status made = make_accounts(store, accounts); !made.ok()) return made;

  const Result<DescriptorPlan> plan = plan_descriptors(tool::descriptor_limit(), thread_count(options.threads));
  if (!plan.ok()) return plan.status();
  const bool is_local = endpoint->address().is_loopback();
  const std::optional<PageRules> rules = page_rules(options.status_page, is_local, is_development);
  try {
    auto state = std::make_unique<State>(store, std::make_shared<Keyring>(std::move(accounts)), options, rules, *plan);
    state->tls = *std::move(tls);
    state->is_development = is_development;
    if (Status begun = state->begin(*endpoint, options); !begun.ok()) return begun;
    return std::unique_ptr<Server>(new Server(std::move(state)));
  } catch (const boost::system::system_error& error) {  // thrown by a loop or a listener, which need descriptors
    return Status(Code::kTooManyFiles, error.what());
  }
}

Server::~Server() {
  stop();
}

std::uint16_t Server::port() const noexcept {
  return state_->main.local().port();
}

std::uint16_t Server::metrics_port() const noexcept {
  return state_->watch ? state_->watch->local().port() : std::uint16_t{0};
}

std::string Server::url() const {
  return url_of(state_->main.local(), state_->tls != nullptr);
}

std::string Server::queues_url() const {
  return state_->queue_listener ? url_of(state_->queue_listener->local(), state_->tls != nullptr) : std::string();
}

std::string Server::blobs_url() const {
  return state_->blob_listener ? url_of(state_->blob_listener->local(), state_->tls != nullptr) : std::string();
}

std::string Server::page_url() const {
  return state_->page ? url() + "_varve/" : std::string();
}

bool Server::is_development() const noexcept {
  return state_->is_development;
}

Status Server::reload(Accounts accounts, const LiveOptions& options) {
  State& state = *state_;
  if (accounts.empty() != state.is_development) {
    return refuse("accounts of its own and the development account replace each other only when the server starts");
  }
  Result<std::unique_ptr<asio::ssl::context>> made = make_tls_of(options, false);
  if (!made.ok()) return made.status();
  std::unique_ptr<asio::ssl::context>& tls = *made;
  if ((tls != nullptr) != (state.tls != nullptr)) {
    return refuse("TLS begins and ends only when the server starts");
  }
  try {
    std::shared_ptr<Keyring> keyring;
    std::vector<std::string> names;
    std::vector<std::string> added;
    if (!state.is_development) {
      if (Status created = make_accounts(state.store, accounts); !created.ok()) return created;
      names = names_of(accounts);
      added = names;
      keyring = std::make_shared<Keyring>(std::move(accounts));
    }
    const auto changed = std::make_shared<std::promise<void>>();  // shared, as in stop()
    // One handler on the thread that accepts connections. Nothing in it can fail.
    asio::post(state.loops.first(), [&, changed] {
      state.tls.swap(tls);
      if (keyring) {
        state.tables.replace_keys(keyring);
        state.queues.replace_keys(keyring);
        state.blobs.replace_keys(std::move(keyring));
        if (state.page) state.page->replace_accounts(std::move(names));
      }
      state.tables.set_extensions(options.allows_extensions);
      state.front.set_log(options.request_log, options.log_format);
      state.queue_front.set_log(options.request_log, options.log_format);
      state.blob_front.set_log(options.request_log, options.log_format);
      changed->set_value();
    });
    changed->get_future().wait();
    state.analytics.add_accounts(added);
    state.follow_properties();
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  }
  return Status();
}

void Server::stop(std::chrono::milliseconds patience, const std::function<bool()>& hurries) {
  if (!std::exchange(state_->is_running, false)) return;
  State& state = *state_;
  // shared, since the handler may still run when this function ends
  const auto closed = std::make_shared<std::promise<void>>();
  asio::post(state.loops.first(), [&state, closed] {
    state.close_all();
    closed->set_value();
  });
  if (closed->get_future().wait_for(kCloseTime) != std::future_status::ready) {
    state.for_each_host([](ConnectionHost& host) { host.end_all_soon(); });
  }
  bool none_left = state.wait_for_connections(kEndTime);
  for (; !none_left && patience > kHurryTime && !hurries(); patience -= kHurryTime) {
    none_left = state.wait_for_connections(kHurryTime);
  }
  if (!none_left) {
    state.for_each_host([](ConnectionHost& host) { host.end_all_unread(); });
    state.front.stop();
    state.queue_front.stop();
    state.blob_front.stop();
    if (state.door) state.door->stop();
    if (!state.wait_for_connections(kLastAnswersTime)) {
      state.for_each_host([](ConnectionHost& host) { host.end_all_now(); });
      state.wait_for_connections(kStoreEndTime);
    }
  }
  state.finish_loops();
  state.worker->finish();
  if (state.place) (*state.place).remove();
}

}  // namespace varve::serve
