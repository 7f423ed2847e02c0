// Owns: the parts that the connections of a listener share: the request handler, limits, and the list of open
// connections.
// Must never: know a connection's protocol.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "api/rest/service/request_handler.h"
#include "tools/serve/transport/byte_budget.h"
#include "tools/serve/watch/connection_figures.h"

namespace varve::serve {

/// The limits for clients. The server checks each limit before it allocates memory.
struct ConnectionLimits {
  std::size_t connections_max = 4096;
  std::size_t connections_per_address_max = 2048;
  std::uint32_t target_bytes_max = 32u << 10;
  std::uint32_t headers_max = 100;
  std::uint32_t header_bytes_max = 16u << 10;
  std::uint64_t body_bytes_max = 4u << 20;
  /// The most bytes of bodies, unread answers and long headers of all connections together.
  std::uint64_t memory_max = std::uint64_t{256} << 20;
  /// The time that a request waits for room in `memory_max` before it is refused.
  std::chrono::milliseconds room_time_max{1'000};
  /// The time from the first byte of a request to the end of its headers. Also the time of a TLS handshake.
  std::chrono::milliseconds header_time_max{10'000};
  /// The minimum rate of bodies and answers, in bytes per second. Their time is added to header_time_max.
  std::uint64_t bytes_per_second_min = 16u << 10;
  /// The most time between two requests.
  std::chrono::milliseconds idle_time_max{60'000};
};

/// Returns the key of a client's address: an IPv4 address, or the 64-bit network of an IPv6 address. One client can use
/// all addresses of such a network.
std::string address_key(const std::string& client_ip);

/// A connection as its host uses it. Any thread may call the functions.
class OpenConnection {
 public:
  virtual ~OpenConnection() = default;
  /// Ends the connection after the present request. Ends it at once if there is none.
  virtual void end_soon() = 0;
  /// Refuses a request that has not arrived completely. A request that has begun is still answered.
  virtual void end_unread() = 0;
  /// Ends the connection at once, in any state.
  virtual void end_now() = 0;
};

/// Can be used by any thread.
class ConnectionHost {
 public:
  ConnectionHost(RequestHandler& handler, const ConnectionLimits& limits)
      : handler_(handler), shared_(std::make_shared<Shared>(limits)) {}
  /// Makes a host for another handler. Its connections count with those of `other`, under the same limits and budget.
  /// With `allows_pieces` the handler may read bodies piece by piece. Such a body has no limit here; the handler has one.
  ConnectionHost(RequestHandler& handler, const ConnectionHost& other, bool allows_pieces = false)
      : handler_(handler), shared_(other.shared_), allows_pieces_(allows_pieces) {}

  RequestHandler& handler() noexcept { return handler_; }
  const ConnectionLimits& limits() const noexcept { return shared_->limits; }
  bool allows_pieces() const noexcept { return allows_pieces_; }
  ByteBudget& budget() noexcept { return shared_->budget; }

  /// Adds a connection. `address` is an address_key(). Returns false if there are too many connections or the server is
  /// ending. In that case the connection must not begin. Throws std::bad_alloc, and then did not add the connection.
  bool add(OpenConnection& connection, const std::string& address);
  void remove(OpenConnection& connection, const std::string& address);
  /// Puts a connection in the place of another one, which serves the same client. Calls `hand_over` before. No
  /// connection is ended meanwhile. Returns false, and calls nothing, if the server is ending. If `hand_over` throws, the
  /// connection keeps its place.
  template <typename HandOver>
  bool replace(OpenConnection& connection, OpenConnection& by, HandOver hand_over) {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->is_ending) return false;
    hand_over();
    put_in_place(connection, by);
    return true;
  }

  // The functions below concern the connections of all hosts that share the limits.

  /// Refuses new connections from now on, and ends the open ones soon.
  void end_all_soon();
  /// Ends the connections whose request has not arrived completely.
  void end_all_unread();
  /// Waits until no connection is left. Returns false if the time passed first.
  bool wait_for_all(std::chrono::milliseconds time_max);
  void end_all_now();

  ConnectionFigures figures() const;

 private:
  void put_in_place(OpenConnection& connection, OpenConnection& by) noexcept;

  struct Shared {
    explicit Shared(const ConnectionLimits& given) : limits(given), budget(given.memory_max) {}

    const ConnectionLimits limits;
    ByteBudget budget;
    std::mutex mutex;
    std::condition_variable none_left;
    std::set<OpenConnection*> open;
    std::map<std::string, std::size_t> of_address;
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;
    bool is_ending = false;
  };

  RequestHandler& handler_;
  const std::shared_ptr<Shared> shared_;
  const bool allows_pieces_ = false;
};

}  // namespace varve::serve
