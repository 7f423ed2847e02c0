// Owns: the proof that the bytes of index entries sort as their values do, and that only encodings decode.
// Method: random values from small ranges, so that pairs are often equal or near, against orders that are written out here.
#include "format/keys/index_key.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "tests/format/hex_text.h"
#include "tests/format/random_values.h"
#include "tests/support/effort.h"

namespace varve::format::index_key_test {
namespace {

constexpr std::uint64_t kSeed = 20'261'128;
constexpr TableId kIndex = index_of_drawn(make_table_id(7, 5));

struct Sample {
  PropertyType type = PropertyType::kString;
  std::string value;
};

std::string of_u64(std::uint64_t value) {
  std::string bytes;
  append_u64(bytes, value);
  return bytes;
}
std::string of_double(double value) {
  return of_u64(std::bit_cast<std::uint64_t>(value));
}

std::string some_text(RandomValues& random) {
  static const std::vector<std::string> kPieces = {
      "a", "b", std::string(1, '\0'), "\x01", "\xEE\x80\x80", "\xF0\x90\x80\x80", std::string(250, 'k')};
  std::string text;
  for (std::uint64_t pieces = random.below(5); pieces > 0; --pieces) text += kPieces[random.below(kPieces.size())];
  return text;
}

double some_double(RandomValues& random) {
  static const std::vector<double> kValues = {-std::numeric_limits<double>::infinity(),
                                              -1.5,
                                              -0.0,
                                              0.0,
                                              5e-324,
                                              1.0,
                                              1.5,
                                              std::numeric_limits<double>::infinity(),
                                              std::numeric_limits<double>::quiet_NaN(),
                                              -std::numeric_limits<double>::quiet_NaN()};
  return kValues[random.below(kValues.size())];
}

Sample some_value(RandomValues& random, PropertyType type) {
  switch (type) {
    case PropertyType::kBinary: {
      std::string bytes = random.one_in(4) ? std::string(255 + random.below(3), '\x7F') : std::string();
      const std::uint64_t more = random.below(3);
      for (std::uint64_t i = 0; i < more; ++i) bytes.push_back("\x00\x01\xFE\xFF"[random.below(4)]);
      return {type, bytes};
    }
    case PropertyType::kBoolean: return {type, std::string(1, static_cast<char>(random.below(2)))};
    case PropertyType::kDateTime: return {type, of_u64(random.one_in(2) ? random.below(4) : random.number() >> 3)};
    case PropertyType::kDouble: return {type, of_double(some_double(random))};
    case PropertyType::kGuid: return {type, std::string(14, '\0') + random.bytes(2)};
    case PropertyType::kInt32:
      return {type, of_u64(random.one_in(2) ? random.below(3) - 1 : random.number()).substr(0, 4)};
    case PropertyType::kInt64: return {type, of_u64(random.one_in(2) ? random.below(3) - 1 : ~random.number())};
    case PropertyType::kString:
    case PropertyType::kLargeValue: break;
  }
  return {PropertyType::kString, some_text(random)};
}

template <typename T>
int sign_of(T a, T b) {
  return (a > b) - (a < b);
}

/// The order of the first bytes of two texts.
template <typename Compare>
int order_cut(const std::string& a, const std::string& b, Compare compare) {
  const bool both_cut = a.size() > kIndexTextBytesMax && b.size() > kIndexTextBytesMax;
  if (both_cut && a.substr(0, kIndexTextBytesMax) == b.substr(0, kIndexTextBytesMax)) return 0;
  return compare(a, b);
}

int order_of(const Sample& a, const Sample& b) {
  if (a.type != b.type) return sign_of(static_cast<int>(a.type), static_cast<int>(b.type));
  switch (a.type) {
    case PropertyType::kBinary:
    case PropertyType::kGuid:
    case PropertyType::kBoolean:
      return order_cut(a.value, b.value, [](const auto& x, const auto& y) { return sign_of(x.compare(y), 0); });
    case PropertyType::kString:
      return order_cut(a.value, b.value, [](const auto& x, const auto& y) { return sign_of(compare_text(x, y), 0); });
    case PropertyType::kDateTime: return sign_of(load_u64(a.value.data()), load_u64(b.value.data()));
    case PropertyType::kInt64:
      return sign_of(static_cast<std::int64_t>(load_u64(a.value.data())),
                     static_cast<std::int64_t>(load_u64(b.value.data())));
    case PropertyType::kInt32:
      return sign_of(static_cast<std::int32_t>(load_u32(a.value.data())),
                     static_cast<std::int32_t>(load_u32(b.value.data())));
    case PropertyType::kDouble: {
      const auto x = std::bit_cast<double>(load_u64(a.value.data()));
      const auto y = std::bit_cast<double>(load_u64(b.value.data()));
      if (std::isnan(x) || std::isnan(y)) return sign_of(std::isnan(x) ? 1 : 0, std::isnan(y) ? 1 : 0);
      return sign_of(x, y);
    }
    case PropertyType::kLargeValue: break;
  }
  return 0;
}

Sample any_value(RandomValues& random) {
  return some_value(random, static_cast<PropertyType>(1 + random.below(8)));
}

std::string entity_key(std::string_view partition_key, std::string_view row_key) {
  return *encode_sort_key(make_table_id(7, 3), partition_key, row_key);
}

std::string entity_of(const std::vector<std::pair<std::string, Sample>>& properties) {
  EntityBuilder builder;
  for (const auto& [name, sample] : properties) builder.add({name, sample.type, sample.value});
  return builder.finish();
}

TEST(IndexKey, ComponentsSortAsTheirValuesDoInBothDirections) {
  RandomValues random(kSeed);
  for (int round = 0; round < test::effort(20'000); ++round) {
    const Sample a = any_value(random);
    const Sample b = random.one_in(8) ? any_value(random) : some_value(random, a.type);
    const Sample second_a = any_value(random);
    const Sample second_b = any_value(random);
    for (const bool is_descending : {false, true}) {
      std::string of_a;
      std::string of_b;
      append_index_component(of_a, a.type, a.value, is_descending);
      append_index_component(of_b, b.type, b.value, is_descending);
      const int expected = is_descending ? order_of(b, a) : order_of(a, b);
      ASSERT_EQ(sign_of(index_prefix(kIndex, of_a).compare(index_prefix(kIndex, of_b)), 0), expected)
          << "seed " << kSeed << " round " << round << ": " << to_hex(of_a) << " " << to_hex(of_b);
      append_index_component(of_a, second_a.type, second_a.value, false);
      append_index_component(of_b, second_b.type, second_b.value, false);
      const int both = expected != 0 ? expected : order_of(second_a, second_b);
      ASSERT_EQ(sign_of(index_partition(kIndex, of_a).compare(index_partition(kIndex, of_b)), 0), both)
          << "seed " << kSeed << " round " << round;
    }
  }
}

TEST(IndexKey, ADecodedKeyHasTheValuesAndTheEntityOfTheEncodedOne) {
  RandomValues random(kSeed + 1);
  for (int round = 0; round < test::effort(5'000); ++round) {
    std::string components;
    std::vector<IndexValue> values;
    const std::size_t count = 1 + random.below(kIndexComponentsMax);
    for (std::size_t i = 0; i < count; ++i) {
      const Sample sample = any_value(random);
      const bool is_descending = random.one_in(2);
      const bool was_cut = append_index_component(components, sample.type, sample.value, is_descending);
      values.push_back(
          {sample.type, was_cut ? sample.value.substr(0, kIndexTextBytesMax) : sample.value, was_cut, is_descending});
      if (sample.type != PropertyType::kDouble) continue;
      const auto number = std::bit_cast<double>(load_u64(sample.value.data()));
      if (std::isnan(number)) values.back().value = of_u64(0x7FF8'0000'0000'0000);
      if (order_of(sample, {PropertyType::kDouble, of_double(0.0)}) == 0) values.back().value = of_double(0.0);
    }
    const std::string partition_key = some_text(random);
    const std::string row_key = some_text(random);
    const std::string key = encode_index_key(kIndex, components, entity_key(partition_key, row_key));
    ASSERT_TRUE(is_framed(key) && is_index(table_id_of(key)));
    ASSERT_EQ(partition_of(key), index_partition(kIndex, components));
    const Result<IndexKey> decoded = decode_index_key(key);
    ASSERT_TRUE(decoded.ok()) << "seed " << kSeed + 1 << " round " << round << ": " << decoded.status().message();
    EXPECT_EQ(decoded->index, kIndex);
    EXPECT_EQ(decoded->components, values) << "seed " << kSeed + 1 << " round " << round;
    EXPECT_EQ(decoded->entity.partition_key, partition_key);
    EXPECT_EQ(decoded->entity.row_key, row_key);
    EXPECT_EQ(*entity_key_of(key, make_table_id(7, 3)), entity_key(partition_key, row_key));
  }
}

TEST(IndexKey, TheLongestKeyIsWithinTheLimit) {
  std::string components;
  for (std::size_t i = 0; i < kIndexComponentsMax; ++i) {
    append_index_component(components, PropertyType::kString, std::string(2 * kIndexTextBytesMax, '\0'), false);
  }
  const std::string longest(3072, 'k');
  const std::string key = encode_index_key(kIndex, components, entity_key(longest, longest));
  EXPECT_LE(key.size(), kIndexKeyBytesMax);
  EXPECT_GT(key.size(), kSortKeyBytesMax);
  EXPECT_TRUE(decode_index_key(key).ok());
}

TEST(IndexKey, AnEntityWithoutAComponentHasNoEntry) {
  const IndexDefinition definition{{{IndexSource::kProperty, "A"}, {IndexSource::kProperty, "B"}}};
  const std::string with_both =
      entity_of({{"A", {PropertyType::kString, "x"}}, {"B", {PropertyType::kBoolean, "\x01"}}});
  const std::string with_one = entity_of({{"A", {PropertyType::kString, "x"}}});
  const std::string key = entity_key("p", "r");
  EXPECT_TRUE(index_components(definition, key, 1, *EncodedEntity::open(with_both)).has_value());
  EXPECT_FALSE(index_components(definition, key, 1, *EncodedEntity::open(with_one)).has_value());
  EntityBuilder large;
  large.add_string("A", "x");
  large.add_large_value("B", {1, 2});
  const std::string with_large = large.finish();
  EXPECT_FALSE(index_components(definition, key, 1, *EncodedEntity::open(with_large)).has_value());
}

TEST(IndexKey, AKeyOfTheEntityIsAComponentLikeAString) {
  for (const std::string& text :
       {std::string("plain"), std::string("\x01\xEE\x80\x80 z"), std::string(300, 'q'), std::string()}) {
    const std::string properties = entity_of({{"Same", {PropertyType::kString, text}}});
    const IndexDefinition by_property{{{IndexSource::kProperty, "Same", true}}};
    for (const IndexSource source : {IndexSource::kPartitionKey, IndexSource::kRowKey}) {
      const IndexDefinition by_key{{{source, "", true}}};
      const bool is_row = source == IndexSource::kRowKey;
      const std::string key = is_row ? entity_key("other", text) : entity_key(text, "other");
      IndexComponentsInfo info;
      EXPECT_EQ(index_components(by_key, key, 1, *EncodedEntity::open(properties), &info),
                index_components(by_property, key, 1, *EncodedEntity::open(properties)));
      EXPECT_FALSE(info.timestamp_at);
      EXPECT_EQ(info.was_cut, text.size() > kIndexTextBytesMax);
    }
  }
}

TEST(IndexKey, ATimestampHasOneLengthAndSortsAsVersionsDo) {
  RandomValues random(kSeed + 2);
  for (int round = 0; round < test::effort(5'000); ++round) {
    const CommitVersion a = random.one_in(3) ? random.below(300) : random.number() >> (2 + random.below(62));
    const CommitVersion b = random.one_in(3) ? a + random.below(3) : random.number() >> (2 + random.below(62));
    for (const bool is_descending : {false, true}) {
      std::string of_a;
      std::string of_b;
      append_index_timestamp(of_a, a, is_descending);
      append_index_timestamp(of_b, 0, is_descending);
      set_index_timestamp(of_b.data(), b);
      ASSERT_EQ(of_a.size(), kIndexTimestampBytes);
      ASSERT_EQ(of_b.size(), kIndexTimestampBytes);
      ASSERT_EQ(index_prefix(kIndex, of_a).size(), kTableIdBytes + kIndexTimestampBytes) << "no byte is escaped";
      ASSERT_EQ(sign_of(index_prefix(kIndex, of_a).compare(index_prefix(kIndex, of_b)), 0),
                is_descending ? sign_of(b, a) : sign_of(a, b))
          << "seed " << kSeed + 2 << " round " << round << ": " << a << " " << b;
      const Result<IndexKey> decoded = decode_index_key(encode_index_key(kIndex, of_b, entity_key("p", "r")));
      if (b > kCommitVersionMax) continue;
      ASSERT_TRUE(decoded.ok()) << decoded.status().message();
      EXPECT_EQ(decoded->components,
                (std::vector<IndexValue>{{PropertyType::kDateTime, of_u64(b), false, is_descending, true}}));
    }
  }
}

TEST(IndexKey, TheTimestampOfAnEntityHasItsPlaceAmongTheComponents) {
  const IndexDefinition definition{
      {{IndexSource::kRowKey, ""}, {IndexSource::kTimestamp, "", true}, {IndexSource::kProperty, "A"}}};
  const std::string properties = entity_of({{"A", {PropertyType::kBinary, std::string("\x19\0\1", 3)}}});
  const std::string key = entity_key("p", std::string("\0\1", 2));
  IndexComponentsInfo info;
  std::optional<std::string> without = index_components(definition, key, 0, *EncodedEntity::open(properties), &info);
  ASSERT_TRUE(without && info.timestamp_at);
  std::string entry = encode_index_key(kIndex, *without, key);
  const std::size_t place = index_prefix(kIndex, without->substr(0, *info.timestamp_at)).size();
  set_index_timestamp(entry.data() + place, 638'000'000'000'000'001);
  const std::string with =
      *index_components(definition, key, 638'000'000'000'000'001, *EncodedEntity::open(properties));
  EXPECT_EQ(entry, encode_index_key(kIndex, with, key));
  EXPECT_TRUE(decode_index_key(entry).ok());
}

TEST(IndexKey, AnEntryCarriesThePropertiesThatTheEntityHas) {
  const IndexDefinition definition{{{IndexSource::kRowKey, ""}}, false, {"B", "Missing", "A"}};
  const std::string properties =
      entity_of({{"A", {PropertyType::kString, "x"}}, {"B", {PropertyType::kBoolean, "\x01"}}});
  const std::string value = encode_index_value(definition, *EncodedEntity::open(properties));
  EXPECT_EQ(value, entity_of({{"B", {PropertyType::kBoolean, "\x01"}}, {"A", {PropertyType::kString, "x"}}}));
}

TEST(IndexKey, BytesThatNoEncoderMakesAreCorruption) {
  std::string whole;
  append_index_component(whole, PropertyType::kString, "ab", false);
  const std::string key = encode_index_key(kIndex, whole, entity_key("p", "r"));
  ASSERT_TRUE(decode_index_key(key).ok());
  for (std::size_t bytes = 0; bytes < key.size(); ++bytes) {
    EXPECT_EQ(decode_index_key(key.substr(0, bytes)).code(), Code::kCorruption) << bytes;
  }
  const auto code_of = [](const std::string& components) {
    return decode_index_key(encode_index_key(kIndex, components, entity_key("p", "r"))).code();
  };
  EXPECT_EQ(code_of(""), Code::kCorruption);                                     // no component
  EXPECT_EQ(code_of(whole + whole + whole + whole + whole), Code::kCorruption);  // five
  EXPECT_EQ(code_of(whole.substr(0, whole.size() - 1)), Code::kCorruption);      // no end
  EXPECT_EQ(code_of(std::string("\x12\x02", 2)), Code::kCorruption);             // neither false nor true
  EXPECT_EQ(code_of(std::string("\x18\xC3", 2) + '\0'), Code::kCorruption);      // not UTF-8
  EXPECT_EQ(code_of("\x18"
                    "a\xFF"),
            Code::kCorruption);                                                              // cut too early
  EXPECT_EQ(code_of("\x19" + std::string(8, 'x')), Code::kCorruption);                       // a short Timestamp
  EXPECT_EQ(code_of("\x19" + std::string(9, '\xFE')), Code::kCorruption);                    // bytes of no version
  EXPECT_EQ(code_of("\x19\x42" + std::string(8, '\x02')), Code::kCorruption);                // above every version
  EXPECT_EQ(code_of("\x1A" + std::string(16, 'x')), Code::kCorruption);                      // no type
  EXPECT_EQ(code_of(std::string("\x14\xFF\xFF") + std::string(6, 'x')), Code::kCorruption);  // another NaN
  EXPECT_EQ(code_of(std::string("\x14\x7F") + std::string(7, '\xFF')), Code::kCorruption);   // the negative zero
  EXPECT_EQ(code_of("\x13" + std::string(8, '\x7F')), Code::kCorruption);                    // after the year 9999
}

TEST(IndexKey, ADefinitionIsReadAsItWasWritten) {
  const IndexDefinition definition{{{IndexSource::kProperty, "Total", true},
                                    {IndexSource::kPartitionKey, ""},
                                    {IndexSource::kRowKey, "", true},
                                    {IndexSource::kTimestamp, "", true}},
                                   false,
                                   {"Name", "Total"}};
  const std::string bytes = encode_index_definition(definition);
  const Result<IndexDefinition> read = decode_index_definition(bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, definition);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Result<IndexDefinition> cut = decode_index_definition(std::string_view(bytes).substr(0, size));
    EXPECT_TRUE(!cut.ok() || encode_index_definition(*cut) == bytes.substr(0, size)) << size;
  }
}

TEST(IndexKey, ADefinitionThatCannotBeIsRefused) {
  const auto code_of = [](const IndexDefinition& definition) { return check_index_definition(definition).code(); };
  const IndexComponent row{IndexSource::kRowKey, ""};
  EXPECT_EQ(code_of({}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({{row, row}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({{{IndexSource::kProperty, ""}}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({{{IndexSource::kRowKey, "Name"}}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({{row}, false, {"A", "A"}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({{{IndexSource::kTimestamp, ""}}, true}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({{{IndexSource::kTimestamp, ""}}, false}), Code::kOk);
  EXPECT_EQ(code_of({{row}, false, {""}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({{row}, false, {"A"}}), Code::kOk);
  std::string unknown_source = encode_index_definition({{row}});
  unknown_source[2] = 9;
  EXPECT_EQ(decode_index_definition(unknown_source).code(), Code::kUnsupported);
}

}  // namespace
}  // namespace varve::format::index_key_test
