// Owns: the address of a table service, and the key or signature that authenticates the program there.
// Must never: show a key or a signature, or need one on the command line.
#pragma once

#include <string>

#include "tools/varve/reach/wire.h"

namespace varve::tool {

struct ServiceAddress {
  /// The scheme, host and port.
  std::string address{};
  /// The path before the resource, as RestPlace::path.
  std::string path{};
  std::string account{};
  /// A file of certificate authorities, or empty.
  std::string certificates{};
  Wire::Sign sign{};
};

/// Sets the file that has the key, signature or connection string. It counts instead of the environment.
void set_key_file(const std::string& file);
/// Sets the PEM file of the authorities that may have signed the certificate of the server.
void set_certificates(const std::string& file);

/// Parses the address, and finds the key or signature: in the key file, in AZURE_STORAGE_CONNECTION_STRING, in
/// AZURE_STORAGE_KEY, in AZURE_STORAGE_SAS_TOKEN, or in the query of the address. On an address of this machine, the
/// development account has its public key. `account` counts where neither the address nor the connection string names
/// one. Errors: kInvalidArgument (no address; a malformed connection string; another account; no key), and those of
/// the key file.
Result<ServiceAddress> service_address(const std::string& text, const std::string& account);

}  // namespace varve::tool
