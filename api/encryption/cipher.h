// Owns: the ciphers of property values and their building blocks: AES-256 in CBC and GCM mode, SHA-256.
// Must never: know an entity, or return a byte that GCM did not authenticate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "varve/encryption/secret_bytes.h"
#include "varve/result.h"

namespace varve {

inline constexpr std::size_t kContentKeyBytes = 32;
inline constexpr std::size_t kCbcIvBytes = 16;
inline constexpr std::size_t kGcmNonceBytes = 12;
inline constexpr std::size_t kGcmTagBytes = 16;

// Strings hold bytes, as Binary does. Keys have kContentKeyBytes. Errors of all four ciphers, besides their own:
//   kTooLarge     the value, for GCM with its associated bytes, has more than 16 MiB; no entity is that large
//   kUnsupported  OpenSSL does not provide the cipher

/// Encrypts with PKCS#7 padding. `iv` has kCbcIvBytes.
Result<std::string> encrypt_cbc(const SecretBytes& key, std::string_view iv, std::string_view plain);
/// Decrypts what encrypt_cbc() returned. Errors: kCorruption (not a whole number of blocks, or bad padding). CBC does
/// not protect integrity, so damage may also remain undetected.
Result<std::string> decrypt_cbc(const SecretBytes& key, std::string_view iv, std::string_view stored);

/// Returns the ciphertext followed by its tag. `nonce` has kGcmNonceBytes and must be used only once with a key.
Result<std::string> encrypt_gcm(const SecretBytes& key, std::string_view nonce, std::string_view associated,
                                std::string_view plain);
/// Decrypts what encrypt_gcm() returned. Errors: kCorruption (the bytes, nonce, key or associated bytes differ).
Result<std::string> decrypt_gcm(const SecretBytes& key, std::string_view nonce, std::string_view associated,
                                std::string_view stored);

/// Returns the hash of all parts, concatenated: 32 bytes. Errors: kUnsupported.
Result<std::string> sha256(std::span<const std::string_view> parts);

/// Uses the standard alphabet, with padding (RFC 4648).

}  // namespace varve
