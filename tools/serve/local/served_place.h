// Owns: the directory SERVED in a store's directory, while a server holds the store: its socket, and the checkpoints of
// its clients.
// Must never: exist with other rights than its owner's, or be changed by a process that does not hold the store's lock.
#pragma once

#include <string>

#include "varve/result.h"

namespace varve::serve {

inline constexpr const char* kServedName = "SERVED";
inline constexpr const char* kSocketName = "SOCKET";

/// The longest name of a socket as an address. A path through /proc is short, whatever the path of the store.
std::string socket_address(int served_directory);

/// Removes what a server that was killed left in the directory of a store. Only for a process that holds the store's
/// lock. Does nothing if nothing is left.
void remove_served(const std::string& store);

class ServedPlace {
 public:
  /// Makes the directory anew. The caller holds the store's lock, so everything in an older directory was left by a
  /// server that is gone. `store` is the store's directory.
  /// Errors: kIoError, kNoSpace; kCorruption, as store_identity().
  static Result<ServedPlace> create(const std::string& store);
  ~ServedPlace();
  ServedPlace(ServedPlace&& other) noexcept;
  ServedPlace& operator=(ServedPlace&&) = delete;

  /// Returns the address to bind the socket to.
  std::string address() const { return socket_address(descriptor_); }
  /// Returns the identity of the store (store_identity.h).
  const std::string& identity() const noexcept { return identity_; }
  /// Returns the path of a checkpoint with this name.
  std::string checkpoint_path(const std::string& name) const { return path_ + "/" + name; }

  /// Removes the directory with its content.
  void remove() noexcept;

 private:
  ServedPlace(std::string store, std::string identity, int descriptor);

  std::string store_;
  std::string path_;
  std::string identity_;
  int descriptor_;
};

}  // namespace varve::serve
