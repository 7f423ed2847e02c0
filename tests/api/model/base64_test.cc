// Goal: each sequence of bytes has one text in an alphabet, and every other text is refused.
#include "api/model/base64.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace varve::base64_test {
namespace {

constexpr Base64Alphabet kOther{"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789*_", '-'};

TEST(Base64, HasOneTextForEachValue) {
  for (const auto& [bytes, text] : std::vector<std::pair<std::string, std::string>>{
           {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xFB\xFF", "+/8="}}) {
    EXPECT_EQ(encode_base64(bytes), text);
    EXPECT_EQ(decode_base64(text), bytes) << text;
  }
  for (const std::string_view text : {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "====", "=", "Zg==Zg==", "Z===", "Zm 9",
                                      "Zm9v\n", "-_8=", "Zg=g", "Z\xC3\xA4g="}) {
    EXPECT_FALSE(decode_base64(text).has_value()) << text;
  }
}

TEST(Base64, EachLengthAndByteComesBack) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  for (std::size_t size = 0; size <= all.size(); ++size) {
    const std::string bytes = all.substr(0, size);
    EXPECT_EQ(decode_base64(encode_base64(bytes)), bytes);
    EXPECT_EQ(decode_base64<kOther>(encode_base64<kOther>(bytes)), bytes);
  }
}

TEST(Base64, AnotherAlphabetHasItsOwnDigitsAndPadding) {
  EXPECT_EQ(encode_base64<kOther>("\xFB\xFF"), "*_8-");
  EXPECT_EQ(decode_base64<kOther>("*_8-"), "\xFB\xFF");
  for (const std::string_view text : {"+/8=", "*_8=", "*_9-", "----"}) {
    EXPECT_FALSE(decode_base64<kOther>(text).has_value()) << text;
  }
}

TEST(Base64, UnusedBitsMayBeSetWhereTheCallerAllowsIt) {
  EXPECT_EQ(decode_base64("Zh==", UnusedBits::kMayBeSet), "f");
  EXPECT_EQ(decode_base64("Zm9=", UnusedBits::kMayBeSet), "fo");
  EXPECT_FALSE(decode_base64("Zh=", UnusedBits::kMayBeSet).has_value());
  EXPECT_FALSE(decode_base64("Zh=h", UnusedBits::kMayBeSet).has_value());
}

}  // namespace
}  // namespace varve::base64_test
