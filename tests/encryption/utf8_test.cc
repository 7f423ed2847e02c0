#include "api/encryption/utf8.h"

#include <string>

#include <gtest/gtest.h>

#include "format/keys/sort_key.h"

namespace varve::utf8_test {
namespace {

/// Compares with the store's own check, for every relevant beginning with every relevant end.
TEST(Utf8, IsJudgedAsTheStoreJudgesIt) {
  const std::string tails[] = {"",         "a",        "\x7F",  "\x80",         "\xBF",         "\xC2",
                               "\x80\x80", "\xBF\xBF", "\x80z", "\x80\x80\x80", "\xBF\xBF\xBF", "\x80\x80\xC0",
                               "\x80\xFF"};
  std::size_t taken = 0;
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      for (const std::string& tail : tails) {
        const std::string text = std::string{static_cast<char>(first), static_cast<char>(second)} + tail;
        ASSERT_EQ(is_utf8(text), format::is_valid_utf8(text)) << first << " " << second << " and " << tail.size();
        if (is_utf8(text)) ++taken;
      }
    }
  }
  EXPECT_GT(taken, 10'000u);
  EXPECT_TRUE(is_utf8(""));
  EXPECT_FALSE(is_utf8("\xE2"));
}

}  // namespace
}  // namespace varve::utf8_test
