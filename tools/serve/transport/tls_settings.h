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

/// A file that an option names.
struct TlsFile {
  std::string path;
  /// The place of the option in the configuration file, such as `serve.toml:3`, for messages. May be empty.
  std::string place{};
};

/// Returns a context made from PEM files, or null if both paths are empty. Errors: kInvalidArgument: a file does not
/// exist or cannot be used, the key is not that of the certificate, or the key file is accessible to every user. If
/// `asks` is true, OpenSSL asks at the terminal for the pass phrase of an encrypted key. Otherwise that is an error.
Result<std::unique_ptr<boost::asio::ssl::context>> make_tls(const TlsFile& certificate, const TlsFile& key, bool asks);

}  // namespace varve::serve
