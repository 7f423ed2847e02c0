// Owns: what the connections of a server share: who answers, limits, and the list of those that are open.
// Must never: know how a connection speaks.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "api/rest/service/request_handler.h"
#include "tools/serve/transport/byte_budget.h"
#include "tools/serve/watch/connection_figures.h"

namespace varve::serve {

/// How much a client may take. All are checked before memory is given.
struct ConnectionLimits {
  std::size_t connections_max = 4096;
  std::size_t connections_per_address_max = 2048;
  std::uint32_t target_bytes_max = 32u << 10;
  std::uint32_t headers_max = 100;
  std::uint32_t header_bytes_max = 16u << 10;
  std::uint64_t body_bytes_max = 4u << 20;
  /// Bodies, unread answers and long headers of all connections together.
  std::uint64_t memory_max = std::uint64_t{256} << 20;
  /// Who finds no room in it waits so long before it is refused.
  std::chrono::milliseconds room_time_max{1'000};
  /// From the first byte of a request to the end of its headers; also of a TLS handshake.
  std::chrono::milliseconds header_time_max{10'000};
  /// Of bodies and answers, beside header_time_max.
  std::uint64_t bytes_per_second_min = 16u << 10;
  /// Between two requests.
  std::chrono::milliseconds idle_time_max{60'000};
};

/// What counts as one client's address: an IPv4 address, or the network of 64 bits that an IPv6 address is in, of which
/// one client has all.
std::string address_key(const std::string& client_ip);

/// A connection as its host sees it. All are called on any thread.
class OpenConnection {
 public:
  virtual ~OpenConnection() = default;
  /// Ends after the request at hand; at once where there is none.
  virtual void end_soon() = 0;
  /// A request that has not come in whole is refused; what was begun is still answered.
  virtual void end_unread() = 0;
  /// Ends now, whatever is under way.
  virtual void end_now() = 0;
};

/// Any thread.
class ConnectionHost {
 public:
  ConnectionHost(RequestHandler& handler, const ConnectionLimits& limits)
      : handler_(handler), limits_(limits), budget_(limits.memory_max) {}

  RequestHandler& handler() noexcept { return handler_; }
  const ConnectionLimits& limits() const noexcept { return limits_; }
  ByteBudget& budget() noexcept { return budget_; }

  /// `address` is an address_key(). False: there are too many, or the server is ending; then it must not begin.
  /// Throws std::bad_alloc; it was not added then.
  bool add(OpenConnection& connection, const std::string& address);
  void remove(OpenConnection& connection, const std::string& address);

  /// From now on none is added, and those that are there end soon.
  void end_all_soon();
  /// Those that have not read their request.
  void end_all_unread();
  /// Whether none was left before the time was over.
  bool wait_for_all(std::chrono::milliseconds time_max);
  void end_all_now();

  ConnectionFigures figures() const;

 private:
  RequestHandler& handler_;
  const ConnectionLimits limits_;
  ByteBudget budget_;
  mutable std::mutex mutex_;
  std::condition_variable none_left_;
  std::set<OpenConnection*> open_;
  std::map<std::string, std::size_t> of_address_;
  std::uint64_t accepted_ = 0;
  std::uint64_t refused_ = 0;
  bool is_ending_ = false;
};

}  // namespace varve::serve
