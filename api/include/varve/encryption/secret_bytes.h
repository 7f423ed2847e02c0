// SPDX-License-Identifier: Apache-2.0
// Owns: bytes that must not stay in memory after their use: content keys and key-encryption keys.
// Must never: be copied by accident, or be freed before they are wiped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace varve {

/// A fixed number of bytes. They are zero at first, and are wiped when they are destroyed or replaced. They can be
/// moved; a copy needs copy_of().
class SecretBytes {
 public:
  /// Holds no bytes.
  SecretBytes() noexcept = default;
  /// Holds this number of zero bytes. May throw std::bad_alloc, as copy_of() may.
  explicit SecretBytes(std::size_t size);
  /// Returns a copy of the bytes. The caller must wipe the original.
  static SecretBytes copy_of(std::span<const std::uint8_t> bytes);
  /// Takes the bytes of `other`, which then holds none.
  /// @{
  SecretBytes(SecretBytes&& other) noexcept;
  SecretBytes& operator=(SecretBytes&& other) noexcept;
  /// @}
  SecretBytes(const SecretBytes&) = delete;
  SecretBytes& operator=(const SecretBytes&) = delete;
  ~SecretBytes();

  /// Returns the bytes. The span is valid until they are wiped.
  /// @{
  std::span<std::uint8_t> bytes() noexcept { return {bytes_.get(), size_}; }
  std::span<const std::uint8_t> bytes() const noexcept { return {bytes_.get(), size_}; }
  /// @}
  /// Returns the number of bytes.
  std::size_t size() const noexcept { return size_; }

 private:
  void wipe() noexcept;

  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t size_ = 0;
};

}  // namespace varve
