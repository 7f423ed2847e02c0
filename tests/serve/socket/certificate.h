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
#include <openssl/x509v3.h>

#include "tests/io/temporary_directory.h"

namespace varve::serve::test {

class Certificate {
 public:
  enum class Kind { kEllipticCurve, kRsa };

  /// `names` are those of the server, such as "IP:127.0.0.1,DNS:localhost".
  explicit Certificate(Kind kind = Kind::kEllipticCurve, const std::string& names = "IP:127.0.0.1,DNS:localhost") {
    constexpr std::size_t kRsaBits = 2048;
    EVP_PKEY* const key = kind == Kind::kRsa ? EVP_RSA_gen(kRsaBits) : EVP_EC_gen("P-256");
    X509* const certificate = X509_new();
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_set_version(certificate, X509_VERSION_3);  // others have no extensions
    X509_NAME* const subject = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
    X509_set_issuer_name(certificate, subject);  // it is its own authority
    add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(certificate, NID_subject_alt_name, names);
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
  static void add_extension(X509* certificate, int id, const std::string& value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, id, value.c_str());
    if (extension == nullptr || X509_add_ext(certificate, extension, -1) != 1) std::abort();
    X509_EXTENSION_free(extension);
  }
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
