// Owns: the proof that integers and varints follow FORMAT.md, and that the cursor never passes its end.
#include "format/bytes/bytes.h"

#include <array>
#include <limits>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "tests/format/hex_text.h"
#include "tests/format/random_values.h"

namespace varve::format::bytes_test {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

/// Returns every power of two and its neighbours.
std::vector<std::uint64_t> border_numbers() {
  std::vector<std::uint64_t> numbers = {0, kMax};
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    numbers.insert(numbers.end(), {power - 1, power, power + 1});
  }
  return numbers;
}

/// A copy whose memory ends with its bytes, so that the address sanitizer detects a read after its end.
class TightCopy {
 public:
  explicit TightCopy(std::string_view bytes) : size_(bytes.size()), bytes_(new char[bytes.size()]) {
    bytes.copy(bytes_.get(), size_);
  }
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<char[]> bytes_;
};

TEST(Bytes, IntegersLieInTheirByteOrder) {
  std::array<char, 8> bytes{};
  const auto hex = [&bytes](std::size_t size) { return to_hex({bytes.data(), size}); };
  store_u16(bytes.data(), 0x0102);
  EXPECT_EQ(hex(2), "02 01");
  store_u32(bytes.data(), 0x01020304);
  EXPECT_EQ(hex(4), "04 03 02 01");
  store_u64(bytes.data(), 0x0102030405060708);
  EXPECT_EQ(hex(8), "08 07 06 05 04 03 02 01");
  store_u32_big_endian(bytes.data(), 0x01020304);
  EXPECT_EQ(hex(4), "01 02 03 04");
  store_u64_big_endian(bytes.data(), 0x0102030405060708);
  EXPECT_EQ(hex(8), "01 02 03 04 05 06 07 08");
}

TEST(Bytes, LoadsGiveBackWhatWasStoredAtAnyAlignment) {
  std::array<char, 16> bytes{};
  for (std::size_t offset = 0; offset < 8; ++offset) {
    SCOPED_TRACE(offset);
    char* at = bytes.data() + offset;
    for (const std::uint64_t number : border_numbers()) {
      store_u16(at, static_cast<std::uint16_t>(number));
      EXPECT_EQ(load_u16(at), static_cast<std::uint16_t>(number));
      store_u32(at, static_cast<std::uint32_t>(number));
      EXPECT_EQ(load_u32(at), static_cast<std::uint32_t>(number));
      store_u64(at, number);
      EXPECT_EQ(load_u64(at), number);
      store_u32_big_endian(at, static_cast<std::uint32_t>(number));
      EXPECT_EQ(load_u32_big_endian(at), static_cast<std::uint32_t>(number));
      store_u64_big_endian(at, number);
      EXPECT_EQ(load_u64_big_endian(at), number);
    }
  }
}

TEST(Bytes, BigEndianIntegersCompareAsTheirNumbers) {
  std::string previous;
  for (std::uint64_t number = 1; number != 0; number <<= 1) {
    std::string bytes(8, '\0');
    store_u64_big_endian(bytes.data(), number);
    EXPECT_LT(previous, bytes) << number;
    previous = bytes;
  }
}

TEST(Bytes, VarintsAreTheKnownBytes) {
  const auto hex = [](std::uint64_t value) {
    std::string out;
    append_varint(out, value);
    return to_hex(out);
  };
  EXPECT_EQ(hex(0), "00");
  EXPECT_EQ(hex(127), "7f");
  EXPECT_EQ(hex(128), "80 01");
  EXPECT_EQ(hex(300), "ac 02");
  EXPECT_EQ(hex(16383), "ff 7f");
  EXPECT_EQ(hex(16384), "80 80 01");
  EXPECT_EQ(hex(kMax), "ff ff ff ff ff ff ff ff ff 01");
}

