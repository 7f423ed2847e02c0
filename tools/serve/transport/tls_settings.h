// Owns: how the server speaks TLS, and the files that it takes for that.
// Must never: offer a suite without forward secrecy and authenticated encryption.
#pragma once

#include <memory>
#include <string>

#include "varve/result.h"

namespace boost::asio::ssl {
class context;
}

namespace varve::serve {

/// Of PEM files; null where both are empty. Errors: kInvalidArgument: a file is not there or of no use, or the key's is
/// open to everybody.
Result<std::unique_ptr<boost::asio::ssl::context>> make_tls(const std::string& certificate, const std::string& key);

}  // namespace varve::serve
