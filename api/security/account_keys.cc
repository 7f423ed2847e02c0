// Owns: HMAC-SHA256 with account keys (account_keys.h).
// Must never: leave a key in memory that was given back.
#include "api/security/account_keys.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "api/guarded.h"
#include "api/security/base64.h"
#include "api/service_error.h"

namespace varve::security {
namespace {

constexpr std::size_t kKeyBytesMax = 1024;
constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kSignatureCharacters = 44;

using Key = std::string;

Result<Key> decode_key(std::string_view text) {
  std::optional<std::string> key = decode_base64(text);
  if (key && !key->empty() && key->size() <= kKeyBytesMax) return *std::move(key);
  return service_error::invalid_input("an account key is not base64 of 1 to 1024 bytes");
}

/// The signature, or nothing if OpenSSL fails.
std::optional<std::string> signature_of(const Key& key, std::string_view message) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int bytes = 0;
  const auto* const text = reinterpret_cast<const unsigned char*>(message.data());
  const unsigned char* const made =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), text, message.size(), digest.data(), &bytes);
  if (made == nullptr || bytes != kDigestBytes) return std::nullopt;
  return encode_base64(std::string_view(reinterpret_cast<const char*>(digest.data()), kDigestBytes));
}

}  // namespace

struct AccountKeys::Secrets {
  ~Secrets() {
    for (Key& key : keys) OPENSSL_cleanse(key.data(), key.size());
  }
  std::vector<Key> keys;  // one or two
};

AccountKeys::AccountKeys(std::shared_ptr<const Secrets> secrets) noexcept : secrets_(std::move(secrets)) {}

Result<AccountKeys> AccountKeys::create(std::string_view primary, std::string_view secondary) {
  return guarded([&]() -> Result<AccountKeys> {
    const auto secrets = std::make_shared<Secrets>();
    secrets->keys.reserve(2);
    Result<Key> first = decode_key(primary);
    if (!first.ok()) return first.status();
    secrets->keys.push_back(*std::move(first));
    if (!secondary.empty()) {
      Result<Key> second = decode_key(secondary);
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
    if (!signature) return Status(Code::kOutOfMemory, "OpenSSL could not make an HMAC");
    return *std::move(signature);
  });
}

bool AccountKeys::verify(std::string_view message, std::string_view signature) const {
  if (signature.size() != kSignatureCharacters) return false;
  bool valid = false;
  for (const Key& key : secrets_->keys) {
    const std::optional<std::string> expected = signature_of(key, message);
    if (!expected || expected->size() != kSignatureCharacters) continue;
    const bool equal = CRYPTO_memcmp(expected->data(), signature.data(), kSignatureCharacters) == 0;
    valid = valid || equal;
  }
  return valid;
}

}  // namespace varve::security
