// Owns: wiping, by a call that no compiler removes.
#include "varve/encryption/secret_bytes.h"

#include <algorithm>
#include <utility>

#include <openssl/crypto.h>

namespace varve {

SecretBytes::SecretBytes(std::size_t size) : bytes_(std::make_unique<std::uint8_t[]>(size)), size_(size) {}

SecretBytes SecretBytes::copy_of(std::span<const std::uint8_t> bytes) {
  SecretBytes copy(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.bytes_.get());
  return copy;
}

SecretBytes::SecretBytes(SecretBytes&& other) noexcept
    : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}

SecretBytes& SecretBytes::operator=(SecretBytes&& other) noexcept {
  if (this == &other) return *this;
  wipe();
  bytes_ = std::move(other.bytes_);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

SecretBytes::~SecretBytes() {
  wipe();
}

void SecretBytes::wipe() noexcept {
  if (bytes_) OPENSSL_cleanse(bytes_.get(), size_);
}

}  // namespace varve
