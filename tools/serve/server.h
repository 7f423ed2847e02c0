// Owns: a running server: its threads, its listening sockets, its start and end.
// Must never: know the meaning of a request, or own the store.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/rest/blobs/blob_call.h"
#include "api/rest/queues/queue_call.h"
#include "api/rest/service/accounts.h"
#include "tools/serve/front.h"
#include "tools/serve/transport/connection_host.h"
#include "tools/serve/watch/reload_figures.h"
#include "varve/rados.h"
#include "varve/result.h"
#include "varve/store.h"

namespace varve::serve {

/// The audience of the status page at /_varve/, and the parts that it shows.
enum class StatusPageMode : std::uint8_t {
  /// Shows the page only on an address of this machine. Shows tables only if the account is the development account,
  /// whose key is public.
  kAuto,
  kOff,
  /// Shows figures to every client that reaches the address.
  kFigures,
  /// Shows figures as above, and all tables without a key to every user of this machine.
  kExplore,
};

/// The address of a further listener.
struct FurtherAddress {
  /// An IP address.
  std::string address = "127.0.0.1";
  /// The port. 0: any free port.
  std::uint16_t port = 0;
};

/// The options that a running server can take over, beside its accounts.
struct LiveOptions {
  /// PEM files: both or none. Required unless the address belongs to this machine alone.
  std::string tls_certificate{};
  std::string tls_key{};
  /// The places of both options in the configuration file, for messages. May be empty.
  std::string tls_certificate_place{};
  std::string tls_key_place{};
  /// Whether clients may use filters with conditions that the table service lacks.
  bool allows_extensions = false;
  RequestLogLevel request_log = RequestLogLevel::kOff;
  /// The form of the lines of the request log.
  LogFormat log_format = LogFormat::kText;
};

struct ListenOptions : LiveOptions {
  /// An IP address.
  std::string address = "127.0.0.1";
  /// The port. 0: any free port.
  std::uint16_t port = 10002;
  /// The threads that read requests and write answers. 0: the number of the machine's cores.
  unsigned threads = 0;
  ConnectionLimits limits{};
  /// The address of the queue service, with the same accounts, TLS and limits. Absent: there is no such service.
  std::optional<FurtherAddress> queues{};
  /// The address of the blob service, as `queues`. Absent: there is no such service.
  std::optional<FurtherAddress> blobs{};
  BlobServiceOptions blob_options{};
  /// What happens to messages of queues that were delivered too often.
  std::vector<DeadLetterRule> dead_letters{};
  /// The address of a separate listener without TLS for /metrics and /health.
  std::optional<FurtherAddress> metrics{};
  /// The directory of the store. The server makes a socket there, which only the owner of the directory and root can
  /// use, and which needs no key. Empty: no socket.
  std::string operator_store{};
  StatusPageMode status_page = StatusPageMode::kAuto;
  /// The time after which a watchdog takes a silent server for hung. 0: there is no watchdog.
  std::chrono::microseconds watchdog{0};
  /// Called on a thread of the server at least twice in `watchdog`, while all threads of connections work. Must not
  /// throw.
  std::function<void()> alive{};
  /// The figures of reloads for the metrics. Must outlive the server. Null: there are none.
  const ReloadFigures* reloads = nullptr;
  /// Returns the figures of the connection to the store's cluster. Null: the store lies on this machine.
  std::function<Result<RadosFigures>()> cluster{};
};

class Server {
 public:
  /// Listens, and serves until stop(). Creates the accounts that the store lacks. If there is no account, and the
  /// address is of this machine alone, it serves the development account with its public key. The connections fit into
  /// the process's limit of open files, after the parts of the store and of monitoring (descriptor_plan.h). Errors:
  /// - kInvalidArgument: no account, no TLS, or no IP address, for one of the services; the certificate or key cannot be
  ///   used.
  /// - kIoError: the server cannot listen on the address.
  /// - kTooManyFiles: the process's limit of open files is too small. The message names the required number.
  /// - kOutOfMemory, and the errors of Store::create_account().
  static Result<std::unique_ptr<Server>> start(Store& store, Accounts accounts, const ListenOptions& options);
  /// Calls stop(), if the caller did not.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const noexcept;
  /// Returns zero if there are no metrics.
  std::uint16_t metrics_port() const noexcept;
  /// Returns a URL such as `http://127.0.0.1:10002/`.
  std::string url() const;
  /// Returns the URL of the queue service, or an empty text if there is no such service.
  std::string queues_url() const;
  /// Returns the URL of the blob service, or an empty text if there is no such service.
  std::string blobs_url() const;
  /// Returns an empty text if there is no status page.
  std::string page_url() const;

  /// Returns whether the server has the development account alone, because it was started without accounts.
  bool is_development() const noexcept;

  /// Replaces the accounts, the certificate and the request log at one moment. Requests that begin later, also on open
  /// connections, know only the new keys. Connections that begin later get the new certificate. `accounts` must not be
  /// empty unless the server has the development account, which then stays. Called by one thread at a time.
  /// Errors: as start(). After an error nothing has changed, except that new accounts may exist in the store.
  Status reload(Accounts accounts, const LiveOptions& options);

  /// Refuses new connections, answers pending requests, and refuses requests that do not arrive completely. Ends within
  /// 2.5 s, if the store ends its work in time. Incomplete requests and requests that wait in the store get `patience`
  /// in addition, until `hurries` returns true. Called once.
  void stop(
      std::chrono::milliseconds patience = std::chrono::milliseconds(0),
      const std::function<bool()>& hurries = [] { return false; });

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace varve::serve
