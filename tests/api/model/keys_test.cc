// Goal: keys made of numbers, times and parts can be stored, sort like their sources, and can be split again.
// Method: hand-written edge cases; random values, whose order is compared with that of their keys in the store.
#include "varve/keys.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "format/keys/sort_key.h"
#include "tests/support/effort.h"
#include "varve/limits.h"
#include "varve/names.h"

namespace varve::keys_test {
namespace {

/// Returns the order of keys in a table: by UTF-16 code unit.
std::string order_of(std::string_view key) {
  std::string encoded;
  EXPECT_TRUE(format::append_text(encoded, key).ok());
  return encoded;
}

int sign(int number) {
  return number < 0 ? -1 : number > 0 ? 1 : 0;
}

/// Returns a text of few characters, including those that keys may not contain, and their neighbours.
std::string random_text(std::mt19937_64& random) {
  static const std::vector<std::string> kCharacters = {std::string(1, '\0'),
                                                       "\x01",
                                                       "\x1F",
                                                       " ",
                                                       "!",
                                                       "\"",
                                                       "#",
                                                       "$",
                                                       ".",
                                                       "/",
                                                       "0",
                                                       ">",
                                                       "?",
                                                       "@",
                                                       "[",
                                                       "\\",
                                                       "]",
                                                       "}",
                                                       "~",
                                                       "\x7F",
                                                       "\xC2\x80",
                                                       "\xC2\x9F",
                                                       "\xC2\xA0",
                                                       "a",
                                                       "b",
                                                       "\xED\x9F\xBF",
                                                       "\xEE\x80\x80",
                                                       "\xEF\xBF\xBD",
                                                       "\xEF\xBF\xBE",
                                                       "\xEF\xBF\xBF",
                                                       "\xF0\x90\x80\x80",
                                                       "\xF4\x8F\xBF\xBF"};
  std::string text;
  for (std::uint64_t left = random() % 5; left > 0; --left) text += kCharacters[random() % kCharacters.size()];
  return text;
}

TEST(Keys, C12_NumbersGetZerosBeforeThem) {
  EXPECT_EQ(*zero_padded(42, 6), "000042");
  EXPECT_EQ(*zero_padded(0, 1), "0");
  EXPECT_EQ(*zero_padded(UINT64_MAX, 20), "18446744073709551615");
  EXPECT_EQ(zero_padded(1'000'000, 6).code(), Code::kInvalidArgument);
  EXPECT_LT(*zero_padded(9, 3), *zero_padded(10, 3));
}

TEST(Keys, C12_TicksSortForwardsAndBackwards) {
  const DateTime early{638'000'000'000'000'000};
  const DateTime late{638'000'000'000'000'001};
  EXPECT_EQ(ascending_ticks(early), "0638000000000000000");
  EXPECT_EQ(inverted_ticks(early), "2517378975999999999");
  EXPECT_LT(ascending_ticks(early), ascending_ticks(late));
  EXPECT_GT(inverted_ticks(early), inverted_ticks(late));
  EXPECT_EQ(inverted_ticks(DateTime{}).size(), 19U);
  EXPECT_EQ(inverted_ticks(DateTime{limits::kDateTimeTicksMax}), std::string(19, '0'));
  EXPECT_EQ(inverted_ticks(DateTime{UINT64_MAX}), std::string(19, '0'));
  EXPECT_EQ(*time_of_inverted_ticks(inverted_ticks(early)), early);
}

TEST(Keys, C12_OtherTextsAreNoInvertedTicks) {
  for (const std::string_view text : {"", "0", "251737897599999999", "25173789759999999990", "251737897599999999x",
                                      "-517378975999999999", "9999999999999999999", " 517378975999999999"}) {
    EXPECT_EQ(time_of_inverted_ticks(text).code(), Code::kInvalidArgument) << text;
  }
}

TEST(Keys, C12_EscapedTextsAreLegalKeysThatReadAsTheyDid) {
  EXPECT_EQ(*escape_key("customer-0042_a.b"), "customer-0042_a.b");
  EXPECT_EQ(*escape_key("a b!"), "a\"20b\"21");
  EXPECT_EQ(*escape_key("a/b?c\\d#"),
            "a.\xEF\xBF\xBF"
            "b>\xEF\xBF\xBF"
            "c[\xEF\xBF\xBF"
            "d\"23");
  EXPECT_EQ(*escape_key("\t\x7F\xC2\x85"),
            "\"09~\xEF\xBF\xBF"
            "7F~\xEF\xBF\xBF"
            "85");
  EXPECT_EQ(escape_key("\xFF").code(), Code::kInvalidArgument);
}

TEST(Keys, C12_EscapingKeepsTheOrderAndComesBack) {
  constexpr std::uint64_t kSeed = 31;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < test::effort(50'000); ++round) {
    const std::string a = random_text(random);
    const std::string b = random_text(random);
    const std::string escaped_a = *escape_key(a);
    const std::string escaped_b = *escape_key(b);
    ASSERT_TRUE(check_written_key(escaped_a, "RowKey", KeyUse::kUpdate).ok()) << escaped_a;
    ASSERT_EQ(*unescape_key(escaped_a), a);
    ASSERT_EQ(sign(order_of(a).compare(order_of(b))), sign(order_of(escaped_a).compare(order_of(escaped_b))))
        << escaped_a << " and " << escaped_b;
  }
}

TEST(Keys, C12_WhatEscapingDoesNotWriteIsNotReadBack) {
  const std::string highest = "\xEF\xBF\xBF";
  for (const std::string& key :
       {std::string("a b"), std::string("a!b"), std::string("\""), std::string("\"2"), std::string("\"2f"),
        std::string("\"24"), std::string("a/b"), std::string("\\"), std::string("?"), highest, "a" + highest,
        "~" + highest, "~" + highest + "7", "~" + highest + "7E", "~" + highest + "A0", std::string("\xC2\x80"),
        std::string("\x7F"), std::string("\xFF")}) {
    EXPECT_EQ(unescape_key(key).code(), Code::kInvalidArgument) << key;
  }
}

TEST(Keys, C12_ReadingBackIsStrict) {
  constexpr std::uint64_t kSeed = 37;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  int accepted = 0;
  for (int round = 0; round < test::effort(20'000); ++round) {
    const std::string key = random_text(random) + random_text(random);
    const Result<std::string> text = unescape_key(key);
    if (!text.ok()) continue;
    ++accepted;
    ASSERT_EQ(*escape_key(*text), key) << "two keys for one text";
  }
  EXPECT_GT(accepted, test::effort(20'000) / 20);
}

TEST(Keys, C12_CompositeKeysSortByTheirPartsAndComeApart) {
  EXPECT_EQ(*composite_key({"2026", "03", "x"}), "2026!03!x");
  EXPECT_EQ(*composite_prefix({"2026"}), "2026!");
  EXPECT_EQ(composite_key({}).code(), Code::kInvalidArgument);
  EXPECT_EQ(*split_composite_key("2026!03!x"), (std::vector<std::string>{"2026", "03", "x"}));
  EXPECT_EQ(*split_composite_key(""), (std::vector<std::string>{""}));
  EXPECT_EQ(split_composite_key("a!b c").code(), Code::kInvalidArgument);

  constexpr std::uint64_t kSeed = 41;
  SCOPED_TRACE(kSeed);
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < test::effort(50'000); ++round) {
    const std::vector<std::string> a = {random_text(random), random_text(random)};
    const std::vector<std::string> b = {random_text(random), random_text(random)};
    const std::string key_a = *composite_key({a[0], a[1]});
    const std::string key_b = *composite_key({b[0], b[1]});
    ASSERT_TRUE(check_written_key(key_a, "RowKey", KeyUse::kUpdate).ok()) << key_a;
    ASSERT_EQ(*split_composite_key(key_a), a);
    ASSERT_TRUE(key_a.starts_with(*composite_prefix({a[0]})));
    const bool before = a[0] != b[0] ? order_of(a[0]) < order_of(b[0]) : order_of(a[1]) < order_of(b[1]);
    ASSERT_EQ(before, order_of(key_a) < order_of(key_b)) << key_a << " and " << key_b;
  }
}

}  // namespace
}  // namespace varve::keys_test
