// Owns: the text by which a client and a server agree that they mean the same store.
// Must never: be equal for a store and its copy, which has the same id in another directory.
#pragma once

#include <string>

#include "varve/result.h"

namespace varve::serve {

/// Returns the id of the store in the open directory `descriptor`, and the device and inode of that directory. The
/// descriptor may be of any mode. Errors: kNotFound (no CURRENT), kCorruption (CURRENT is damaged), kUnsupported,
/// kIoError.
Result<std::string> store_identity(int descriptor);

/// Returns the id of the store in a directory, as 32 hexadecimal digits. Errors: as above.
Result<std::string> store_id_in(const std::string& directory);

/// The header of each request at the socket, with the identity of the store that the client means.
inline constexpr const char* kStoreHeader = "x-varve-store";

}  // namespace varve::serve
