// Owns: the proof that fields of a later version are kept or refused, and that damage is distinguished from both.
#include "format/bytes/tagged_fields.h"

#include <array>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/format/hex_text.h"
#include "tests/format/random_values.h"

namespace varve::format::tagged_fields_test {
namespace {

struct Walk {
  std::vector<Field> fields;
  Status status;
};

Walk walk(std::string_view bytes) {
  Walk walked;
  FieldReader reader(bytes);
  while (!reader.at_end()) {
    const Result<Field> field = reader.next();
    if (!field.ok()) {
      walked.status = field.status();
      break;
    }
    walked.fields.push_back(*field);
  }
  return walked;
}

std::string written(const std::vector<Field>& fields) {
  std::string bytes;
  for (const Field& field : fields) append_field(bytes, field.tag, field.value);
  return bytes;
}

TEST(TaggedFields, OddTagsMustBeKnown) {
  EXPECT_TRUE(must_be_known(1));
  EXPECT_FALSE(must_be_known(2));
  EXPECT_TRUE(must_be_known(std::numeric_limits<Tag>::max()));
}

TEST(TaggedFields, FieldsAreReadAsTheyWereWritten) {
  std::string bytes;
  append_field(bytes, 1, "one");
  append_field(bytes, 1, "");
  append_number_field(bytes, 3, 300);
  append_field(bytes, std::numeric_limits<Tag>::max(), std::string(200, 'x'));

  const Walk walked = walk(bytes);
  ASSERT_TRUE(walked.status.ok()) << walked.status.to_string();
  ASSERT_EQ(walked.fields.size(), 4U);
  EXPECT_EQ(walked.fields[0].tag, 1U);
  EXPECT_EQ(walked.fields[0].value, "one");
  EXPECT_EQ(walked.fields[1].tag, 1U);
  EXPECT_EQ(walked.fields[1].value, "");
  EXPECT_EQ(walked.fields[2].tag, 3U);
  const Result<std::uint64_t> number = walked.fields[2].number();
  ASSERT_TRUE(number.ok());
  EXPECT_EQ(*number, 300U);
  EXPECT_EQ(walked.fields[3].tag, std::numeric_limits<Tag>::max());
  EXPECT_EQ(walked.fields[3].value.size(), 200U);
}

TEST(TaggedFields, EveryWayToWriteANumberAgrees) {
  constexpr std::uint64_t kSeed = 31;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  for (int step = 0; step < 10'000; ++step) {
    const Tag tag = static_cast<Tag>(random.number() >> 32) | 1U;
    const std::uint64_t value = random.one_in(20) ? std::numeric_limits<std::uint64_t>::max() : random.number();
    std::string appended;
    append_number_field(appended, tag, value);
    ASSERT_EQ(number_field_bytes(tag, value), appended.size());
    std::array<char, 32> stored{};
    const char* end = store_number_field(stored.data(), tag, value);
    ASSERT_EQ(std::string_view(stored.data(), static_cast<std::size_t>(end - stored.data())), appended);

    const Walk walked = walk(appended);
    ASSERT_EQ(walked.fields.size(), 1U);
    const Result<std::uint64_t> number = walked.fields[0].number();
    ASSERT_TRUE(number.ok());
    ASSERT_EQ(*number, value);
  }
}

TEST(TaggedFields, AValueThatIsNotOneVarintIsNoNumber) {
  for (const std::string_view hex : {"", "80", "80 00", "01 02", "ff ff ff ff ff ff ff ff ff 02"}) {
    SCOPED_TRACE(hex);
    const std::string value = from_hex(hex);
    Field field;
    field.tag = 7;
    field.value = value;
    const Result<std::uint64_t> number = field.number();
    ASSERT_FALSE(number.ok());
    EXPECT_EQ(number.code(), Code::kCorruption);
    EXPECT_NE(number.status().message().find("tag 7"), std::string_view::npos);
  }
}

TEST(TaggedFields, DamageIsCorruption) {
  for (const std::string_view hex : {
           "00 00",              // tag zero
           "80 80 80 80 10 00",  // tag 2^32
           "01",                 // no length
           "01 01",              // no value
           "01 05 61 62 63 64",  // a value cut short
           "01 ff ff ff ff ff ff ff ff ff 01 61",
           "80",           // half a tag
           "81 00 00",     // a tag longer than needed
           "01 81 00 61",  // a length longer than needed
           "04 00 02 00",  // descending tags
           "02 00 03 00 01 00",
       }) {
    SCOPED_TRACE(hex);
    const std::string bytes = from_hex(hex);
    EXPECT_EQ(walk(bytes).status.code(), Code::kCorruption);
  }
}

TEST(TaggedFields, ATagThatFallsIsNamed) {
  const std::string bytes = from_hex("04 00 02 00");
  EXPECT_EQ(walk(bytes).status.message(), "tagged field at byte 2: tag 2 follows tag 4");
}

TEST(TaggedFields, AnUnknownEvenFieldIsKeptAsItStood) {
  const std::string bytes = from_hex("02 03 61 62 63 04 00 ac 02 01 ff");
  std::string kept;
  for (const Field& field : walk(bytes).fields) EXPECT_TRUE(keep_unknown(field, "thing", kept).ok());
  EXPECT_EQ(to_hex(kept), to_hex(bytes));
}

TEST(TaggedFields, AnUnknownOddFieldIsUnsupportedAndNamed) {
  std::string kept;
  const Status status = keep_unknown({45, "value"}, "manifest edit", kept);
  EXPECT_EQ(status.code(), Code::kUnsupported);
  EXPECT_NE(status.message().find("manifest edit"), std::string_view::npos);
  EXPECT_NE(status.message().find("45"), std::string_view::npos);
  EXPECT_EQ(kept, "");
}

TEST(TaggedFields, CutAtAnyByteReadsAsPrefixOrDamage) {
  std::string bytes;
  append_field(bytes, 2, "value");
  append_number_field(bytes, 300, 1 << 20);
  append_field(bytes, 302, std::string(130, 'x'));
  std::size_t whole = 0;
  for (std::size_t kept = 0; kept < bytes.size(); ++kept) {
    SCOPED_TRACE(kept);
    const std::string cut = bytes.substr(0, kept);
    const Walk walked = walk(cut);
    EXPECT_EQ(bytes.substr(0, written(walked.fields).size()), written(walked.fields));
    if (walked.status.ok()) {
      ++whole;
      EXPECT_EQ(written(walked.fields), cut);
    } else {
      EXPECT_EQ(walked.status.code(), Code::kCorruption);
    }
  }
  EXPECT_EQ(whole, 3U);  // before each field, and nowhere else
}

TEST(TaggedFields, WhatIsReadIsWhatWouldBeWritten) {
  constexpr std::uint64_t kSeed = 32;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  int accepted = 0;
  for (int step = 0; step < 100'000; ++step) {
    std::string bytes = random.bytes(random.below(16));
    for (char& byte : bytes) {
      if (random.one_in(2)) byte = static_cast<char>(random.below(6));
    }
    const Walk walked = walk(bytes);
    const std::string again = written(walked.fields);
    ASSERT_EQ(again, bytes.substr(0, again.size())) << to_hex(bytes);
    if (!walked.status.ok()) continue;
    ++accepted;
    ASSERT_EQ(again.size(), bytes.size()) << to_hex(bytes);
  }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace varve::format::tagged_fields_test
