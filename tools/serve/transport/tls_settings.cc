#include "tools/serve/transport/tls_settings.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <openssl/ssl.h>

#include "tools/serve/transport/secret_file.h"

namespace varve::serve {
namespace {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;

/// The suites of TLS 1.2 with forward secrecy and authenticated encryption. All suites of TLS 1.3 that OpenSSL offers
/// by default have both.
constexpr const char* kSuites = "ECDHE+AESGCM:ECDHE+CHACHA20";

Status unusable(const std::string& what, const std::string& path, const std::string& why) {
  return Status::invalid_argument(what + " \"" + path + "\" cannot be used: " + why);
}

/// Returns a file's name for messages.
std::string named(const TlsFile& file, const std::string& what) {
  return file.place.empty() ? what : file.place + ": " + what;
}

}  // namespace

Result<std::unique_ptr<asio::ssl::context>> make_tls(const TlsFile& certificate, const TlsFile& key, bool asks) {
  if (certificate.path.empty() && key.path.empty()) return std::unique_ptr<asio::ssl::context>();
  const std::string the_certificate = named(certificate, "the certificate");
  const std::string the_key = named(key, "the private key");
  const Result<std::string> chain = read_public_file(the_certificate, certificate.path);
  if (!chain.ok()) return chain.status();
  const Result<std::string> secret = read_secret_file(the_key, key.path);
  if (!secret.ok()) return secret.status();
  auto tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  SSL_CTX* const native = (*tls).native_handle();
  if (::SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) != 1 || ::SSL_CTX_set_cipher_list(native, kSuites) != 1) {
    return Status::io_error("this OpenSSL provides none of the cipher suites that the server offers");
  }
  ::SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION);
  ErrorCode error;
  (*tls).use_certificate_chain(asio::buffer(*chain), error);
  if (error) return unusable(the_certificate, certificate.path, error.message());
  if (!asks) {
    ::SSL_CTX_set_default_passwd_cb(native, [](char*, int, int, void*) { return 0; });
  }
  (*tls).use_private_key(asio::buffer(*secret), asio::ssl::context::pem, error);
  if (error) return unusable(the_key, key.path, error.message());
  // A key of another type than the certificate's has not been compared with it so far.
  if (::SSL_CTX_check_private_key(native) != 1) {
    return unusable(the_key, key.path, "it is not the key of the certificate");
  }
  return tls;
}

}  // namespace varve::serve
