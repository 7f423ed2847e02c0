// Owns: the two ways of wrapping a content key that need only a key in memory.
#include "varve/encryption/key_encryption_key.h"

#include <array>
#include <cstdint>
#include <utility>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "api/encryption/unsigned_bytes.h"

namespace varve {
namespace {

template <typename T, void (*kFree)(T*)>
struct Freed {
  void operator()(T* object) const noexcept { kFree(object); }
};
using WrapContext = std::unique_ptr<EVP_CIPHER_CTX, Freed<EVP_CIPHER_CTX, EVP_CIPHER_CTX_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX, EVP_PKEY_CTX_free>>;
using RsaKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY, EVP_PKEY_free>>;
using MemoryBio = std::unique_ptr<BIO, Freed<BIO, BIO_free_all>>;

constexpr std::size_t kAesKeyBytes = 32;
constexpr std::size_t kWrapOverheadBytes = 8;
constexpr std::size_t kSemiblockBytes = 8;
constexpr std::size_t kWrappedBytesMax = 2048;
constexpr int kRsaBitsMin = 2048;
constexpr int kRsaBitsMax = 16384;

Status refused(Code code, std::string_view message) noexcept {
  ERR_clear_error();
  return {code, message};
}

class AesKeyWrap final : public KeyEncryptionKey {
 public:
  AesKeyWrap(std::string id, SecretBytes key) noexcept : id_(std::move(id)), key_(std::move(key)) {}

  std::string_view id() const noexcept override { return id_; }
  std::string_view algorithm() const noexcept override { return "A256KW"; }

  Result<std::string> wrap(const SecretBytes& content_key) const override {
    const std::size_t size = content_key.size();
    if (size < 2 * kSemiblockBytes || size % kSemiblockBytes != 0 || size > kWrappedBytesMax) {
      return Status::invalid_argument("AES key wrap needs at least 16 bytes, and a multiple of 8");
    }
    std::string wrapped(size + kWrapOverheadBytes, '\0');
    if (!run(true, content_key.bytes().data(), size, unsigned_bytes(wrapped), wrapped.size())) {
      return refused(Code::kUnsupported, "this OpenSSL does not provide AES-256 key wrap");
    }
    return wrapped;
  }

  Result<SecretBytes> unwrap(std::string_view wrapped) const override {
    const std::size_t size = wrapped.size();
    if (size < 3 * kSemiblockBytes || size % kSemiblockBytes != 0 || size > kWrappedBytesMax) {
      return Status::corruption("a wrapped key of " + std::to_string(size) + " bytes cannot be from A256KW");
    }
    // OpenSSL may write the integrity block into the output before it removes the block.
    SecretBytes out(size);
    if (!run(false, unsigned_bytes(wrapped), size, out.bytes().data(), size - kWrapOverheadBytes)) {
      return refused(Code::kCorruption, "the wrapped key was not made by this key, or was changed");
    }
    return SecretBytes::copy_of(out.bytes().first(size - kWrapOverheadBytes));
  }

 private:
  bool run(bool encrypt, const std::uint8_t* in, std::size_t size, std::uint8_t* out, std::size_t expected) const {
    const WrapContext context(EVP_CIPHER_CTX_new());
    if (!context) return false;
    EVP_CIPHER_CTX_set_flags(context.get(), EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
    int written = 0;
    int last = 0;
    return EVP_CipherInit_ex(context.get(), EVP_aes_256_wrap(), nullptr, key_.bytes().data(), nullptr,
                             encrypt ? 1 : 0) == 1 &&
           EVP_CipherUpdate(context.get(), out, &written, in, static_cast<int>(size)) == 1 &&
           EVP_CipherFinal_ex(context.get(), out + written, &last) == 1 &&
           static_cast<std::size_t>(written) + static_cast<std::size_t>(last) == expected;
  }

  std::string id_;
  SecretBytes key_;
};

class RsaOaep final : public KeyEncryptionKey {
 public:
  RsaOaep(std::string id, RsaKey key, bool is_private) noexcept
      : id_(std::move(id)), key_(std::move(key)), is_private_(is_private) {}

  std::string_view id() const noexcept override { return id_; }
  std::string_view algorithm() const noexcept override { return "RSA-OAEP"; }

