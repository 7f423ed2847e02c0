// Owns: initialization vectors, nonces and associated bytes.
#include "api/encryption/property_cipher.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "api/encryption/cipher.h"

namespace varve {
namespace {

constexpr std::string_view kAuthenticatedId = "2.0";
constexpr std::size_t kKeyPrefixBytes = 8;

void append_field(std::string_view field, std::string* out) {
  for (unsigned shift = 0; shift < 32; shift += 8) out->push_back(static_cast<char>(field.size() >> shift & 0xFF));
  out->append(field);
}

}  // namespace

Result<std::string> PropertyCipher::encrypt(std::string_view name, std::string_view plain) const {
  if (protocol_ == EncryptionProtocol::kClassic) {
    const Result<std::string> iv = classic_iv(name);
    return iv.ok() ? encrypt_cbc(content_key_, *iv, plain) : iv.status();
  }
  const Result<std::string> bound = associated(name);
  if (!bound.ok()) return bound.status();
  const Result<std::string> once = nonce(*bound);
  return once.ok() ? encrypt_gcm(content_key_, *once, *bound, plain) : once.status();
}

Result<std::string> PropertyCipher::decrypt(std::string_view name, std::string_view stored) const {
  if (protocol_ == EncryptionProtocol::kClassic) {
    const Result<std::string> iv = classic_iv(name);
    return iv.ok() ? decrypt_cbc(content_key_, *iv, stored) : iv.status();
  }
  const Result<std::string> bound = associated(name);
  if (!bound.ok()) return bound.status();
  const Result<std::string> once = nonce(*bound);
  return once.ok() ? decrypt_gcm(content_key_, *once, *bound, stored) : once.status();
}

Result<std::string> PropertyCipher::classic_iv(std::string_view name) const {
  const std::array<std::string_view, 4> parts = {iv_, entity_.row_key(), entity_.partition_key(), name};
  Result<std::string> hash = sha256(parts);
  if (hash.ok()) hash->resize(kCbcIvBytes);
  return hash;
}

Result<std::string> PropertyCipher::associated(std::string_view name) const {
  const std::array<std::string_view, 1> text = {metadata_};
  const Result<std::string> hash = sha256(text);
  if (!hash.ok()) return hash;
  std::string out;
  for (const std::string_view field :
       {kAuthenticatedId, std::string_view(*hash), std::string_view(entity_.partition_key()),
        std::string_view(entity_.row_key()), name}) {
    append_field(field, &out);
  }
  return out;
}

Result<std::string> PropertyCipher::nonce(std::string_view associated) const {
  const std::array<std::string_view, 2> parts = {iv_, associated};
  Result<std::string> hash = sha256(parts);
  if (hash.ok()) hash->resize(kGcmNonceBytes);
  return hash;
}

SecretBytes key_to_wrap(EncryptionProtocol protocol, const SecretBytes& content_key) {
  if (protocol == EncryptionProtocol::kClassic) return SecretBytes::copy_of(content_key.bytes());
  SecretBytes whole(kKeyPrefixBytes + content_key.size());
  std::copy(kAuthenticatedId.begin(), kAuthenticatedId.end(), whole.bytes().begin());
  std::copy(content_key.bytes().begin(), content_key.bytes().end(), whole.bytes().begin() + kKeyPrefixBytes);
  return whole;
}

Result<SecretBytes> content_key_of(EncryptionProtocol protocol, const SecretBytes& unwrapped) {
  const std::size_t prefix = protocol == EncryptionProtocol::kClassic ? 0 : kKeyPrefixBytes;
  const Status bad = Status::corruption("the unwrapped key is not a content key of this protocol");
  if (unwrapped.size() != prefix + kContentKeyBytes) return bad;
  SecretBytes content_key = SecretBytes::copy_of(unwrapped.bytes().subspan(prefix));
  const SecretBytes expected = key_to_wrap(protocol, content_key);
  if (!std::equal(expected.bytes().begin(), expected.bytes().end(), unwrapped.bytes().begin())) return bad;
  return content_key;
}

}  // namespace varve
