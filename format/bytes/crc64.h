// Owns: the CRC-64 with which clients of the blob service check what they send and receive.
// Must never: protect the store's own files. Their checksum is checksum.h's.
//
// Polynomial 0xAD93D23594C93659, reflected; initial value and final exclusive-or are all ones. The CRC of `123456789` is
// 0xAE8B14860A799888. Source: BB-04; also known as CRC-64/NVME.
#pragma once

#include <cstdint>
#include <string_view>

namespace varve::format {

/// The CRC-64 of bytes that arrive in pieces. Copies are independent.
class Crc64 {
 public:
  void update(std::string_view bytes) noexcept;
  /// Returns the CRC of all bytes so far. More bytes may follow.
  std::uint64_t value() const noexcept { return ~register_; }

 private:
  std::uint64_t register_ = ~std::uint64_t{0};
};

/// Returns the CRC-64 of the bytes.
std::uint64_t crc64(std::string_view bytes) noexcept;

/// Returns the CRC-64 of two texts joined together, given the CRC of each and the length of the second. Takes about 64
/// multiplications, whatever the length.
std::uint64_t joined_crc64(std::uint64_t first, std::uint64_t second, std::uint64_t second_bytes) noexcept;

}  // namespace varve::format
