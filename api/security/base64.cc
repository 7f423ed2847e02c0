// Owns: base64 through OpenSSL (base64.h).
// Must never: rely on OpenSSL to reject a malformed text. OpenSSL ignores spaces.
#include "api/security/base64.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace varve::security {
namespace {

constexpr std::size_t kTextMax = std::size_t{1} << 20;
constexpr std::size_t kGroupBytes = 3;
constexpr std::size_t kGroupCharacters = 4;

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string text((bytes.size() + kGroupBytes - 1) / kGroupBytes * kGroupCharacters + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.empty()) return std::string();
  if (text.size() % kGroupCharacters != 0 || text.size() > kTextMax) return std::nullopt;
  std::string bytes(text.size() / kGroupCharacters * kGroupBytes, '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (length != static_cast<int>(bytes.size())) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bytes.resize(bytes.size() - padding);
  std::string again = encode_base64(bytes);
  const bool canonical = again == text;
  OPENSSL_cleanse(again.data(), again.size());
  if (!canonical) return std::nullopt;
  return bytes;
}

}  // namespace varve::security
