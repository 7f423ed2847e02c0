// Owns: the proof that encoded keys sort as the service sorts texts, that different keys have different encodings, and
// that only encodings decode.
// Method: all of a small space, and random keys of a large one. Both are compared with the slow reference in
// hostile_text.h, which converts UTF-8 to UTF-16 and compares code units.
#include "format/keys/sort_key.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/checksum.h"
#include "tests/format/hex_text.h"
#include "tests/format/hostile_text.h"
#include "tests/format/random_values.h"
#include "tests/support/effort.h"

namespace varve::format::sort_key_test {
namespace {

int sign(int value) {
  return (value > 0) - (value < 0);
}

template <typename T>
int order_of(const T& a, const T& b) {
  return (a > b) - (a < b);
}

std::string encoded_text(std::string_view text) {
  std::string out;
  EXPECT_TRUE(append_text(out, text).ok()) << to_hex(text);
  return out;
}

std::string encoded_key(TableId table, std::string_view partition_key, std::string_view row_key) {
  Result<std::string> key = encode_sort_key(table, partition_key, row_key);
  EXPECT_TRUE(key.ok()) << to_hex(partition_key) << " / " << to_hex(row_key);
  return key.ok() ? *std::move(key) : std::string();
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool in_prefix_range(std::string_view key, std::string_view prefix) {
  const std::string end = end_of_prefix(prefix);
  return key >= prefix && (end.empty() || key < end);
}

TEST(SortKey, TextsOfUpToFourBorderCharactersSortAsTheirCodeUnits) {
  const std::u32string alphabet(U"\x00\x01\x02za\u0080\u0800\uD7FF\uE000\uFFFF\U00010000\U0010FFFF", 12);
  std::vector<std::u32string> texts = {U""};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].size() == 4) continue;
    for (const char32_t character : alphabet) texts.push_back(texts[i] + character);
  }
  ASSERT_EQ(texts.size(), 1U + 12 + 144 + 1728 + 20736);

  struct Both {
    std::vector<std::uint16_t> units;
    std::string text;
  };
  std::vector<Both> sorted;
  for (const std::u32string& text : texts) sorted.push_back({slow_utf16(utf8(text)), utf8(text)});
  std::sort(sorted.begin(), sorted.end(), [](const Both& a, const Both& b) { return a.units < b.units; });
  // Neighbours ascend strictly, so the whole list does: there is one order, and no two texts share an encoding.
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const Both& a = sorted[i - 1];
    const Both& b = sorted[i];
    ASSERT_LT(encoded_text(a.text), encoded_text(b.text)) << to_hex(a.text) << " before " << to_hex(b.text);
    ASSERT_LT(compare_text(a.text, b.text), 0) << to_hex(a.text) << " before " << to_hex(b.text);
    ASSERT_GT(compare_text(b.text, a.text), 0);
    ASSERT_EQ(compare_text(a.text, a.text), 0);
  }
}

