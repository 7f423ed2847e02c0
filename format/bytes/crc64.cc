// Owns: the tables and the arithmetic of the CRC-64 (crc64.h).
// Must never: read past the end of a text.
#include "format/bytes/crc64.h"

#include <array>
#include <cstddef>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

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
constexpr std::uint64_t multiplied(std::uint64_t left, std::uint64_t right) noexcept {
  std::uint64_t product = 0;
  for (std::uint64_t bit = kOne; bit != 0; bit >>= 1) {
    if ((left & bit) != 0) product ^= right;
    right = (right & 1) != 0 ? right >> 1 ^ kPolynomial : right >> 1;
  }
  return product;
}

/// Returns the register after further bytes, by tables.
std::uint64_t updated(std::uint64_t crc, std::string_view bytes) noexcept {
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
  return crc;
}

#if defined(__x86_64__)
/// The bytes of one lane, and of the lanes that one step takes together.
constexpr std::size_t kLaneBytes = sizeof(__m128i);
constexpr std::size_t kLanes = 4;
constexpr std::size_t kFoldedBytes = kLanes * kLaneBytes;

struct Lane {
  __m128i bits;
};

/// Returns x to the power of a number, modulo the polynomial of the CRC.
constexpr std::uint64_t power_of_x(std::uint64_t exponent) noexcept {
  std::uint64_t power = kOne;
  std::uint64_t square = kOne >> 1;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) power = multiplied(power, square);
    square = multiplied(square, square);
  }
  return power;
}

/// What moves the two halves of a lane over the given bits. The product of two polynomials with their bits in reverse
/// order has one factor x more than in true order, so each exponent is smaller by one.
template <std::size_t kBits>
__attribute__((target("pclmul,sse4.1"))) __m128i folded(__m128i lane, __m128i next) noexcept {
  constexpr std::uint64_t kFirst = power_of_x(kBits + 63);
  constexpr std::uint64_t kSecond = power_of_x(kBits - 1);
  const __m128i factors = _mm_set_epi64x(static_cast<long long>(kSecond), static_cast<long long>(kFirst));
  const __m128i first = _mm_clmulepi64_si128(lane, factors, 0x00);
  const __m128i second = _mm_clmulepi64_si128(lane, factors, 0x11);
  return _mm_xor_si128(_mm_xor_si128(first, second), next);
}

__attribute__((target("pclmul,sse4.1"))) __m128i lane_at(const char* bytes) noexcept {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

/// Returns the register after further bytes, by products without carry. Source of the method: V. Gopal and others, Fast
/// CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction, Intel 2009. Takes at least kFoldedBytes.
__attribute__((target("pclmul,sse4.1"))) std::uint64_t updated_by_products(std::uint64_t crc,
                                                                           std::string_view bytes) noexcept {
  std::array<Lane, kLanes> lanes;
  for (std::size_t i = 0; i < kLanes; ++i) lanes[i].bits = lane_at(bytes.data() + i * kLaneBytes);
  lanes[0].bits = _mm_xor_si128(lanes[0].bits, _mm_set_epi64x(0, static_cast<long long>(crc)));
  bytes.remove_prefix(kFoldedBytes);
  for (; bytes.size() >= kFoldedBytes; bytes.remove_prefix(kFoldedBytes)) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      lanes[i].bits = folded<8 * kFoldedBytes>(lanes[i].bits, lane_at(bytes.data() + i * kLaneBytes));
    }
  }
  __m128i lane = lanes[0].bits;
  for (std::size_t i = 1; i < kLanes; ++i) lane = folded<8 * kLaneBytes>(lane, lanes[i].bits);
  for (; bytes.size() >= kLaneBytes; bytes.remove_prefix(kLaneBytes)) {
    lane = folded<8 * kLaneBytes>(lane, lane_at(bytes.data()));
  }
  std::array<char, kLaneBytes> rest;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest.data()), lane);
  return updated(updated(0, {rest.data(), rest.size()}), bytes);
}

bool has_products() noexcept {
  static const bool has = __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.1") != 0;
  return has;
}
#endif

}  // namespace

void Crc64::update(std::string_view bytes) noexcept {
#if defined(__x86_64__)
  if (bytes.size() >= 2 * kFoldedBytes && has_products()) {
    register_ = updated_by_products(register_, bytes);
    return;
  }
#endif
  register_ = updated(register_, bytes);
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
