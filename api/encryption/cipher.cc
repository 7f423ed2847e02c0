// Owns: the OpenSSL calls of the ciphers.
#include "api/encryption/cipher.h"

#include <array>
#include <cassert>
#include <memory>

#include <openssl/err.h>
#include <openssl/evp.h>

#include "api/encryption/unsigned_bytes.h"

namespace varve {
namespace {

struct ContextFree {
  void operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }
  void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, ContextFree>;
using HashContext = std::unique_ptr<EVP_MD_CTX, ContextFree>;

constexpr std::size_t kValueBytesMax = 16 * 1'048'576;
constexpr std::size_t kBlockBytes = 16;

Status no_cipher() noexcept {
  ERR_clear_error();
  return Status::unsupported("this OpenSSL does not provide the cipher");
}
Status not_authentic(std::string_view message) noexcept {
  ERR_clear_error();
  return Status::corruption(message);
}
Status check_size(std::size_t bytes) {
  if (bytes <= kValueBytesMax) return {};
  return Status::too_large("a value to encrypt has " + std::to_string(bytes) + " bytes; at most 16777216 are allowed");
}

CipherContext begin(const EVP_CIPHER* cipher, const SecretBytes& key, std::string_view iv, bool encrypt) {
  assert(key.size() == kContentKeyBytes);
  CipherContext context(EVP_CIPHER_CTX_new());
  if (!context ||
      EVP_CipherInit_ex(context.get(), cipher, nullptr, key.bytes().data(), unsigned_bytes(iv), encrypt ? 1 : 0) != 1) {
    return nullptr;
  }
  return context;
}

/// Transforms `in` into `out`, which it resizes. Returns false if OpenSSL fails.
bool update(EVP_CIPHER_CTX* context, std::string_view in, std::string* out) {
  out->resize(in.size() + kBlockBytes);
  int written = 0;
  if (EVP_CipherUpdate(context, unsigned_bytes(*out), &written, unsigned_bytes(in), static_cast<int>(in.size())) != 1) {
    return false;
  }
  out->resize(static_cast<std::size_t>(written));
  return true;
}

bool finish(EVP_CIPHER_CTX* context, std::string* out) {
  const std::size_t before = out->size();
  out->resize(before + kBlockBytes);
  int written = 0;
  if (EVP_CipherFinal_ex(context, unsigned_bytes(*out) + before, &written) != 1) return false;
  out->resize(before + static_cast<std::size_t>(written));
  return true;
}

bool associate(EVP_CIPHER_CTX* context, std::string_view associated) {
  int written = 0;
  return EVP_CipherUpdate(context, nullptr, &written, unsigned_bytes(associated),
                          static_cast<int>(associated.size())) == 1;
}

}  // namespace

Result<std::string> encrypt_cbc(const SecretBytes& key, std::string_view iv, std::string_view plain) {
  assert(iv.size() == kCbcIvBytes);
  if (Status size = check_size(plain.size()); !size.ok()) return size;
  const CipherContext context = begin(EVP_aes_256_cbc(), key, iv, true);
  std::string out;
  if (!context || !update(context.get(), plain, &out) || !finish(context.get(), &out)) return no_cipher();
  return out;
}

Result<std::string> decrypt_cbc(const SecretBytes& key, std::string_view iv, std::string_view stored) {
  assert(iv.size() == kCbcIvBytes);
  if (Status size = check_size(stored.size()); !size.ok()) return size;
  const CipherContext context = begin(EVP_aes_256_cbc(), key, iv, false);
  if (!context) return no_cipher();
  std::string out;
  if (!update(context.get(), stored, &out) || !finish(context.get(), &out)) {
    return not_authentic("the encrypted bytes cannot be decrypted; they were changed or belong to another key");
  }
  return out;
}

Result<std::string> encrypt_gcm(const SecretBytes& key, std::string_view nonce, std::string_view associated,
                                std::string_view plain) {
  assert(nonce.size() == kGcmNonceBytes);
  if (Status size = check_size(plain.size() + associated.size()); !size.ok()) return size;
  const CipherContext context = begin(EVP_aes_256_gcm(), key, nonce, true);
  std::string out;
  if (!context || !associate(context.get(), associated) || !update(context.get(), plain, &out) ||
      !finish(context.get(), &out)) {
    return no_cipher();
  }
  std::array<std::uint8_t, kGcmTagBytes> tag{};
  if (EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, static_cast<int>(tag.size()), tag.data()) != 1) {
    return no_cipher();
  }
  out.append(tag.begin(), tag.end());
  return out;
}

Result<std::string> decrypt_gcm(const SecretBytes& key, std::string_view nonce, std::string_view associated,
                                std::string_view stored) {
  assert(nonce.size() == kGcmNonceBytes);
  if (Status size = check_size(stored.size() + associated.size()); !size.ok()) return size;
  if (stored.size() < kGcmTagBytes)
    return Status::corruption("the encrypted bytes are shorter than their tag of 16 bytes");
  const std::size_t size = stored.size() - kGcmTagBytes;
  std::string tag(stored.substr(size));
  const CipherContext context = begin(EVP_aes_256_gcm(), key, nonce, false);
  std::string out;
  if (!context || !associate(context.get(), associated) || !update(context.get(), stored.substr(0, size), &out) ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, static_cast<int>(tag.size()), tag.data()) != 1) {
    return no_cipher();
  }
  if (!finish(context.get(), &out))
    return not_authentic("the encrypted bytes are not authentic; they were changed or belong to another key");
  return out;
}

Result<std::string> sha256(std::span<const std::string_view> parts) {
  const HashContext context(EVP_MD_CTX_new());
  std::string out(32, '\0');
  if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) return no_cipher();
  for (const std::string_view part : parts) {
    if (EVP_DigestUpdate(context.get(), part.data(), part.size()) != 1) return no_cipher();
  }
  if (EVP_DigestFinal_ex(context.get(), unsigned_bytes(out), nullptr) != 1) return no_cipher();
  return out;
}

}  // namespace varve
