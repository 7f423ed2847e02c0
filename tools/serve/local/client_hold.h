// Owns: what the server keeps for a client of the local socket until the client's connection ends.
// Must never: outlive the connection.
#pragma once

#include <memory>
#include <utility>

#include "api/rest/protocol/message.h"

namespace varve::serve {

/// An object for one client: a checkpoint, or contents that arrive. The end of the connection destroys it, and so does
/// the next object that is kept.
class ClientHold {
 public:
  ClientHold() = default;
  ClientHold(const ClientHold&) = delete;
  ClientHold& operator=(const ClientHold&) = delete;
  virtual ~ClientHold() = default;
};

/// Keeps an object for the connection of the request, which has a place for it.
inline void keep_for_client(const HttpRequest& request, std::shared_ptr<ClientHold> hold) {
  *request.kept = std::move(hold);
}

/// Returns the kept object if it is a `Kind`, or null.
template <typename Kind>
std::shared_ptr<Kind> kept_for_client(const HttpRequest& request) {
  if (request.kept == nullptr) return nullptr;
  return std::dynamic_pointer_cast<Kind>(std::static_pointer_cast<ClientHold>(*request.kept));
}

}  // namespace varve::serve
