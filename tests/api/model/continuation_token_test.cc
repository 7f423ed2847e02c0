#include "api/model/continuation_token.h"

#include <gtest/gtest.h>

#include "io/simulated/manual_clock.h"
#include "tests/api/store_bench.h"

namespace varve::continuation_token_test {
namespace {

using test::kInvalidInput;
using test::said;

TEST(ContinuationToken, Q46_HasTheFormOfTheService) {
  EXPECT_EQ(encode_key_token("0042"), "1!8!MDA0Mg--");
  EXPECT_EQ(encode_key_token("Sales"), "1!8!U2FsZXM-");
  EXPECT_EQ(encode_key_token("eu west"), "1!12!ZXUgd2VzdA--");
  EXPECT_EQ(encode_key_token(""), "1!0!");
  EXPECT_EQ(encode_scan_token("Sales", "0042"), "1!8!U2FsZXM- 1!8!MDA0Mg--");
}

TEST(ContinuationToken, Q46_WritesPlusAndSlashAsCharactersThatNeedNoEscape) {
  EXPECT_EQ(encode_key_token("\xDF\xBF"), "1!4!378-");
  EXPECT_EQ(encode_key_token("~~~?"), "1!8!fn5*Pw--");
  EXPECT_EQ(encode_key_token("~~?"), "1!4!fn4_");
  for (const std::string_view key : {"\xF4\x8F\xBF\xBF", "~~~", ">>>", "???", "\xEF\xBF\xBF"}) {
    const std::string token = encode_key_token(key);
    EXPECT_EQ(token.find_first_of("+/="), std::string::npos) << token;
    EXPECT_EQ(*decode_key_token(token), key);
  }
}

TEST(ContinuationToken, Q46_DecodesWhatItEncodes) {
  const std::uint64_t seed = 5;
  SCOPED_TRACE(seed);
  io::SeededRandom random(seed);
  for (int i = 0; i < 2000; ++i) {
    std::string partition;
    std::string row;
    for (std::uint64_t n = io::random_below(random, 12); n > 0; --n) {
      partition.push_back(static_cast<char>(io::random_below(random, 128)));
      row += io::one_in(random, 2) ? "\xF0\x9F\x98\x80" : "\xE2\x82\xAC";
    }
    const Result<ScanPosition> position = decode_scan_token(encode_scan_token(partition, row));
    ASSERT_TRUE(position.ok());
    EXPECT_EQ(position->partition_key, partition);
    EXPECT_EQ(position->row_key, row);
  }
}

TEST(ContinuationToken, OneOfAScanBackwardSaysSo) {
  EXPECT_EQ(encode_scan_token("Sales", "0042", true), "2!8!U2FsZXM- 2!8!MDA0Mg--");
  EXPECT_TRUE((*decode_scan_token("2!8!U2FsZXM- 2!8!MDA0Mg--")).backward);
  EXPECT_FALSE((*decode_scan_token("1!8!U2FsZXM- 1!8!MDA0Mg--")).backward);
  EXPECT_EQ(said(decode_scan_token("2!0! 1!0!")), kInvalidInput);
  EXPECT_EQ(said(decode_scan_token("1!0! 2!0!")), kInvalidInput);
}

TEST(ContinuationToken, OneOfAScanWithALimitSaysWhatIsLeft) {
  EXPECT_EQ(encode_scan_token("", "", false, 17), "1!0! 1!0! 17");
  EXPECT_EQ((*decode_scan_token("1!0! 1!0! 17")).remaining, 17U);
  EXPECT_EQ((*decode_scan_token("2!0! 2!0! 18446744073709551615")).remaining, UINT64_MAX);
  EXPECT_FALSE((*decode_scan_token("1!0! 1!0!")).remaining.has_value());
  for (const std::string_view count : {"", "0", "01", "-1", "+1", "1 ", " 1", "1x", "18446744073709551616"}) {
    EXPECT_EQ(said(decode_scan_token("1!0! 1!0! " + std::string(count))), kInvalidInput) << count;
  }
}

TEST(ContinuationToken, Q46_RefusesWhatDoesNotDecode) {
  for (const std::string_view token : {"",
                                       "1",
                                       "1!",
                                       "1!8",
                                       "1!8!",
                                       "1!4!MDA0Mg--",
                                       "1!08!MDA0Mg--",
                                       "1!+8!MDA0Mg--",
                                       "1!8!MDA0Mg==",
                                       "2!8!MDA0Mg--",
                                       "1!8!MDA0Mg-",
                                       "1!8!MDA0Mh--",
                                       "1!8!MDA-Mg--",
                                       "1!4!A---",
                                       "1!4!----",
                                       "1!4!-AAA",
                                       "1!8!MDA0 Mg-",
                                       "1!8!MDA0Mg--!",
                                       "1!99999999999999999999!MDA0Mg--",
                                       "1!-1!",
                                       "1!4!_w--",
                                       "1!4!gA--",
                                       "1!8!7aCA7aCA"}) {
    SCOPED_TRACE(token);
    EXPECT_EQ(said(decode_key_token(token)), kInvalidInput);
    EXPECT_EQ(said(decode_scan_token(token)), kInvalidInput);
    EXPECT_EQ(said(decode_scan_token(std::string(token) + " 1!0!")), kInvalidInput);
    EXPECT_EQ(said(decode_scan_token("1!0! " + std::string(token))), kInvalidInput);
  }
}

}  // namespace
}  // namespace varve::continuation_token_test
