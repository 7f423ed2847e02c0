// Goal: keys of messages are those of every earlier build, sort like their numbers, and lead back to them; a text is
// refused for each character that XML 1.0 cannot carry, wherever it is.
// Method: random numbers, beside a plain way to encode them. Each byte at each place of texts of all short lengths.
#include "api/queue/message_rows.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/model/base64.h"
#include "api/queue/message_limits.h"
#include "format/bytes/bytes.h"
#include "io/simulated/manual_clock.h"

namespace varve::test::message_rows_test {
namespace {

constexpr format::TableId kRowsQueue = format::make_table_id(7, 9);
constexpr Base64Alphabet kAscending{"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"};

std::string plain_number(std::uint64_t number) {
  std::string bytes(8, '\0');
  format::store_u64_big_endian(bytes.data(), number);
  return encode_base64<kAscending>(bytes).substr(0, 11);
}

/// Numbers of all sizes, and those at the edges.
std::vector<std::uint64_t> numbers() {
  io::SeededRandom random(5);
  std::vector<std::uint64_t> all{0, 1, 3, 4, 15, 16, 63, 64, UINT64_MAX, UINT64_MAX - 1};
  for (unsigned shift = 0; shift < 64; ++shift) {
    all.push_back(std::uint64_t{1} << shift);
    all.push_back(io::random_below(random, UINT64_MAX) >> shift);
  }
  return all;
}

TEST(MessageRows, KeysAreThoseOfThePlainEncodingAndLeadBack) {
  for (const std::uint64_t first : numbers()) {
    const std::uint64_t second = ~first * 31;
    const std::string key = waiting_key(kRowsQueue, first, second);
    EXPECT_EQ(key, *format::encode_sort_key(kRowsQueue, "W" + plain_number(first), plain_number(second)));
    EXPECT_EQ(place_key(kRowsQueue, first), *format::encode_sort_key(kRowsQueue, "P" + plain_number(first), ""));
    const Result<TimedPlace> place = decode_timed_key(key);
    ASSERT_TRUE(place.ok()) << first;
    EXPECT_EQ(place->time, first);
    EXPECT_EQ(place->sequence, second);
  }
}

TEST(MessageRows, KeysSortLikeTheirNumbers) {
  for (const std::uint64_t left : numbers()) {
    for (const std::uint64_t right : numbers()) {
      EXPECT_EQ(waiting_key(kRowsQueue, left, 1) < waiting_key(kRowsQueue, right, 1), left < right);
      EXPECT_EQ(waiting_key(kRowsQueue, 1, left) < waiting_key(kRowsQueue, 1, right), left < right);
    }
  }
}

TEST(MessageRows, AKeyThatHasNoTwoNumbersIsDamage) {
  const std::string good = plain_number(5);
  std::string unused_bits = good;
  unused_bits.back() = kAscending.digits[kAscending.digits.find(good.back()) + 1];
  for (const auto& [first, second] :
       std::vector<std::pair<std::string, std::string>>{{"", good},
                                                        {"W", good},
                                                        {"W" + good, ""},
                                                        {"W" + good + "-", good},
                                                        {"W" + good, good.substr(1)},
                                                        {"W" + good, unused_bits},
                                                        {"W" + unused_bits, good},
                                                        {"W" + good, "+" + good.substr(1)}}) {
    EXPECT_EQ(decode_timed_key(*format::encode_sort_key(kRowsQueue, first, second)).code(), Code::kCorruption)
        << first << " " << second;
  }
  EXPECT_EQ(decode_timed_key("short").code(), Code::kCorruption);
}

TEST(MessageTexts, AreRefusedForAForbiddenCharacterAtEachPlace) {
  for (std::size_t size = 1; size <= 20; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (int byte = 0; byte < 0x80; ++byte) {
        std::string text(size, 'a');
        text[at] = static_cast<char>(byte);
        const bool is_allowed = byte >= 0x20 || byte == '\t' || byte == '\n' || byte == '\r';
        EXPECT_EQ(check_message_text(text, 100).ok(), is_allowed) << size << ", " << at << ", " << byte;
      }
      for (const auto& [character, is_allowed] : std::vector<std::pair<std::string, bool>>{
               {"\xC3\xA9", true}, {"\xEF\xBF\xBD", true}, {"\xEF\xBF\xBE", false}, {"\xEF\xBF\xBF", false}}) {
        const std::string text = std::string(at, '\n') + character + std::string(size - at, 'b');
        EXPECT_EQ(check_message_text(text, 100).ok(), is_allowed) << size << ", " << at;
      }
    }
  }
}

}  // namespace
}  // namespace varve::test::message_rows_test