  Result<std::string> wrap(const SecretBytes& content_key) const override {
    const KeyContext context(EVP_PKEY_CTX_new(key_.get(), nullptr));
    std::size_t size = 0;
    if (!context || EVP_PKEY_encrypt_init(context.get()) != 1 || !use_oaep(context.get()) ||
        EVP_PKEY_encrypt(context.get(), nullptr, &size, content_key.bytes().data(), content_key.size()) != 1) {
      return refused(Code::kUnsupported, "this OpenSSL does not provide RSA-OAEP");
    }
    std::string wrapped(size, '\0');
    if (EVP_PKEY_encrypt(context.get(), unsigned_bytes(wrapped), &size, content_key.bytes().data(),
                         content_key.size()) != 1) {
      return refused(Code::kUnsupported, "OpenSSL could not wrap the content key by RSA-OAEP");
    }
    wrapped.resize(size);
    return wrapped;
  }

  Result<SecretBytes> unwrap(std::string_view wrapped) const override {
    if (!is_private_)
      return Status::unsupported("the RSA key '" + id_ +
                                 "' is public and can only wrap; give its private key to unwrap");
    const KeyContext context(EVP_PKEY_CTX_new(key_.get(), nullptr));
    if (!context || EVP_PKEY_decrypt_init(context.get()) != 1 || !use_oaep(context.get())) {
      return refused(Code::kUnsupported, "this OpenSSL does not provide RSA-OAEP");
    }
    SecretBytes out(static_cast<std::size_t>(EVP_PKEY_get_size(key_.get())));
    std::size_t size = out.size();
    if (wrapped.size() != out.size() ||
        EVP_PKEY_decrypt(context.get(), out.bytes().data(), &size, unsigned_bytes(wrapped), wrapped.size()) != 1) {
      return refused(Code::kCorruption, "the wrapped key was not made by this key, or was changed");
    }
    return SecretBytes::copy_of(out.bytes().first(size));
  }

 private:
  static bool use_oaep(EVP_PKEY_CTX* context) noexcept {
    return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING) == 1 &&
           EVP_PKEY_CTX_set_rsa_oaep_md(context, EVP_sha1()) == 1 &&
           EVP_PKEY_CTX_set_rsa_mgf1_md(context, EVP_sha1()) == 1;
  }

  std::string id_;
  RsaKey key_;
  bool is_private_;
};

/// Without this callback, OpenSSL would ask for a password on the terminal.
int no_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) {
  return -1;
}

RsaKey read_pem(std::string_view pem, bool is_private) {
  const MemoryBio text(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  if (!text) return nullptr;
  RsaKey key(is_private ? PEM_read_bio_PrivateKey(text.get(), nullptr, no_password, nullptr)
                        : PEM_read_bio_PUBKEY(text.get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  return key;
}

}  // namespace

Result<std::shared_ptr<const KeyEncryptionKey>> make_aes_key(std::string id, SecretBytes key) {
  if (key.size() != kAesKeyBytes) {
    return Status::invalid_argument("a key for A256KW must have 32 bytes, not " + std::to_string(key.size()));
  }
  return std::shared_ptr<const KeyEncryptionKey>(std::make_shared<AesKeyWrap>(std::move(id), std::move(key)));
}

Result<std::shared_ptr<const KeyEncryptionKey>> make_rsa_key(std::string id, std::string_view pem) {
  constexpr std::size_t kPemBytesMax = 65'536;
  if (pem.size() > kPemBytesMax) return Status::invalid_argument("an RSA key in PEM must have at most 65536 bytes");
  bool is_private = true;
  RsaKey key = read_pem(pem, true);
  if (!key) {
    is_private = false;
    key = read_pem(pem, false);
  }
  if (!key || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_RSA) {
    return Status::invalid_argument("the text must be a private or public RSA key in PEM");
  }
  const int bits = EVP_PKEY_get_bits(key.get());
  if (bits < kRsaBitsMin || bits > kRsaBitsMax) {
    return Status::invalid_argument("the RSA key has " + std::to_string(bits) + " bits; 2048 to 16384 are allowed");
  }
  return std::shared_ptr<const KeyEncryptionKey>(std::make_shared<RsaOaep>(std::move(id), std::move(key), is_private));
}

}  // namespace varve