TEST(Bytes, EveryWayToWriteAVarintAgrees) {
  for (const std::uint64_t number : border_numbers()) {
    SCOPED_TRACE(number);
    std::string appended;
    append_varint(appended, number);
    EXPECT_EQ(appended.size(), varint_bytes(number));
    EXPECT_LE(appended.size(), kVarint64BytesMax);
    std::array<char, kVarint64BytesMax> stored{};
    const char* end = store_varint(stored.data(), number);
    EXPECT_EQ(std::string_view(stored.data(), static_cast<std::size_t>(end - stored.data())), appended);

    ByteReader reader(appended);
    std::uint64_t read = ~number;
    ASSERT_TRUE(reader.read_varint(&read));
    EXPECT_EQ(read, number);
    EXPECT_TRUE(reader.at_end());
  }
}

TEST(Bytes, VarintsCutShortAreRefused) {
  for (const std::uint64_t number : border_numbers()) {
    SCOPED_TRACE(number);
    std::string whole;
    append_varint(whole, number);
    for (std::size_t kept = 0; kept < whole.size(); ++kept) {
      const TightCopy cut(std::string_view(whole).substr(0, kept));
      ByteReader reader(cut.view());
      std::uint64_t untouched = 42;
      EXPECT_FALSE(reader.read_varint(&untouched));
      EXPECT_EQ(untouched, 42U);
      EXPECT_EQ(reader.offset(), 0U);
      EXPECT_EQ(reader.rest().size(), kept);
    }
  }
}

TEST(Bytes, VarintsLongerThanNeededOrPastSixtyFourBitsAreRefused) {
  for (const std::string_view hex : {
           "80 00",                             // 0 in two bytes
           "ff 00",                             // 127 in two bytes
           "80 80 00",                          // 0 in three
           "ac 82 00",                          // 300 in three
           "ff ff ff ff ff ff ff ff ff 00",     // 2^63-1 in ten
           "ff ff ff ff ff ff ff ff ff 02",     // bit 64
           "ff ff ff ff ff ff ff ff ff 7f",     // bits to 69
           "ff ff ff ff ff ff ff ff ff 81 00",  // eleven bytes
           "80 80 80 80 80 80 80 80 80 80 01",
       }) {
    SCOPED_TRACE(hex);
    const std::string bytes = from_hex(hex);
    ByteReader reader(bytes);
    std::uint64_t untouched = 42;
    EXPECT_FALSE(reader.read_varint(&untouched));
    EXPECT_EQ(untouched, 42U);
    EXPECT_EQ(reader.offset(), 0U);
  }
}

TEST(Bytes, EveryVarintThatIsReadIsTheOneThatWouldBeWritten) {
  constexpr std::uint64_t kSeed = 11;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  int accepted = 0;
  for (int step = 0; step < 100'000; ++step) {
    std::string bytes = random.bytes(random.below(12));
    for (char& byte : bytes) {
      if (random.one_in(3)) byte = static_cast<char>(random.one_in(2) ? 0x80 : 0xFF);
    }
    ByteReader reader(bytes);
    std::uint64_t value = 0;
    if (!reader.read_varint(&value)) continue;
    ++accepted;
    std::string again;
    append_varint(again, value);
    ASSERT_EQ(again, bytes.substr(0, reader.offset())) << to_hex(bytes);
  }
  EXPECT_GT(accepted, 1000);
}

TEST(Bytes, FixedReadsNeedAllTheirBytes) {
  const std::string bytes = from_hex("01 02 03 04 05 06 07 08");
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    SCOPED_TRACE(size);
    const TightCopy copy(std::string_view(bytes).substr(0, size));
    std::uint8_t u8 = 9;
    std::uint64_t u64 = 9;
    EXPECT_EQ(ByteReader(copy.view()).read_u8(&u8), size >= 1);
    EXPECT_EQ(u8, size >= 1 ? 1 : 9);
    EXPECT_EQ(ByteReader(copy.view()).read_u64(&u64), size >= 8);
    EXPECT_EQ(u64, size >= 8 ? 0x0807060504030201U : 9U);
  }
}

