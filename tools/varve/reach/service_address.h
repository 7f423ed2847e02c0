// Owns: the address of an account's service, and the key or signature that authenticates the program there.
// Must never: show a key or a signature, or need one on the command line.
#pragma once

#include <string>

#include "tools/varve/reach/wire.h"
#include "varve/service_properties.h"

namespace varve::tool {

struct ServiceAddress {
  /// The scheme, host and port.
  std::string address{};
  /// The path before the resource, as RestPlace::path.
  std::string path{};
  std::string account{};
  /// A file of certificate authorities, or empty.
  std::string certificates{};
  /// The signature that each request gets, or empty if a key signs the requests.
  std::string signature{};
  Wire::Sign sign{};
  /// Refuses answers of another service, and explains a refused key.
  Wire::Judge judge{};
};

/// Parses the address, and finds the key or signature: in the key file, in AZURE_STORAGE_CONNECTION_STRING, in
/// AZURE_STORAGE_KEY, in AZURE_STORAGE_SAS_TOKEN, or in the query of the address. On an address of this machine, the
/// development account has its public key. `account` counts where neither the address nor the connection string names
/// one. `service` decides what a key signs, and which server may answer. Errors: kInvalidArgument (no address; a malformed connection string; another account; no key), and those of
/// the key file.
Result<ServiceAddress> service_address(const std::string& text, const std::string& account,
                                       StorageService service = StorageService::kTables);

}  // namespace varve::tool
