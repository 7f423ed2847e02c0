// Owns: the proof that exactly UTF-8 is accepted as UTF-8, at every place in a text.
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "format/keys/sort_key.h"
#include "tests/format/hex_text.h"
#include "tests/format/hostile_text.h"
#include "tests/format/random_values.h"
#include "tests/support/effort.h"

namespace varve::format::utf8_test {
namespace {

bool slow_is_valid(std::string_view text) {
  return slow_code_points(text).has_value();
}

/// Both code paths must agree with the reference.
void expect_as_reference(std::string_view text) {
  const bool expected = slow_is_valid(text);
  ASSERT_EQ(is_valid_utf8(text), expected) << to_hex(text);
  std::string out;
  ASSERT_EQ(append_text(out, text).ok(), expected) << to_hex(text);
}

TEST(Utf8, KnownMistakesAreRefused) {
  for (const std::string_view hex : {
           "80",
           "bf",  // continuation bytes alone
           "c0 80",
           "c1 bf",  // ASCII in two bytes
           "e0 80 80",
           "e0 9f bf",  // two bytes' worth in three
           "f0 80 80 80",
           "f0 8f bf bf",  // three bytes' worth in four
           "ed a0 80",
           "ed ad bf",
           "ed bf bf",           // surrogates D800, DB7F, DFFF
           "ed a0 80 ed b0 80",  // a pair of surrogates
           "f4 90 80 80",
           "f5 80 80 80",  // above U+10FFFF
           "f8 88 80 80 80",
           "fe",
           "ff",  // never lead bytes
           "c3",
           "e2 82",
           "f0 9f 98",  // cut short
           "c3 28",
           "e2 28 a1",
           "e2 82 28",  // broken off
           "f0 28 8c bc",
           "f0 90 28 bc",
           "f0 90 8c 28",
       }) {
    const std::string bad = from_hex(hex);
    // Every place in a word and in a row of four words, at the end and before further text.
    for (std::size_t before = 0; before < 72; ++before) {
      for (const std::size_t behind : {0U, 1U, 8U, 9U, 40U}) {
        const std::string text = std::string(before, 'a') + bad + std::string(behind, 'z');
        EXPECT_FALSE(is_valid_utf8(text)) << to_hex(text);
        std::string out;
        EXPECT_EQ(append_text(out, text).code(), Code::kInvalidArgument) << to_hex(text);
      }
    }
  }
}

TEST(Utf8, EveryTextOfUpToTwoBytesIsJudgedRight) {
  expect_as_reference("");
  for (int first = 0; first < 256; ++first) {
    std::string text(1, static_cast<char>(first));
    expect_as_reference(text);
    text.push_back('\0');
    for (int second = 0; second < 256; second += test::kStride) {
      text[1] = static_cast<char>(second);
      expect_as_reference(text);
    }
  }
}

/// The bytes at which a range of UTF-8 begins or ends.
constexpr std::array<unsigned char, 14> kBorderBytes = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0,
                                                        0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xF4, 0xFF};

TEST(Utf8, EverySecondByteBehindEveryLeadByteIsJudgedRight) {
  for (int lead = 0xC0; lead < 256; ++lead) {
    for (int second = 0; second < 256; second += test::kStride) {
      for (const unsigned char third : kBorderBytes) {
        std::string text = {static_cast<char>(lead), static_cast<char>(second), static_cast<char>(third)};
        expect_as_reference(text);
        for (const unsigned char fourth : kBorderBytes) {
          expect_as_reference(text + static_cast<char>(fourth));
        }
      }
    }
  }
}

TEST(Utf8, RandomTextsWithDamageAreJudgedRight) {
  constexpr std::uint64_t kSeed = 51;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  int valid = 0;
  for (int step = 0; step < test::effort(300'000); ++step) {
    std::string text = hostile_text(random);
    if (!random.one_in(3)) text = mutated(text, random);
    // Also with memory that ends with the text, so that the address sanitizer detects a read of a word after it.
    const std::unique_ptr<char[]> tight(new char[text.size()]);
    text.copy(tight.get(), text.size());
    expect_as_reference({tight.get(), text.size()});
    valid += is_valid_utf8(text) ? 1 : 0;
  }
  EXPECT_GT(valid, test::effort(100'000));
  EXPECT_LT(valid, 250'000);
}

TEST(Utf8, LengthsAreCodeUnits) {
  EXPECT_EQ(utf16_length(""), 0U);
  EXPECT_EQ(utf16_length("plain"), 5U);
  EXPECT_EQ(utf16_length("\xC3\xA9\xE2\x82\xAC"), 2U);
  EXPECT_EQ(utf16_length("\xF0\x9F\x98\x80"), 2U);
  constexpr std::uint64_t kSeed = 52;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  for (int step = 0; step < test::effort(100'000); ++step) {
    const std::string text = hostile_text(random);
    ASSERT_EQ(utf16_length(text), slow_utf16(text).size()) << to_hex(text);
  }
}

}  // namespace
}  // namespace varve::format::utf8_test
