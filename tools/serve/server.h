// Owns: a running server: its threads, its listening sockets, its beginning and end.
// Must never: know what a request means, or own the store.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "api/rest/service/accounts.h"
#include "tools/serve/front.h"
#include "tools/serve/transport/connection_host.h"
#include "varve/result.h"
#include "varve/store.h"

namespace varve::serve {

/// Who sees the status page at /_varve/, and what of it.
enum class StatusPageMode : std::uint8_t {
  /// On an address of this machine alone; with a look into tables where the account is the development account, of
  /// which everybody has the key.
  kAuto,
  kOff,
  /// Figures, to whoever reaches the address.
  kFigures,
  /// Figures as above, and a look into all tables for whoever is at this machine, without a key.
  kExplore,
};

/// Where the metrics are.
struct MetricsAddress {
  std::string address = "127.0.0.1";
  /// 0: one that is free.
  std::uint16_t port = 0;
};

struct ListenOptions {
  /// An IP address.
  std::string address = "127.0.0.1";
  /// 0: one that is free.
  std::uint16_t port = 10002;
  /// PEM files; both or none. Required unless the address is of this machine alone.
  std::string tls_certificate{};
  std::string tls_key{};
  /// That read requests and write answers; 0 is as many as the machine has.
  unsigned threads = 0;
  ConnectionLimits limits{};
  /// A listener of its own, without TLS, for /metrics and /health.
  std::optional<MetricsAddress> metrics{};
  StatusPageMode status_page = StatusPageMode::kAuto;
  RequestLogLevel request_log = RequestLogLevel::kOff;
};

class Server {
 public:
  /// Listens, and serves until stop(). Accounts that the store lacks are made. Without an account, and only on an
  /// address of this machine alone, it is the development account with its public key. Errors: kInvalidArgument (no
  /// account, no TLS, or no IP address; the certificate or key cannot be used), kIoError (the address cannot be
  /// listened on), kTooManyFiles (the process may have too few files open; the message names the number),
  /// kOutOfMemory, those of Store::create_account(). Connections are no more than the process's limit of open files
  /// leaves room for, the store and those who watch having had their part first (descriptor_plan.h).
  static Result<std::unique_ptr<Server>> start(Store& store, Accounts accounts, const ListenOptions& options);
  /// stop(), if that was not called.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const noexcept;
  /// Zero without metrics.
  std::uint16_t metrics_port() const noexcept;
  /// `http://127.0.0.1:10002/`.
  std::string url() const;
  /// Empty where there is no status page.
  std::string page_url() const;

  /// Takes no more connections, answers the requests that are there, refuses those that do not come in whole, and ends
  /// within two and a half seconds, if the store does. Once.
  void stop();

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace varve::serve
