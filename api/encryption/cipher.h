// Owns: the ciphers of property values and what they start from: AES-256 in CBC and in GCM, SHA-256, base64.
// Must never: know an entity, or return a byte that GCM did not authenticate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <varve/result.h>

#include "secret_bytes.h"

namespace varve {

inline constexpr std::size_t kContentKeyBytes = 32;
inline constexpr std::size_t kCbcIvBytes = 16;
inline constexpr std::size_t kGcmNonceBytes = 12;
inline constexpr std::size_t kGcmTagBytes = 16;

// Bytes are held in strings, as Binary holds them. Keys have kContentKeyBytes. Errors of all four, besides:
//   kTooLarge       the value has more than 16 MiB, more than any entity holds
//   kUnsupported    OpenSSL does not give the cipher

/// With PKCS#7 padding. `iv` has kCbcIvBytes.
Result<std::string> encrypt_cbc(const SecretBytes& key, std::string_view iv, std::string_view plain);
/// Errors: kCorruption (no whole blocks, bad padding). Damage may as well go unseen: CBC says nothing of integrity.
Result<std::string> decrypt_cbc(const SecretBytes& key, std::string_view iv, std::string_view stored);

/// The ciphertext and then its tag. `nonce` has kGcmNonceBytes and is used once with a key.
Result<std::string> encrypt_gcm(const SecretBytes& key, std::string_view nonce, std::string_view associated,
                                std::string_view plain);
/// Errors: kCorruption (not these bytes, this nonce, this key or these associated bytes).
Result<std::string> decrypt_gcm(const SecretBytes& key, std::string_view nonce, std::string_view associated,
                                std::string_view stored);

/// 32 bytes: of all parts, one behind the other. Errors: kUnsupported.
Result<std::string> sha256(std::span<const std::string_view> parts);

/// The standard alphabet, with padding (RFC 4648).
std::string encode_base64(std::string_view bytes);
/// Takes exactly what encode_base64() writes: each value has one text. Errors: kInvalidArgument.
Result<std::string> decode_base64(std::string_view text);

}  // namespace varve