TEST(SortKey, RandomHostileTextsSortAsTheirCodeUnits) {
  constexpr std::uint64_t kSeed = 41;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  std::array<int, 3> seen{};
  for (int step = 0; step < test::effort(300'000); ++step) {
    const std::string a = hostile_text(random);
    const std::string b = random.one_in(3) ? hostile_text(random) : neighbour_of(a, random);
    const int expected = order_of(slow_utf16(a), slow_utf16(b));
    ++seen[static_cast<std::size_t>(expected + 1)];
    ASSERT_EQ(order_of(encoded_text(a), encoded_text(b)), expected) << to_hex(a) << " against " << to_hex(b);
    ASSERT_EQ(sign(compare_text(a, b)), expected) << to_hex(a) << " against " << to_hex(b);
  }
  for (const int count : seen) EXPECT_GT(count, test::effort(10'000));
}

TEST(SortKey, RandomKeysSortByTableThenPartitionKeyThenRowKey) {
  constexpr std::uint64_t kSeed = 42;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  for (int step = 0; step < test::effort(200'000); ++step) {
    const TableId table_a = make_table_id(static_cast<std::uint32_t>(random.below(3)), 1);
    const TableId table_b = random.one_in(4) ? random.number() : table_a;
    const std::string partition_a = hostile_text(random);
    const std::string partition_b = random.one_in(2) ? partition_a : neighbour_of(partition_a, random);
    const std::string row_a = hostile_text(random);
    const std::string row_b = neighbour_of(row_a, random);
    const int expected = order_of(std::tuple(table_a, slow_utf16(partition_a), slow_utf16(row_a)),
                                  std::tuple(table_b, slow_utf16(partition_b), slow_utf16(row_b)));
    ASSERT_EQ(order_of(encoded_key(table_a, partition_a, row_a), encoded_key(table_b, partition_b, row_b)), expected)
        << to_hex(partition_a) << " / " << to_hex(row_a) << "\nagainst\n"
        << to_hex(partition_b) << " / " << to_hex(row_b);
  }
}

TEST(SortKey, EveryCharacterRoundTripsAndSortsAboveTheOneBefore) {
  std::string previous;
  std::vector<char32_t> in_order;
  for (char32_t c = 0; c < 0xE000; ++c) {
    if (is_scalar_value(c)) in_order.push_back(c);
  }
  for (char32_t c = 0x10000; c <= 0x10FFFF; ++c) in_order.push_back(c);  // surrogates are below U+E000
  for (char32_t c = 0xE000; c <= 0xFFFF; ++c) in_order.push_back(c);
  ASSERT_EQ(in_order.size(), 0x110000U - 0x800U);
  for (std::size_t i = 0; i < in_order.size(); i += test::kStride) {
    const char32_t c = in_order[i];
    const std::string text = utf8({&c, 1});
    const std::string key = encoded_key(1, text, text);
    ASSERT_LT(previous, key) << static_cast<std::uint32_t>(c);
    const Result<SortKey> decoded = decode_sort_key(key);
    ASSERT_TRUE(decoded.ok()) << static_cast<std::uint32_t>(c);
    ASSERT_EQ(decoded->partition_key, text);
    ASSERT_EQ(decoded->row_key, text);
    previous = key;
  }
}

TEST(SortKey, RandomHostileKeysRoundTrip) {
  constexpr std::uint64_t kSeed = 43;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  for (int step = 0; step < test::effort(200'000); ++step) {
    const TableId table = random.number();
    const std::string partition_key = hostile_text(random);
    const std::string row_key = hostile_text(random);
    const std::string key = encoded_key(table, partition_key, row_key);
    SortKeyBuffer buffer;
    ASSERT_TRUE(buffer.encode(table, partition_key, row_key).ok());
    ASSERT_EQ(buffer.key(), key);
    const Result<SortKey> decoded = decode_sort_key(key);
    ASSERT_TRUE(decoded.ok()) << to_hex(key);
    ASSERT_EQ(decoded->table, table);
    ASSERT_EQ(decoded->partition_key, partition_key);
    ASSERT_EQ(decoded->row_key, row_key);

    ASSERT_TRUE(is_framed(key)) << to_hex(key);
    ASSERT_EQ(table_id_of(key), table);
    const Result<std::string> partition = encode_partition(table, partition_key);
    ASSERT_TRUE(partition.ok());
    ASSERT_EQ(partition_of(key), *partition);
    ASSERT_TRUE(starts_with(key, encode_table(table)));
  }
}

TEST(SortKey, ABufferHoldsPlainKeysOfEveryLengthOneAfterTheOther) {
  SortKeyBuffer buffer;
  for (std::size_t bytes = 0; bytes < 300; ++bytes) {
    const std::string partition_key(bytes, 'p');
    for (const std::string& row_key : {std::string(), std::string("row"), std::string(300 - bytes, 'r')}) {
      ASSERT_TRUE(buffer.encode(7, partition_key, row_key).ok());
      ASSERT_EQ(buffer.key(), encoded_key(7, partition_key, row_key));
    }
  }
}

TEST(SortKey, ABufferRefusesWhatIsNotUtf8) {
  SortKeyBuffer buffer;
  ASSERT_TRUE(buffer.encode(7, "p", "r").ok());
  EXPECT_EQ(buffer.encode(7, "p\xFF", "r").code(), Code::kInvalidArgument);
  EXPECT_EQ(buffer.key(), "");
  EXPECT_EQ(buffer.encode(7, "p", "\xC0").code(), Code::kInvalidArgument);
  ASSERT_TRUE(buffer.encode(8, "\xC3\xA9", "r").ok());
  EXPECT_EQ(buffer.key(), encoded_key(8, "\xC3\xA9", "r"));
}

TEST(SortKey, DecodeAcceptsNothingButEncodings) {
  constexpr std::uint64_t kSeed = 44;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  int accepted = 0;
  int refused = 0;
  for (int step = 0; step < test::effort(400'000); ++step) {
    std::string bytes = mutated(encoded_key(random.below(3), hostile_text(random), hostile_text(random)), random);
    if (random.one_in(4)) bytes = mutated(bytes, random);
    const Result<SortKey> decoded = decode_sort_key(bytes);
    if (!decoded.ok()) {
      ++refused;
      ASSERT_EQ(decoded.code(), Code::kCorruption);
      continue;
    }
    ++accepted;
    ASSERT_TRUE(is_framed(bytes));
    ASSERT_EQ(to_hex(encoded_key(decoded->table, decoded->partition_key, decoded->row_key)), to_hex(bytes));
  }
  EXPECT_GT(accepted, test::effort(20'000));
  EXPECT_GT(refused, test::effort(20'000));
}

TEST(SortKey, DecodeRefusesEachKindOfDamage) {
  for (const std::string_view hex : {
           "",
           "00 00 00 00 00 00 00",                       // half a table id
           "00 00 00 00 00 00 00 01",                    // no texts
           "00 00 00 00 00 00 00 01 61 00",              // one text
           "00 00 00 00 00 00 00 01 61 00 62",           // an open text
           "00 00 00 00 00 00 00 01 61 00 62 00 63",     // bytes after the key
           "00 00 00 00 00 00 00 01 61 00 62 00 00",     // a third text
           "00 00 00 00 00 00 00 01 01 00 00",           // an escape of nothing
           "00 00 00 00 00 00 00 01 01 03 00 00",        // an escape that is none
           "00 00 00 00 00 00 00 01 01 00 01 00",        // half an escape
           "00 00 00 00 00 00 00 01 ee 80 80 00 00",     // U+E000 as UTF-8
           "00 00 00 00 00 00 00 01 ef bf bf 00 00",     // U+FFFF as UTF-8
           "00 00 00 00 00 00 00 01 f5 80 00 00",        // a lifted character cut short
           "00 00 00 00 00 00 00 01 f7 80 80 00 00",     // no lead byte
           "00 00 00 00 00 00 00 01 ed a0 80 00 00",     // a surrogate
           "00 00 00 00 00 00 00 01 c0 80 00 00",        // U+0000 in two bytes
           "00 00 00 00 00 00 00 01 f4 90 80 80 00 00",  // U+110000
           "00 00 00 00 00 00 00 01 61 00 80 00",        // a continuation byte alone
       }) {
    SCOPED_TRACE(hex);
    const Result<SortKey> decoded = decode_sort_key(from_hex(hex));
    ASSERT_FALSE(decoded.ok());
    EXPECT_EQ(decoded.code(), Code::kCorruption);
  }
}

TEST(SortKey, FramesAreEightBytesAndTwoEndedTexts) {
  const std::string key = encoded_key(1, std::string("a\0b", 3), std::string("\0\x01", 2));
  ASSERT_TRUE(is_framed(key));
  for (std::size_t kept = 0; kept < key.size(); ++kept) EXPECT_FALSE(is_framed(key.substr(0, kept))) << kept;
  for (int byte = 0; byte < 256; ++byte) EXPECT_FALSE(is_framed(key + static_cast<char>(byte))) << byte;
  EXPECT_TRUE(is_framed(from_hex("00 00 00 00 00 00 00 00 00 00")));
  EXPECT_FALSE(is_framed(from_hex("00 00 00 00 00 00 00 00 00")));
  EXPECT_FALSE(is_framed(from_hex("00 00 00 00 00 00 00 00")));
}

TEST(SortKey, PrefixRangesHoldExactlyTheKeysWithThePrefix) {
  constexpr std::uint64_t kSeed = 45;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  struct Entry {
    TableId table;
    std::string partition_key, row_key, key;
  };
  std::vector<Entry> entries;
  std::string text;
  for (int i = 0; i < 1500; ++i) {
    const TableId table = make_table_id(static_cast<std::uint32_t>(random.below(2)), random.one_in(2) ? 1 : ~0U);
    text = neighbour_of(text, random);
    const std::string partition_key = random.one_in(2) ? std::string("p") : neighbour_of(text, random);
    const std::string row_key = neighbour_of(text, random);
    if (random.one_in(4)) text = hostile_text(random);
    entries.push_back({table, partition_key, row_key, encoded_key(table, partition_key, row_key)});
  }

  std::size_t inside = 0;
  for (std::size_t i = 0; i < 300; ++i) {
    const Entry& some = entries[random.below(entries.size())];
    const std::string row_prefix = random.one_in(2) ? some.row_key : neighbour_of(some.row_key, random);
    const std::string partition_prefix = neighbour_of(some.partition_key, random);
    const std::string account = encode_table(some.table).substr(0, 4);
    const std::string table = encode_table(some.table);
    const std::string partition = *encode_partition(some.table, some.partition_key);
    std::string rows = partition;
    ASSERT_TRUE(append_text_prefix(rows, row_prefix).ok());
    std::string partitions = table;
    ASSERT_TRUE(append_text_prefix(partitions, partition_prefix).ok());

    for (const Entry& entry : entries) {
      const bool same_account = account_of(entry.table) == account_of(some.table);
      const bool same_table = entry.table == some.table;
      const bool same_partition = same_table && entry.partition_key == some.partition_key;
      ASSERT_EQ(in_prefix_range(entry.key, account), same_account);
      ASSERT_EQ(in_prefix_range(entry.key, table), same_table);
      ASSERT_EQ(in_prefix_range(entry.key, partition), same_partition);
      ASSERT_EQ(in_prefix_range(entry.key, rows), same_partition && starts_with(entry.row_key, row_prefix))
          << to_hex(entry.row_key) << " for " << to_hex(row_prefix);
      ASSERT_EQ(in_prefix_range(entry.key, partitions),
                same_table && starts_with(entry.partition_key, partition_prefix))
          << to_hex(entry.partition_key) << " for " << to_hex(partition_prefix);
      inside += in_prefix_range(entry.key, rows) ? 1U : 0U;
    }
  }
  EXPECT_GT(inside, 1000U);
}

TEST(SortKey, TheEndOfAPrefixIsTheSmallestStringAboveItsRange) {
  EXPECT_EQ(to_hex(end_of_prefix(from_hex("61 62"))), "61 63");
  EXPECT_EQ(to_hex(end_of_prefix(from_hex("61 ff"))), "62");
  EXPECT_EQ(to_hex(end_of_prefix(from_hex("61 fe ff ff"))), "61 ff");
  EXPECT_EQ(to_hex(end_of_prefix(from_hex("00"))), "01");
  EXPECT_EQ(to_hex(end_of_prefix(from_hex("7f"))), "80");
  EXPECT_EQ(end_of_prefix(from_hex("ff ff")), "");
  EXPECT_EQ(end_of_prefix(""), "");
}

TEST(SortKey, TextThatIsNotUtf8IsRefusedAndNothingAppended) {
  std::string out = "kept";
  const Status status = append_text(out, "abcdefghijk\xFFz");
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.message(), "the text is not valid UTF-8 at byte 11");
  EXPECT_EQ(out, "kept");
  // After characters that were already changed.
  EXPECT_EQ(append_text_prefix(out, std::string("\0\x01\xEE\x80\x80\x80", 6)).message(),
            "the text is not valid UTF-8 at byte 5");
  EXPECT_EQ(out, "kept");

  EXPECT_EQ(encode_sort_key(1, "\x80", "").status().message(), "PartitionKey: the text is not valid UTF-8 at byte 0");
  EXPECT_EQ(encode_sort_key(1, "", "a\xC3").status().message(), "RowKey: the text is not valid UTF-8 at byte 1");
  EXPECT_EQ(encode_partition(1, "\xED\xA0\x80").code(), Code::kInvalidArgument);
}

TEST(SortKey, TheLongestTextsFitTheLimit) {
  std::string longest;
  for (int i = 0; i < 1024; ++i) append_utf8(longest, 0xFFFF);
  EXPECT_EQ(encoded_key(1, longest, longest).size(), kSortKeyBytesMax);
  EXPECT_LT(encoded_key(1, std::string(1024, '\0'), std::string(1024, '\x01')).size(), kSortKeyBytesMax);
}

TEST(SortKey, PartitionsAreHashedByTheirBytes) {
  const std::string a = encoded_key(1, "p", "a");
  const std::string b = encoded_key(1, "p", "b");
  const std::string c = encoded_key(2, "p", "a");
  EXPECT_EQ(partition_hash(partition_of(a)), partition_hash(partition_of(b)));
  EXPECT_NE(partition_hash(partition_of(a)), partition_hash(partition_of(c)));
  EXPECT_EQ(partition_hash(partition_of(a)), content_hash(partition_of(a)));
}

TEST(SortKey, KeysOneAfterTheOtherAreDecodedAsEachAlone) {
  SortKeyDecoder decoder;
  const auto expect_taken = [&decoder](const std::string& key) {
    const Result<SortKey> alone = decode_sort_key(key);
    ASSERT_TRUE(alone.ok());
    ASSERT_TRUE(decoder.decode(key).ok());
    EXPECT_EQ(decoder.partition_key(), alone->partition_key);
    EXPECT_EQ(decoder.row_key(), alone->row_key);
  };
  const std::string changed("\0\x01\xEE\x80\x80", 5);
  for (const char* const partition : {"p", "p", "pq", "p", ""}) {
    for (const std::string& row : {std::string(), std::string("a"), changed, std::string("a longer row key")}) {
      expect_taken(encoded_key(1, partition, row));
    }
  }
  expect_taken(encoded_key(1, changed, "a"));
  expect_taken(encoded_key(2, changed, "a"));

  // A key that does not decode alone does not decode after another key of its partition.
  const std::string key = encoded_key(2, changed, "b");
  for (const std::string& damaged : {key.substr(0, key.size() - 1), key + "x", key.substr(0, key.size() - 2) + "\xEE",
                                     key.substr(0, 4), std::string()}) {
    EXPECT_EQ(decoder.decode(damaged).code(), Code::kCorruption);
    EXPECT_EQ(decoder.decode(damaged).message(), decode_sort_key(damaged).status().message());
    expect_taken(key);
  }
}

TEST(SortKey, KeysThatAreKnownToShareAStartAreDecodedAsEachAlone) {
  std::vector<std::string> keys;
  for (const char* const partition : {"p", "partition 1", "partition 2"}) {
    for (const char* const row :
         {"", "r", "row-0001", "row-0002", "row-0002-and-more", "row-0002-\xC3\xA9", "row-0002-\xEE\x80\x80",
          "row-0002-\xEE\x80\x80-and-more", "row-0003", "row-0003-which-is-much-longer"}) {
      keys.push_back(encoded_key(1, partition, row));
    }
    // These do not decode alone.
    keys.push_back(keys.back() + "x");
    keys.push_back(keys.back() + '\0');
    keys.push_back(encoded_key(1, partition, "row-0002-and-more").replace(25, 1, "\xEE"));
    keys.push_back(encoded_key(1, partition, "row-0002-and-more").replace(25, 1, std::string(1, '\0')));
  }
  for (const std::string& before : keys) {
    for (const std::string& key : keys) {
      SCOPED_TRACE(testing::PrintToString(key) + " after " + testing::PrintToString(before));
      const auto differs = std::mismatch(before.begin(), before.end(), key.begin(), key.end());
      const auto same = static_cast<std::size_t>(differs.first - before.begin());
      const Result<SortKey> alone = decode_sort_key(key);
      for (std::size_t shared = 0; shared <= same; ++shared) {
        SortKeyDecoder decoder;
        if (!decoder.decode(before).ok()) break;
        const bool is_row_alone = decoder.decode_row_alone(key, shared);
        EXPECT_TRUE(alone.ok() || !is_row_alone) << shared;
        if (!is_row_alone) continue;
        EXPECT_EQ(decoder.partition_key(), alone->partition_key) << shared;
        EXPECT_EQ(decoder.row_key(), alone->row_key) << shared;
      }
    }
  }
}

TEST(SortKey, AccountsAreTheUpperHalfOfTableIds) {
  EXPECT_EQ(make_table_id(0x01020304, 0x05060708), 0x0102030405060708U);
  EXPECT_EQ(account_of(make_table_id(~0U, 1)), ~0U);
  EXPECT_EQ(account_of(make_table_id(0, ~0U)), 0U);
}

}  // namespace
}  // namespace varve::format::sort_key_test
