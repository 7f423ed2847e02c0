// Owns: the ways to a store through a server (reach.h), in builds with the server.
// Must never: be compiled in a build without the server. no_server.cc is.
#include <utility>

#include "tools/varve/reach/held_checkpoint.h"
#include "tools/varve/reach/reach.h"
#include "tools/varve/reach/rest_access.h"
#include "tools/varve/reach/server_socket.h"
#include "tools/varve/reach/service_address.h"

namespace varve::tool {

std::unique_ptr<StoreAccess> access_through_server_of(const std::string& store) {
  std::shared_ptr<Wire> wire = find_server(store);
  return wire == nullptr ? nullptr : access_through(std::move(wire), RestPlace());
}

Result<std::unique_ptr<StoreAccess>> access_to_address(const std::string& address, const std::string& account,
                                                       StorageService service) {
  Result<ServiceAddress> place = service_address(address, account, service);
  if (!place.ok()) return place.status();
  Result<std::unique_ptr<Wire>> wire =
      Wire::to_address((*place).address, (*place).certificates, std::move((*place).sign), std::move((*place).judge));
  if (!wire.ok()) return wire.status();
  return access_through(*std::move(wire), {(*place).path, (*place).account});
}

Result<ServedCheckpoint> checkpoint_by_server_of(const std::string& store) {
  std::shared_ptr<Wire> wire = find_server(store);
  if (wire == nullptr) return ServedCheckpoint();
  Result<std::shared_ptr<HeldCheckpoint>> made = HeldCheckpoint::make(store, std::move(wire));
  if (!made.ok()) return made.status();
  return ServedCheckpoint{(*made)->path(), *made};
}

}  // namespace varve::tool
