// Owns: the proof that the CRC-64 is the service's, also of pieces and of joined texts.
#include "format/bytes/crc64.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/format/random_values.h"

namespace varve::format::crc64_test {
namespace {

/// The definition, bit by bit.
std::uint64_t slow_crc64(std::string_view bytes) {
  constexpr std::uint64_t kReversed = 0x9A6C9329AC4BC9B5;
  std::uint64_t crc = ~std::uint64_t{0};
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ kReversed : crc >> 1;
  }
  return ~crc;
}

TEST(Crc64, BB04_HasTheCheckValueOfTheSpecification) {
  EXPECT_EQ(crc64("123456789"), 0xAE8B14860A799888U);
  EXPECT_EQ(crc64(""), 0U);
}

TEST(Crc64, BB04_AgreesWithItsDefinitionInAnyPieces) {
  constexpr std::uint64_t kSeed = 31;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  for (int step = 0; step < 2000; ++step) {
    const std::string bytes = random.bytes(random.below(step % 4 == 0 ? 2000 : 200));  // short ones take the tables
    const std::uint64_t whole = slow_crc64(bytes);
    ASSERT_EQ(crc64(bytes), whole) << bytes.size();
    Crc64 pieces;
    for (std::string_view rest = bytes; !rest.empty();) {
      const std::size_t count = 1 + random.below(rest.size());
      pieces.update(rest.substr(0, count));
      rest.remove_prefix(count);
    }
    ASSERT_EQ(pieces.value(), whole) << bytes.size();
  }
}

TEST(Crc64, BB04_TheCrcOfJoinedTextsFollowsFromThoseOfBoth) {
  constexpr std::uint64_t kSeed = 32;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  for (int step = 0; step < 500; ++step) {
    const std::string first = random.bytes(random.below(300));
    const std::string second = random.bytes(random.below(3000));
    ASSERT_EQ(joined_crc64(crc64(first), crc64(second), second.size()), crc64(first + second)) << step;
  }
}

TEST(Crc64, BB04_JoiningIsAssociativeForLengthsThatNoTestCanHold) {
  constexpr std::uint64_t kSeed = 33;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  for (int step = 0; step < 200; ++step) {
    const std::uint64_t a = random.number();
    const std::uint64_t b = random.number();
    const std::uint64_t c = random.number();
    const std::uint64_t b_bytes = random.number() >> 20;
    const std::uint64_t c_bytes = random.number() >> 20;
    ASSERT_EQ(joined_crc64(joined_crc64(a, b, b_bytes), c, c_bytes),
              joined_crc64(a, joined_crc64(b, c, c_bytes), b_bytes + c_bytes));
    ASSERT_EQ(joined_crc64(a, 0, 0), a);
  }
}

}  // namespace
}  // namespace varve::format::crc64_test
