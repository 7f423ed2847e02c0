// Owns: the server's TLS settings, and reading its certificate and key files.
// Must never: offer a suite without forward secrecy and authenticated encryption.
#pragma once

#include <memory>
#include <string>

#include "varve/result.h"

namespace boost::asio::ssl {
class context;
}

namespace varve::serve {

/// Returns a context made from PEM files, or null if both paths are empty. Errors: kInvalidArgument: a file does not
/// exist or cannot be used, or the key file is accessible to every user.
Result<std::unique_ptr<boost::asio::ssl::context>> make_tls(const std::string& certificate, const std::string& key);

}  // namespace varve::serve
