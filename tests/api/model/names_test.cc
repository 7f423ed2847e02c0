#include "varve/names.h"

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::names_test {
namespace {

using test::kFine;
using test::kInvalidInput;
using test::kInvalidResourceName;
using test::kOutOfRangeInput;
using test::kPropertyNameInvalid;
using test::kPropertyNameTooLong;
using test::kPropertyValueTooLarge;
using test::said;

std::string times(std::size_t count, std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out.append(text);
  return out;
}

TEST(AccountNames, D03_AreThreeToTwentyFourLowerCaseLettersAndDigits) {
  for (const std::string& name : {std::string("abc"), std::string("0a9"), times(24, "a")}) {
    EXPECT_EQ(said(check_account_name(name)), kFine) << name;
  }
  for (const std::string& name :
       {std::string(), std::string("ab"), times(25, "a"), std::string("Abc"), std::string("a-b"), std::string("a b"),
        std::string("ab\xC3\xA9"), std::string("abc\0", 4), std::string("ab\xFF")}) {
    EXPECT_EQ(said(check_account_name(name)), kInvalidResourceName) << name;
  }
}

TEST(TableNames, D04_AreALetterAndThenLettersAndDigits) {
  for (const std::string& name : {std::string("abc"), std::string("Z09"), times(63, "a")}) {
    EXPECT_EQ(said(check_table_name(name)), kFine) << name;
  }
}

TEST(TableNames, B02_LengthCharactersAndTheReservedNameEachHaveTheirCode) {
  EXPECT_EQ(said(check_table_name("")), kOutOfRangeInput);
  EXPECT_EQ(said(check_table_name("ab")), kOutOfRangeInput);
  EXPECT_EQ(said(check_table_name(times(64, "a"))), kOutOfRangeInput);
  EXPECT_EQ(said(check_table_name(times(64, "-"))), kOutOfRangeInput);
  for (const std::string_view name :
       {"1ab", "a-b", "a_b", "a b", "abc\xC3\xA9", "\xC3\xA9tat", "a.b", "$Metrics", "abc'"}) {
    EXPECT_EQ(said(check_table_name(name)), kInvalidResourceName) << name;
  }
  EXPECT_EQ(said(check_table_name(std::string_view("abc\0", 4))), kInvalidResourceName);
  for (const std::string_view name : {"tables", "Tables", "TABLES"}) {
    EXPECT_EQ(said(check_table_name(name)), kInvalidInput) << name;
  }
  EXPECT_EQ(said(check_table_name("abc\xFF")), kInvalidInput);
}

TEST(TableNames, D06_NamesOfTheServicesOwnTablesCannotBeUsed) {
  EXPECT_EQ(said(check_table_name("$MetricsHourPrimaryTransactionsTable")), kInvalidResourceName);
}

TEST(TableNames, D04_AreComparedInLowerCase) {
  EXPECT_EQ(lower_case("OrDers9Z"), "orders9z");
  EXPECT_EQ(lower_case("\xC3\x89"), "\xC3\x89");
}

TEST(Keys, D11_EveryForbiddenCharacterIsRefusedAndItsNeighboursAreNot) {
  const auto as_utf8 = [](unsigned code) {
    std::string out;
    if (code < 0x80) return std::string(1, static_cast<char>(code));
    out.push_back(static_cast<char>(0xC0 | code >> 6));
    out.push_back(static_cast<char>(0x80 | (code & 0x3F)));
    return out;
  };
  for (unsigned code = 0; code < 0x180; ++code) {
    SCOPED_TRACE(code);
    const std::string key = "a" + as_utf8(code) + "b";
    const bool separator = code == '/' || code == '\\';
    const bool forbidden = code < 0x20 || (code >= 0x7F && code <= 0x9F) || separator || code == '#' || code == '?';
    EXPECT_EQ(said(check_key_characters(key, "RowKey", KeyUse::kInsert)), forbidden ? kOutOfRangeInput : kFine);
    const auto named = separator ? kInvalidInput : forbidden ? kOutOfRangeInput : kFine;
    EXPECT_EQ(said(check_key_characters(key, "RowKey", KeyUse::kUpdate)), named);
    EXPECT_EQ(said(check_key_characters(key, "RowKey", KeyUse::kLookup)), named);
  }
}

TEST(Keys, D11_AForbiddenCharacterIsRefusedWhereverItStands) {
  for (std::size_t bytes = 1; bytes < 70; ++bytes) {
    for (std::size_t place = 0; place < bytes; ++place) {
      std::string key(bytes, 'k');
      EXPECT_EQ(said(check_key_characters(key, "RowKey", KeyUse::kInsert)), kFine);
      for (const char forbidden : {'\0', '\x1F', '\x7F', '/', '\\', '#', '?'}) {
        key[place] = forbidden;
        EXPECT_EQ(said(check_key_characters(key, "RowKey", KeyUse::kInsert)), kOutOfRangeInput)
            << bytes << ", " << place;
      }
      for (const char allowed : {' ', '!', '.', '0', '>', '@', '[', ']', '~'}) {
        key[place] = allowed;
        EXPECT_EQ(said(check_key_characters(key, "RowKey", KeyUse::kInsert)), kFine) << bytes << ", " << place;
      }
    }
  }
}

TEST(Keys, D10_MayBeEmptyAndHoldMostOfUnicode) {
  for (const std::string_view key : {"", " ", "'", "%", "+", "\xC3\xA9", "\xF0\x9F\x98\x80", "\xEE\x80\x80"}) {
    EXPECT_EQ(said(check_written_key(key, "RowKey", KeyUse::kInsert)), kFine) << key;
  }
}

TEST(Keys, D12_HaveAtMost1024CodeUnits) {
  struct Case {
    std::string_view unit;
    std::size_t at_the_limit;
  };
  for (const Case& each :
       {Case{"a", 1024}, Case{"\xC3\xA9", 1024}, Case{"\xE2\x82\xAC", 1024}, Case{"\xF0\x9F\x98\x80", 512}}) {
    SCOPED_TRACE(each.unit);
    EXPECT_FALSE(is_key_too_long(times(each.at_the_limit - 1, each.unit)));
    EXPECT_FALSE(is_key_too_long(times(each.at_the_limit, each.unit)));
    EXPECT_TRUE(is_key_too_long(times(each.at_the_limit + 1, each.unit)));
    EXPECT_EQ(said(check_written_key(times(each.at_the_limit, each.unit), "RowKey", KeyUse::kInsert)), kFine);
    EXPECT_EQ(said(check_written_key(times(each.at_the_limit + 1, each.unit), "RowKey", KeyUse::kInsert)),
              kPropertyValueTooLarge);
  }
}

TEST(Keys, X12_MustBeUtf8) {
  for (const std::string_view key : {"\xFF", "a\x80", "\xC3", "\xED\xA0\x80", "\xC0\x80", "\xF4\x90\x80\x80"}) {
    EXPECT_EQ(said(check_key_characters(key, "RowKey", KeyUse::kInsert)), kInvalidInput);
    EXPECT_EQ(said(check_key_characters(key, "RowKey", KeyUse::kLookup)), kInvalidInput);
  }
}

TEST(PropertyNames, D20_AreIdentifiers) {
  for (const std::string_view name :
       {"A", "_", "a1", "_1", "Name", "name", "ETag", "\xC3\xA9t\xC3\xA9", "\xE5\x90\x8D\xE5\x89\x8D",
        "\xD0\x98\xD0\xBC\xD1\x8F", "\xE2\x85\xA7",  // VIII, a letter number
        "a\xCC\x81",                                 // a combining mark, not at the front
        "a\xE0\xA4\xBE",                             // a spacing mark
        "a\xD9\xA3",                                 // an Arabic digit
        "a\xE2\x80\xBF"
        "b",  // a connector
        "a\xE2\x80\x8D"
        "b",                    // a joiner, of class Cf, which XML allows
        "\xF0\x90\x90\x80"}) {  // a letter beyond the basic plane
    EXPECT_EQ(said(check_property_name(name)), kFine) << name;
  }
  for (const std::string_view name :
       {"", "1a", "a-b", "a.b", "a b", "a@b", "a:b", "a$", "-", " a", "a\n", "\xEE\x80\x80", "a\xEE\x80\x80",
        "\xCC\x81",              // a mark at the front
        "\xD9\xA3",              // a digit at the front
        "\xE2\x80\xBF",          // a connector at the front
        "a\xE2\x82\xAC",         // the euro sign
        "a\xF0\x9F\x98\x80"}) {  // an emoji
    EXPECT_EQ(said(check_property_name(name)), kPropertyNameInvalid) << name;
  }
  EXPECT_EQ(said(check_property_name(std::string_view("a\0b", 3))), kPropertyNameInvalid);
}

TEST(PropertyNames, X04_WhatIsAnIdentifierButNoXmlNameIsRefused) {
  EXPECT_EQ(said(check_property_name("\xC2\xAA")), kPropertyNameInvalid);       // U+00AA, a letter
  EXPECT_EQ(said(check_property_name("\xC2\xB5")), kPropertyNameInvalid);       // U+00B5, a letter
  EXPECT_EQ(said(check_property_name("a\xC2\xAD")), kPropertyNameInvalid);      // the soft hyphen, of class Cf
  EXPECT_EQ(said(check_property_name("a\xE2\x80\x8B")), kPropertyNameInvalid);  // U+200B, of class Cf
  EXPECT_EQ(said(check_property_name("a\xE2\x80\x8E")), kPropertyNameInvalid);  // U+200E, of class Cf
  EXPECT_EQ(said(check_property_name("a\xC2\xB7")), kPropertyNameInvalid);      // U+00B7: XML alone allows it
}

TEST(PropertyNames, D20_HaveAtMost255CodeUnits) {
  EXPECT_EQ(said(check_property_name(times(254, "a"))), kFine);
  EXPECT_EQ(said(check_property_name(times(255, "a"))), kFine);
  EXPECT_EQ(said(check_property_name(times(256, "a"))), kPropertyNameTooLong);
  EXPECT_EQ(said(check_property_name(times(255, "\xE5\x90\x8D"))), kFine);
  EXPECT_EQ(said(check_property_name(times(256, "\xE5\x90\x8D"))), kPropertyNameTooLong);
  EXPECT_EQ(said(check_property_name(times(127, "\xF0\x90\x90\x80"))), kFine);
  EXPECT_EQ(said(check_property_name(times(128, "\xF0\x90\x90\x80"))), kPropertyNameTooLong);
}

TEST(PropertyNames, X12_MustBeUtf8) {
  EXPECT_EQ(said(check_property_name("a\xFF")), kInvalidInput);
  EXPECT_EQ(said(check_property_name("\xED\xA0\x80")), kInvalidInput);
}

}  // namespace
}  // namespace varve::names_test
