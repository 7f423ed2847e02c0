// Owns: the proof that the quick tests of names and keys (usual_text.h) accept exactly the ASCII texts of the rules.
#include "api/model/usual_text.h"

#include <algorithm>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "api/model/ascii.h"

namespace varve::usual_text_test {
namespace {

bool may_be_in_name(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}
bool may_be_in_key(char c) {
  return c >= 0x20 && c < 0x7F && std::string_view("/\\#?").find(c) == std::string_view::npos;
}

/// Calls `check` with texts of each length up to 40, with each byte at each place. Their memory ends with them.
template <typename Check>
void with_each_byte_everywhere(char others, const Check& check) {
  for (std::size_t length = 1; length <= 40; ++length) {
    const std::unique_ptr<char[]> tight(new char[length]);
    const std::string_view text(tight.get(), length);
    for (std::size_t at = 0; at < length; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::fill_n(tight.get(), length, others);
        tight[at] = static_cast<char>(byte);
        check(text);
      }
    }
  }
}

TEST(UsualText, AnIdentifierHasLettersDigitsAndUnderscoresAndBeginsWithNoDigit) {
  EXPECT_FALSE(is_ascii_identifier(""));
  with_each_byte_everywhere('x', [](std::string_view text) {
    const bool expected = !is_digit(text.front()) && std::all_of(text.begin(), text.end(), may_be_in_name);
    ASSERT_EQ(is_ascii_identifier(text), expected) << text;
  });
}

TEST(UsualText, APlainKeyHasThePrintableCharactersThatKeysMayHave) {
  EXPECT_TRUE(is_plain_key(""));
  with_each_byte_everywhere('~', [](std::string_view text) {
    ASSERT_EQ(is_plain_key(text), std::all_of(text.begin(), text.end(), may_be_in_key)) << text;
  });
}

TEST(UsualText, BytesBesideAForbiddenOneDoNotHideIt) {
  for (int byte = 0; byte < 256; ++byte) {
    for (int beside = 0; beside < 256; ++beside) {
      std::string text = "0123456789abcdef";
      text[4] = static_cast<char>(byte);
      text[5] = static_cast<char>(beside);
      ASSERT_EQ(is_plain_key(text), std::all_of(text.begin(), text.end(), may_be_in_key)) << byte << ' ' << beside;
      text.front() = 'x';
      ASSERT_EQ(is_ascii_identifier(text), std::all_of(text.begin(), text.end(), may_be_in_name))
          << byte << ' ' << beside;
    }
  }
}

}  // namespace
}  // namespace varve::usual_text_test
