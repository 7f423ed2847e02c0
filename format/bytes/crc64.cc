// Owns: the tables and the arithmetic of the CRC-64 (crc64.h).
// Must never: read past the end of a text.
#include "format/bytes/crc64.h"

#include <array>
#include <cstddef>

#include "format/bytes/bytes.h"

namespace varve::format {
namespace {

/// The polynomial with its bits in reverse order: the highest bit is the coefficient of x^0.
constexpr std::uint64_t kPolynomial = 0x9A6C9329AC4BC9B5;
constexpr std::uint64_t kOne = std::uint64_t{1} << 63;
constexpr std::uint64_t kOneByte = kOne >> 8;  // x^8
/// The bytes that one step takes.
constexpr std::size_t kSliceBytes = 8;

using CrcTables = std::array<std::array<std::uint64_t, 256>, kSliceBytes>;

/// Table 0 has the remainder of each byte; table k that of the byte with k zero bytes after it.
constexpr CrcTables make_crc_tables() noexcept {
  CrcTables tables{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    std::uint64_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder & 1) != 0 ? remainder >> 1 ^ kPolynomial : remainder >> 1;
    tables[0][byte] = remainder;
  }
  for (std::size_t table = 1; table < kSliceBytes; ++table) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint64_t before = tables[table - 1][byte];
      tables[table][byte] = before >> 8 ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}
constexpr CrcTables kCrcTables = make_crc_tables();

/// Returns the product of two polynomials, modulo the polynomial of the CRC.
std::uint64_t multiplied(std::uint64_t left, std::uint64_t right) noexcept {
  std::uint64_t product = 0;
  for (std::uint64_t bit = kOne; bit != 0; bit >>= 1) {
    if ((left & bit) != 0) product ^= right;
    right = (right & 1) != 0 ? right >> 1 ^ kPolynomial : right >> 1;
  }
  return product;
}

}  // namespace

void Crc64::update(std::string_view bytes) noexcept {
  std::uint64_t crc = register_;
  for (; bytes.size() >= kSliceBytes; bytes.remove_prefix(kSliceBytes)) {
    crc ^= load_u64(bytes.data());
    std::uint64_t next = 0;
    for (std::size_t i = 0; i < kSliceBytes; ++i) {
      next ^= kCrcTables[kSliceBytes - 1 - i][crc >> (8 * i) & 0xFF];
    }
    crc = next;
  }
  for (const char byte : bytes) {
    crc = crc >> 8 ^ kCrcTables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xFF];
  }
  register_ = crc;
}

std::uint64_t crc64(std::string_view bytes) noexcept {
  Crc64 crc;
  crc.update(bytes);
  return crc.value();
}

std::uint64_t joined_crc64(std::uint64_t first, std::uint64_t second, std::uint64_t second_bytes) noexcept {
  std::uint64_t shift = kOne;
  for (std::uint64_t power = kOneByte; second_bytes != 0; second_bytes >>= 1) {
    if ((second_bytes & 1) != 0) shift = multiplied(shift, power);
    power = multiplied(power, power);
  }
  return multiplied(shift, first) ^ second;
}

}  // namespace varve::format
