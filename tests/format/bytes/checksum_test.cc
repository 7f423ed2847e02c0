// Owns: the proof that the checksum is XXH3-64 of the bytes and their place, and that it detects all small damage.
#include "format/bytes/checksum.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/content_hasher.h"
#include "tests/format/random_values.h"

namespace varve::format::checksum_test {
namespace {

constexpr FilePlace kPlace{0x0123456789ABCDEF, 4096};

/// Lengths on both sides of every border between the algorithms of XXH3, and of its stripes and blocks.
constexpr std::size_t kLengths[] = {1, 3, 4, 8, 9, 16, 17, 64, 128, 129, 240, 241, 256, 1024, 1025, 4096};

TEST(Checksum, IsTheHashAndTheTermOfThePlaceAdded) {
  constexpr std::uint64_t kSeed = 21;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  for (int step = 0; step < 1000; ++step) {
    const FilePlace place{random.number(), random.number()};
    const std::string bytes = random.bytes(random.below(300));
    ASSERT_EQ(checksum_at(place, bytes), content_hash(bytes) + place_term(place));
  }
}

TEST(Checksum, RestampingGivesTheChecksumOfTheOtherPlace) {
  constexpr std::uint64_t kSeed = 22;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  for (int step = 0; step < 1000; ++step) {
    const FilePlace from{random.number(), random.number()};
    const FilePlace to{random.number(), random.number()};
    const std::string bytes = random.bytes(random.below(300));
    const std::uint64_t moved = restamp(checksum_at(from, bytes), from, to);
    ASSERT_EQ(moved, checksum_at(to, bytes));
    ASSERT_EQ(restamp(moved, to, from), checksum_at(from, bytes));
  }
}

TEST(Checksum, RestampingDamagedBytesDoesNotMakeThemValid) {
  const FilePlace other{kPlace.seed + 1, 0};
  const std::uint64_t of_the_whole = checksum_at(kPlace, "the bytes as written");
  EXPECT_NE(restamp(of_the_whole, kPlace, other), checksum_at(other, "the bytes as Written"));
}

TEST(Checksum, EveryFlippedBitIsSeen) {
  constexpr std::uint64_t kSeed = 23;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  for (const std::size_t length : kLengths) {
    SCOPED_TRACE(length);
    std::string bytes = random.bytes(length);
    const std::uint64_t whole = checksum_at(kPlace, bytes);
    for (std::size_t bit = 0; bit < length * 8; ++bit) {
      const char mask = static_cast<char>(1 << (bit % 8));
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
      ASSERT_NE(checksum_at(kPlace, bytes), whole) << "bit " << bit;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ mask);
    }
    EXPECT_EQ(checksum_at(kPlace, bytes), whole);
  }
}

TEST(Checksum, LengthCountsEvenInZeros) {
  const std::string zeros(4096, '\0');
  std::vector<std::uint64_t> seen;
  for (std::size_t length = 0; length <= 300; ++length) {
    const std::uint64_t checksum = checksum_at(kPlace, std::string_view(zeros).substr(0, length));
    for (const std::uint64_t other : seen) ASSERT_NE(checksum, other) << length;
    seen.push_back(checksum);
  }
}

TEST(Checksum, IntactBytesInAnotherPlaceOrFileFail) {
  const std::string_view bytes = "a block, whole, where it does not belong";
  const std::uint64_t here = checksum_at(kPlace, bytes);
  for (unsigned bit = 0; bit < 64; ++bit) {
    SCOPED_TRACE(bit);
    const std::uint64_t flip = std::uint64_t{1} << bit;
    EXPECT_NE(checksum_at({kPlace.seed, kPlace.offset ^ flip}, bytes), here);
    EXPECT_NE(checksum_at({kPlace.seed ^ flip, kPlace.offset}, bytes), here);
  }
  EXPECT_NE(checksum_at({kPlace.offset, kPlace.seed}, bytes), here);
}

TEST(Checksum, ZerosAreNotTheirOwnChecksum) {
  // A sector of zeros, including its checksum field, must not verify near the beginning of a file.
  const std::string zeros(4096, '\0');
  for (std::uint64_t offset = 0; offset < 64; ++offset) {
    for (const std::size_t length : kLengths) {
      ASSERT_NE(checksum_at({0, offset * 8}, std::string_view(zeros).substr(0, length)), 0U) << offset << ' ' << length;
    }
  }
}

TEST(Checksum, IsTheSameInPiecesWhateverTheRegistersOfTheProcessor) {
  constexpr std::uint64_t kSeed = 25;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  for (int step = 0; step < 200; ++step) {
    const std::string bytes = random.bytes(random.below(5'000));
    const std::size_t border = random.below(bytes.size() + 1);
    ContentHasher pieces;
    pieces.update(std::string_view(bytes).substr(0, border));
    pieces.update(std::string_view(bytes).substr(border));
    ASSERT_EQ(content_hash(bytes), pieces.digest()) << bytes.size();
  }
}

TEST(Checksum, AlignmentDoesNotMatter) {
  RandomValues random(24);
  const std::string bytes = random.bytes(600);
  std::string shifted;
  for (std::size_t shift = 0; shift < 16; ++shift) {
    shifted.assign(shift, 'x').append(bytes);
    EXPECT_EQ(content_hash(std::string_view(shifted).substr(shift)), content_hash(bytes)) << shift;
  }
}

}  // namespace
}  // namespace varve::format::checksum_test
