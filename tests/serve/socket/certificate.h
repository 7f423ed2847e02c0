// Owns: a key and a self-signed certificate, as PEM files in a directory that is removed with the object.
// Must never: be trusted outside of tests.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "tests/io/temporary_directory.h"

namespace varve::serve::test {

class Certificate {
 public:
  enum class Kind { kEllipticCurve, kRsa };

  explicit Certificate(Kind kind = Kind::kEllipticCurve) {
    constexpr std::size_t kRsaBits = 2048;
    EVP_PKEY* const key = kind == Kind::kRsa ? EVP_RSA_gen(kRsaBits) : EVP_EC_gen("P-256");
    X509* const certificate = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    write(key_path(),
          [&](std::FILE* file) { return PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr); });
    write(certificate_path(), [&](std::FILE* file) { return PEM_write_X509(file, certificate); });
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  std::string key_path() const { return directory_.path_of("key.pem"); }
  std::string certificate_path() const { return directory_.path_of("certificate.pem"); }

 private:
  template <typename Write>
  static void write(const std::string& path, Write to) {
    std::FILE* const file = std::fopen(path.c_str(), "w");
    if (file == nullptr || to(file) != 1) std::abort();
    std::fclose(file);
    std::filesystem::permissions(path, std::filesystem::perms(0600));
  }
  const io::TemporaryDirectory directory_;
};

}  // namespace varve::serve::test
