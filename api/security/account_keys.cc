// Owns: HMAC-SHA256 with account keys (account_keys.h).
// Must never: leave a key in memory after its last use.
#include "varve/security/account_keys.h"

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "api/model/base64.h"
#include "api/model/guarded.h"
#include "api/model/service_error.h"

namespace varve::security {
namespace {

constexpr std::size_t kKeyBytesMax = 1024;
constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kSignatureCharacters = 44;

struct FreeMac {
  void operator()(EVP_MAC* mac) const noexcept { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const noexcept { EVP_MAC_CTX_free(context); }
};
using Mac = std::unique_ptr<EVP_MAC, FreeMac>;
/// An HMAC that has its key and no message yet. It overwrites the key when it is freed.
using Keyed = std::unique_ptr<EVP_MAC_CTX, FreeMac>;

Status openssl_failed() {
  return Status(Code::kOutOfMemory, "OpenSSL could not compute an HMAC");
}

/// Finding the algorithm and setting the key costs more than signing a message, so both are done once.
Result<Keyed> keyed(std::string_view key) {
  const Mac mac(EVP_MAC_fetch(nullptr, "HMAC", nullptr));
  if (!mac) return openssl_failed();
  Keyed context(EVP_MAC_CTX_new(mac.get()));
  std::string digest = "SHA256";
  const std::array<OSSL_PARAM, 2> parameters = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0), OSSL_PARAM_construct_end()};
  const auto* const bytes = reinterpret_cast<const unsigned char*>(key.data());
  if (!context || EVP_MAC_init(context.get(), bytes, key.size(), parameters.data()) != 1) return openssl_failed();
  return context;
}

Result<Keyed> decode_key(std::string_view text) {
  std::optional<std::string> key = decode_base64(text);
  if (!key || key->empty() || key->size() > kKeyBytesMax) {
    return service_error::invalid_input("an account key must be base64 of 1 to 1024 bytes");
  }
  Result<Keyed> context = keyed(*key);
  OPENSSL_cleanse(key->data(), key->size());
  return context;
}

/// Returns the signature, or nothing if OpenSSL fails.
std::optional<std::string> signature_of(const Keyed& key, std::string_view message) {
  const Keyed context(EVP_MAC_CTX_dup(key.get()));
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  std::size_t bytes = 0;
  const auto* const text = reinterpret_cast<const unsigned char*>(message.data());
  const bool is_made = context && EVP_MAC_update(context.get(), text, message.size()) == 1 &&
                       EVP_MAC_final(context.get(), digest.data(), &bytes, digest.size()) == 1;
  if (!is_made || bytes != kDigestBytes) return std::nullopt;
  return encode_base64(std::string_view(reinterpret_cast<const char*>(digest.data()), kDigestBytes));
}

}  // namespace

struct AccountKeys::Secrets {
  std::vector<Keyed> keys;  // one or two
};

AccountKeys::AccountKeys(std::shared_ptr<const Secrets> secrets) noexcept : secrets_(std::move(secrets)) {}

Result<AccountKeys> AccountKeys::create(std::string_view primary, std::string_view secondary) {
  return guarded([&]() -> Result<AccountKeys> {
    const auto secrets = std::make_shared<Secrets>();
    secrets->keys.reserve(2);
    Result<Keyed> first = decode_key(primary);
    if (!first.ok()) return first.status();
    secrets->keys.push_back(*std::move(first));
    if (!secondary.empty()) {
      Result<Keyed> second = decode_key(secondary);
      if (!second.ok()) return second.status();
      secrets->keys.push_back(*std::move(second));
    }
    return AccountKeys(secrets);
  });
}

Result<std::string> AccountKeys::sign(std::string_view message, KeyChoice choice) const {
  return guarded([&]() -> Result<std::string> {
    const auto place = static_cast<std::size_t>(choice);
    if (place >= secrets_->keys.size()) return Status::not_found("the account has no secondary key");
    std::optional<std::string> signature = signature_of(secrets_->keys[place], message);
    if (!signature) return openssl_failed();
    return *std::move(signature);
  });
}

bool AccountKeys::verify(std::string_view message, std::string_view signature) const {
  if (signature.size() != kSignatureCharacters) return false;
  bool valid = false;
  for (const Keyed& key : secrets_->keys) {
    const std::optional<std::string> expected = signature_of(key, message);
    if (!expected || expected->size() != kSignatureCharacters) continue;
    const bool equal = CRYPTO_memcmp(expected->data(), signature.data(), kSignatureCharacters) == 0;
    valid = valid || equal;
  }
  return valid;
}

}  // namespace varve::security
