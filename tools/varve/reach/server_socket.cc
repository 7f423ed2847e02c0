#include "tools/varve/reach/server_socket.h"

#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/serve/local/served_place.h"
#include "tools/serve/local/store_identity.h"
#include "tools/varve/base/owned_descriptor.h"
#include "tools/varve/reach/rest_answer.h"

namespace varve::tool {
namespace {

/// A server that does not answer within this time is taken for none.
constexpr std::chrono::seconds kHandshakeTime{10};
/// The pause before the next try to reach a server that has as many connections as it allows.
constexpr std::chrono::milliseconds kBusyPause{20};

/// Returns whether the other end of the socket belongs to the user who owns the store's directory, or to root.
bool is_of_owner(int socket, const struct stat& directory) {
  ucred other{};
  socklen_t size = sizeof(other);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) != 0) return false;
  return other.uid == directory.st_uid || other.uid == 0;
}

enum class Found : std::uint8_t {
  kServer,  // of the same store
  kNone,    // no server listens, or one of another store
  kBusy,    // a server closed the connection without an answer, because it has as many as it allows
};

/// Asks the server for its store.
Found ask(Wire& wire, const std::string& identity) {
  const Result<serve::HttpResponse> response = wire.send(request_to("GET", "/_varve/store"), kHandshakeTime);
  if (!response.ok()) return wire.has_reached_server() ? Found::kBusy : Found::kNone;
  if (!status_of(*response).ok()) return Found::kNone;
  const auto json = nlohmann::json::parse((*response).body, nullptr, false);
  return json.is_object() && json.value("store", nlohmann::json()) == identity ? Found::kServer : Found::kNone;
}

/// Tries once to reach the server of a store. Sets `found`.
std::shared_ptr<Wire> try_to_find(const std::string& store, Found& found) {
  found = Found::kNone;
  const OwnedDescriptor directory(::open(store.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.number() < 0) return nullptr;
  const Result<std::string> identity = serve::store_identity(directory.number());
  OwnedDescriptor served(
      ::openat(directory.number(), serve::kServedName, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat about {};
  if (!identity.ok() || !served.is_open() || ::fstat(served.number(), &about) != 0) return nullptr;
  const std::string address = serve::socket_address(served.number());
  Result<std::unique_ptr<Wire>> wire =
      Wire::to_socket(address, std::move(served), [identity = *identity](serve::HttpRequest& request) {
        request.head.headers.emplace_back(serve::kStoreHeader, identity);
        return Status();
      });
  if (!wire.ok()) return nullptr;
  found = ask(**wire, *identity);
  if (found != Found::kServer || !is_of_owner((*wire)->socket(), about)) return nullptr;
  return *std::move(wire);
}

}  // namespace

std::shared_ptr<Wire> find_server(const std::string& store) {
  const auto end = std::chrono::steady_clock::now() + kHandshakeTime;
  for (;;) {
    Found found = Found::kNone;
    std::shared_ptr<Wire> wire = try_to_find(store, found);
    if (found != Found::kBusy || std::chrono::steady_clock::now() >= end) return wire;
    std::this_thread::sleep_for(kBusyPause);
  }
}

}  // namespace varve::tool