TEST(Bytes, TheCursorWalksWhatWasAppended) {
  std::string bytes;
  bytes.push_back(7);
  append_u16(bytes, 0xBEEF);
  append_u32(bytes, 0xDEADBEEF);
  append_u64(bytes, kMax - 1);
  append_varint(bytes, 300);
  append_sized(bytes, "sized");
  append_sized(bytes, "");
  bytes.append("rest");

  ByteReader reader(bytes);
  std::uint8_t u8 = 0;
  std::string_view six;
  std::uint64_t u64 = 0;
  std::uint64_t varint = 0;
  std::string_view sized;
  std::string_view empty = "not";
  std::string_view two;
  EXPECT_TRUE(reader.read_u8(&u8) && reader.read_bytes(6, &six) && reader.read_u64(&u64));
  EXPECT_EQ(reader.offset(), 15U);
  EXPECT_TRUE(reader.read_varint(&varint) && reader.read_sized(&sized) && reader.read_sized(&empty));
  EXPECT_TRUE(reader.read_bytes(2, &two));
  EXPECT_EQ(u8, 7);
  EXPECT_EQ(load_u16(six.data()), 0xBEEF);
  EXPECT_EQ(load_u32(six.data() + 2), 0xDEADBEEF);
  EXPECT_EQ(u64, kMax - 1);
  EXPECT_EQ(varint, 300U);
  EXPECT_EQ(sized, "sized");
  EXPECT_EQ(empty, "");
  EXPECT_EQ(two, "re");
  EXPECT_EQ(reader.rest(), "st");
  EXPECT_FALSE(reader.at_end());
  EXPECT_FALSE(reader.read_bytes(3, &two));
  EXPECT_EQ(two, "re");
  EXPECT_TRUE(reader.read_bytes(2, &two));
  EXPECT_TRUE(reader.at_end());
}

TEST(Bytes, ASizeBeyondTheEndIsRefusedHoweverLarge) {
  for (const std::uint64_t size : {std::uint64_t{4}, std::uint64_t{1} << 32, std::uint64_t{1} << 63, kMax}) {
    SCOPED_TRACE(size);
    std::string bytes;
    append_varint(bytes, size);
    bytes.append("abc");
    const TightCopy copy(bytes);
    ByteReader reader(copy.view());
    std::string_view untouched = "untouched";
    EXPECT_FALSE(reader.read_sized(&untouched));
    EXPECT_EQ(untouched, "untouched");
    EXPECT_EQ(reader.offset(), 0U);
  }
}

TEST(Bytes, AnEmptyBufferIsAtItsEnd) {
  ByteReader reader{std::string_view()};
  std::string_view none = "untouched";
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(reader.offset(), 0U);
  EXPECT_FALSE(reader.read_sized(&none));
  EXPECT_TRUE(reader.read_bytes(0, &none));
  EXPECT_EQ(none, "");
}

TEST(Bytes, SpansAndTextsAreTheSameBytes) {
  const std::string text = "text";
  EXPECT_EQ(as_text(as_bytes(text)).data(), text.data());
  EXPECT_EQ(as_text(as_bytes(text)), text);
}

TEST(Bytes, WhatIsWrittenAmongZerosIsFoundFromBothEnds) {
  EXPECT_EQ(find_first_written(""), std::string_view::npos);
  EXPECT_EQ(find_last_written(""), std::string_view::npos);
  for (std::size_t size = 1; size < 1100; size += 31) {
    std::string bytes(size, '\0');
    EXPECT_EQ(find_first_written(bytes), std::string_view::npos);
    EXPECT_EQ(find_first_written(bytes, size + 9), std::string_view::npos);
    EXPECT_EQ(find_last_written(bytes), std::string_view::npos);
    for (std::size_t at = 0; at < size; at += 7) {
      bytes.assign(size, '\0');
      bytes[at] = '\x01';
      for (const std::size_t from : {std::size_t{0}, at / 2, at, at + 1}) {
        EXPECT_EQ(find_first_written(bytes, from), bytes.find_first_not_of('\0', from)) << size << " " << at;
      }
      EXPECT_EQ(find_last_written(bytes), at);
    }
  }
}

}  // namespace
}  // namespace varve::format::bytes_test
