#include "varve/types.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ratio>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"
#include "varve/limits.h"

namespace varve::types_test {
namespace {

using test::kInvalidInput;
using test::kOutOfRangeInput;
using test::said;

std::string reprinted(std::string_view text) {
  const Result<DateTime> parsed = DateTime::parse(text);
  return parsed.ok() ? parsed->to_string() : std::string(parsed.status().service_error());
}

TEST(DateTimeText, D34_ReadsFractionsAndZones) {
  EXPECT_EQ(reprinted("2026-03-03T10:20:30"), "2026-03-03T10:20:30Z");
  EXPECT_EQ(reprinted("2026-03-03T10:20:30Z"), "2026-03-03T10:20:30Z");
  EXPECT_EQ(reprinted("2026-03-03T11:20:30+01:00"), "2026-03-03T10:20:30Z");
  EXPECT_EQ(reprinted("2026-03-03T00:20:30-10:00"), "2026-03-03T10:20:30Z");
  EXPECT_EQ(reprinted("2026-01-01T00:00:00+00:01"), "2025-12-31T23:59:00Z");
  EXPECT_EQ(reprinted("2024-02-28T23:30:00-00:30"), "2024-02-29T00:00:00Z");
  EXPECT_EQ(reprinted("2026-03-03T10:20:30.4Z"), "2026-03-03T10:20:30.4Z");
  EXPECT_EQ(reprinted("2026-03-03T10:20:30.4767000Z"), "2026-03-03T10:20:30.4767Z");
  EXPECT_EQ(reprinted("2026-03-03T10:20:30.0000001Z"), "2026-03-03T10:20:30.0000001Z");
  EXPECT_EQ(reprinted("2026-03-03T10:20:30.0000000Z"), "2026-03-03T10:20:30Z");
}

TEST(DateTimeText, X16_SecondsOrTheWholeTimeMayBeLeftOut) {
  EXPECT_EQ(reprinted("2026-03-03"), "2026-03-03T00:00:00Z");
  EXPECT_EQ(reprinted("2026-03-03T10:20"), "2026-03-03T10:20:00Z");
  EXPECT_EQ(reprinted("2026-03-03T10:20Z"), "2026-03-03T10:20:00Z");
  EXPECT_EQ(reprinted("2026-03-03T11:20+01:00"), "2026-03-03T10:20:00Z");
  EXPECT_EQ(reprinted("1600-12-31"), "OutOfRangeInput");
}

TEST(DateTimeText, D34_CutsDigitsBeyondTheSeventh) {
  EXPECT_EQ(reprinted("2026-03-03T10:20:30.12345678Z"), "2026-03-03T10:20:30.1234567Z");
  EXPECT_EQ(reprinted("2026-03-03T10:20:30.99999999999999999999999Z"), "2026-03-03T10:20:30.9999999Z");
}

TEST(DateTimeText, D34_KnowsItsRange) {
  EXPECT_EQ(reprinted("1601-01-01T00:00:00Z"), "1601-01-01T00:00:00Z");
  EXPECT_EQ(reprinted("1600-12-31T23:59:59.999Z"), "OutOfRangeInput");
  EXPECT_EQ(reprinted("1600-12-31T23:59:59.9999999Z"), "OutOfRangeInput");
  EXPECT_EQ(reprinted("1601-01-01T00:00:00+00:01"), "OutOfRangeInput");
  EXPECT_EQ(reprinted("1600-12-31T23:59:00-00:01"), "1601-01-01T00:00:00Z");
  EXPECT_EQ(reprinted("0001-01-01T00:00:00Z"), "OutOfRangeInput");
  EXPECT_EQ(reprinted("0000-01-01T00:00:00Z"), "OutOfRangeInput");
  EXPECT_EQ(reprinted("0001-01-01T00:00:00+14:00"), "OutOfRangeInput");
  EXPECT_EQ(reprinted("9999-12-31T23:59:59.9999999Z"), "9999-12-31T23:59:59.9999999Z");
  EXPECT_EQ(reprinted("9999-12-31T23:59:59.9999999-00:01"), "OutOfRangeInput");
  EXPECT_EQ((*DateTime::parse("1601-01-01T00:00:00Z")).ticks, limits::kDateTimeTicksMin);
  EXPECT_EQ((*DateTime::parse("9999-12-31T23:59:59.9999999Z")).ticks, limits::kDateTimeTicksMax);
  EXPECT_EQ((*DateTime::parse("1970-01-01T00:00:00Z")).ticks, 621'355'968'000'000'000u);
}

TEST(DateTimeText, X02_RefusesWhatIsNoDate) {
  for (const std::string_view text : {"",
                                      "2026",
                                      "2026-03",
                                      "2026-03-03Z",
                                      "2026-03-03T",
                                      "2026-03-03T10",
                                      "2026-03-03T10:20:",
                                      "2026-03-03T10:20.5",
                                      "2026-03-03 10:20:30",
                                      "2026-3-03T10:20:30Z",
                                      "2026-13-01T00:00:00Z",
                                      "2026-00-01T00:00:00Z",
                                      "2026-02-29T00:00:00Z",
                                      "2026-04-31T00:00:00Z",
                                      "2026-01-00T00:00:00Z",
                                      "2026-01-32T00:00:00Z",
                                      "2100-02-29T00:00:00Z",
                                      "2026-03-03T24:00:00Z",
                                      "2026-03-03T10:60:30Z",
                                      "2026-03-03T10:20:60Z",
                                      "2026-03-03T10:20:30.Z",
                                      "2026-03-03T10:20:30z",
                                      "2026-03-03t10:20:30Z",
                                      "2026-03-03T10:20:30+1:00",
                                      "2026-03-03T10:20:30+01",
                                      "2026-03-03T10:20:30+15:00",
                                      "2026-03-03T10:20:30+14:01",
                                      "2026-03-03T10:20:30+00:60",
                                      "2026-03-03T10:20:30ZZ",
                                      " 2026-03-03T10:20:30Z",
                                      "2026-03-03T10:20:30Z ",
                                      "-026-03-03T10:20:30Z",
                                      "+2026-03-03T10:20:30Z",
                                      "20260-03-03T10:20:30Z"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(said(DateTime::parse(text)), kInvalidInput);
  }
  EXPECT_TRUE(DateTime::parse("2000-02-29T00:00:00Z").ok());
  EXPECT_TRUE(DateTime::parse("2026-03-03T10:20:30+14:00").ok());
}

TEST(DateTimeText, D35_PrintsEveryDayOfFourHundredYearsAsACalendarWouldAndReadsItBack) {
  constexpr std::uint64_t kTicksPerDay = 864'000'000'000;
  std::uint64_t ticks = (*DateTime::parse("1800-01-01T00:00:00Z")).ticks + 7;
  int year = 1800;
  int month = 1;
  int day = 1;
  while (year < 2201) {
    char expected[64];
    std::snprintf(expected, sizeof(expected), "%04d-%02d-%02dT00:00:00.0000007Z", year, month, day);
    ASSERT_EQ(DateTime{ticks}.to_string(), expected);
    ASSERT_EQ((*DateTime::parse(expected)).ticks, ticks);
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    const int last = month == 2 ? (leap ? 29 : 28) : month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
    ticks += kTicksPerDay;
    if (++day > last) {
      day = 1;
      if (++month > 12) {
        month = 1;
        ++year;
      }
    }
  }
}

TEST(DateTimeText, PrintsTheFirstInstantAndWhatLiesBeyondTheRange) {
  EXPECT_EQ(DateTime{0}.to_string(), "0001-01-01T00:00:00Z");
  EXPECT_EQ(DateTime{limits::kDateTimeTicksMax + 1}.to_string(), "10000-01-01T00:00:00Z");
  EXPECT_EQ(DateTime{UINT64_MAX}.to_string(), "58456-05-28T05:36:10.9551615Z");
  EXPECT_EQ(ETag::of_timestamp(DateTime{limits::kDateTimeTicksMax + 1}).to_string(),
            "W/\"datetime'10000-01-01T00%3A00%3A00Z'\"");
}

TEST(ETagText, D52_IsTheTimestampWithEscapedColons) {
  const DateTime timestamp = *DateTime::parse("2026-03-03T10:20:30.4767Z");
  const ETag etag = ETag::of_timestamp(timestamp);
  EXPECT_EQ(etag.to_string(), "W/\"datetime'2026-03-03T10%3A20%3A30.4767Z'\"");
  EXPECT_EQ(etag.timestamp(), timestamp);
  const Result<ETag> parsed = ETag::parse(etag.to_string());
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(*parsed, etag);
  EXPECT_EQ(*ETag::parse("W/\"datetime'2026-03-03T10%3a20%3a30.4767000Z'\""), etag);
  EXPECT_EQ(*ETag::parse("W/\"datetime'2026-03-03T10:20:30.4767Z'\""), etag);
  EXPECT_NE(*ETag::parse("W/\"datetime'2026-03-03T10%3A20%3A30.4768Z'\""), etag);
}

TEST(ETagText, O02_AStarIsAnyAndNoneIsNeither) {
  ASSERT_TRUE(ETag::parse("*").ok());
  EXPECT_TRUE((*ETag::parse("*")).is_any());
  EXPECT_EQ(ETag::any().to_string(), "*");
  EXPECT_TRUE(ETag().is_none());
  EXPECT_FALSE(ETag().is_any());
  EXPECT_FALSE(ETag::any().is_none());
  EXPECT_EQ(ETag().to_string(), "");
}

TEST(ETagText, O02_RefusesTextWithoutWOrQuotes) {
  for (const std::string_view text : {"",
                                      "**",
                                      "\"*\"",
                                      "W",
                                      "W/",
                                      "W/\"",
                                      "W\"x\"",
                                      "/\"x\"",
                                      "\"datetime'2026-03-03T10%3A20%3A30Z'\"",
                                      "W/\"datetime'2026-03-03T10%3A20%3A30Z'",
                                      "W/\"datetime'",
                                      "W/datetime'2026-03-03T10%3A20%3A30Z'\"",
                                      "W/\"datetime'2026-03-03T10%3A20%3A30Z'\" ",
                                      " W/\"x\"",
                                      "2026-03-03T10:20:30Z",
                                      "W/\"a\", W/\"b\"",
                                      "W/\"a\"b\"",
                                      "W/\"a\nb\"",
                                      "W/\"\x7F\"",
                                      "*, W/\"a\""}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(said(ETag::parse(text)), kInvalidInput);
  }
  EXPECT_EQ(said(ETag::parse(std::string(1 << 20, 'W'))), kInvalidInput);
}

TEST(ETagText, O02_X27_AnyOtherTextIsAForeignETagThatMatchesNothing) {
  std::vector<std::string> inside = {"",
                                     "x",
                                     "0x5B168C7B6E589D2",
                                     "datetime''",
                                     "datetime'2026-03-03'",
                                     "datetime'2026-03-03T10%3A20%3A30'",
                                     "datetime'2026-03-03T10%3A20%3A30+01:00'",
                                     "datetime'1600-03-03T10%3A20%3A30Z'",
                                     "datetime'2026-03-03T10%3A20%3A30.47671234Z'",
                                     "datetime'2026-03-03T10%3A20%3A30.Z'",
                                     "DateTime'2026-03-03T10%3A20%3A30Z'",
                                     "datetime'2026-03-03T10%3A20Z'",
                                     "datetime'2026-03-03T10%3A20%3A30Z' ",
                                     "foreign-1",
                                     "foreign-",
                                     "foreign-ffffffffffffffff",
                                     "\xC3\xA9",
                                     std::string(100'000, '0')};
  std::set<std::string> texts;
  for (const std::string& text : inside) {
    SCOPED_TRACE(text.substr(0, 60));
    const Result<ETag> etag = ETag::parse("W/\"" + text + "\"");
    ASSERT_TRUE(etag.ok());
    EXPECT_TRUE(etag->is_foreign());
    EXPECT_FALSE(etag->is_any() || etag->is_none());
    EXPECT_EQ(*ETag::parse(etag->to_string()), *etag) << "it reads back as itself";
    EXPECT_EQ(*ETag::parse("w/\"" + text + "\""), *etag) << "the prefix is of either case";
    texts.insert(etag->to_string());
  }
  EXPECT_EQ(texts.size(), inside.size()) << "different texts are different ETags";
  EXPECT_FALSE((*ETag::parse("W/\"datetime'2026-03-03T10%3A20%3A30Z'\"")).is_foreign());
  EXPECT_EQ(*ETag::parse("w/\"datetime'2026-03-03T10%3A20%3A30Z'\""),
            *ETag::parse("W/\"datetime'2026-03-03T10:20:30.000Z'\""));
}

TEST(GuidText, D37_ReadsAnyCaseBracesAndBareDigits) {
  const std::string text = "0f1e2d3c-0000-4000-8000-00000000abcd";
  const Result<Guid> guid = Guid::parse(text);
  ASSERT_TRUE(guid.ok());
  EXPECT_EQ(guid->to_string(), text);
  EXPECT_EQ(guid->bytes[0], 0x0F);
  EXPECT_EQ(guid->bytes[15], 0xCD);
  EXPECT_EQ(*Guid::parse("0F1E2D3C-0000-4000-8000-00000000ABCD"), *guid);
  EXPECT_EQ(*Guid::parse("{0f1e2d3c-0000-4000-8000-00000000abcd}"), *guid);
  EXPECT_EQ(*Guid::parse("0f1e2d3c00004000800000000000abcd"), *guid);
  EXPECT_EQ(Guid().to_string(), "00000000-0000-0000-0000-000000000000");
}

TEST(GuidText, D37_RefusesEverythingElse) {
  for (const std::string_view text :
       {"", "0f1e2d3c-0000-4000-8000-00000000abc", "0f1e2d3c-0000-4000-8000-00000000abcde",
        "0f1e2d3c-0000-4000-8000-00000000abcg", "0f1e2d3c00000-4000-8000-00000000abcd",
        "0f1e2d3c-0000-4000-8000000000000abcd", "{0f1e2d3c-0000-4000-8000-00000000abcd",
        "(0f1e2d3c-0000-4000-8000-00000000abcd)", "{0f1e2d3c00004000800000000000abcd}",
        "0f1e2d3c00004000800000000000abc", "0f1e2d3c-0000-4000-8000-0000-000abcd"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(said(Guid::parse(text)), kInvalidInput);
  }
}

TEST(GuidOrder, Q21_IsThatOfTheText) {
  const Guid low = *Guid::parse("00000001-ff00-0000-0000-000000000000");
  const Guid high = *Guid::parse("00000100-0000-0000-0000-000000000000");
  EXPECT_LT(low, high);
  EXPECT_LT(low.to_string(), high.to_string());
}

TEST(Values, EachTypeKnowsItself) {
  EXPECT_EQ(Value(Binary{"\x01"}).type(), PropertyType::kBinary);
  EXPECT_EQ(Value(true).type(), PropertyType::kBoolean);
  EXPECT_EQ(Value(DateTime{5}).type(), PropertyType::kDateTime);
  EXPECT_EQ(Value(1.5).type(), PropertyType::kDouble);
  EXPECT_EQ(Value(Guid()).type(), PropertyType::kGuid);
  EXPECT_EQ(Value(std::int32_t{1}).type(), PropertyType::kInt32);
  EXPECT_EQ(Value(std::int64_t{1}).type(), PropertyType::kInt64);
  EXPECT_EQ(Value("x").type(), PropertyType::kString);
  EXPECT_EQ(Value().type(), PropertyType::kString);
  EXPECT_EQ(property_type_name(Value(std::int64_t{1}).type()), "Edm.Int64");
  EXPECT_EQ(property_type_name(PropertyType::kDateTime), "Edm.DateTime");
}

TEST(Values, NothingBecomesAValueOfATypeItIsNot) {
  EXPECT_FALSE((std::is_constructible_v<Value, std::uint64_t>));
  EXPECT_FALSE((std::is_constructible_v<Value, unsigned long long>));
  EXPECT_FALSE((std::is_constructible_v<Value, long double>));
  EXPECT_FALSE((std::is_constructible_v<Value, char>));
  EXPECT_FALSE((std::is_constructible_v<Value, wchar_t>));
  EXPECT_FALSE((std::is_constructible_v<Value, PropertyType>));
  EXPECT_FALSE((std::is_constructible_v<Value, int*>));
  EXPECT_FALSE((std::is_constructible_v<Value, std::nullptr_t>));
  EXPECT_TRUE((std::is_constructible_v<Value, int>));
  EXPECT_TRUE((std::is_constructible_v<Value, const char*>));
}

template <typename T>
void expect_number(PropertyType type) {
  for (const T number : {std::numeric_limits<T>::lowest(), T(), T(1), std::numeric_limits<T>::max()}) {
    const Value value(number);
    EXPECT_EQ(value.type(), type);
    if (const auto* const narrow = value.get_if<std::int32_t>()) {
      EXPECT_TRUE(std::in_range<std::int32_t>(static_cast<std::int64_t>(number)));
      EXPECT_EQ(static_cast<T>(*narrow), number);
    } else if (const auto* const wide = value.get_if<std::int64_t>()) {
      EXPECT_EQ(static_cast<T>(*wide), number);
      EXPECT_EQ(*wide < 0, static_cast<double>(number) < 0.0);
    } else {
      ASSERT_NE(value.get_if<double>(), nullptr);
      EXPECT_EQ(static_cast<T>(*value.get_if<double>()), number);
    }
  }
}

TEST(Values, ANumberOfAnyWidthKeepsItsValue) {
  expect_number<signed char>(PropertyType::kInt32);
  expect_number<short>(PropertyType::kInt32);
  expect_number<int>(PropertyType::kInt32);
  expect_number<long>(PropertyType::kInt64);
  expect_number<long long>(PropertyType::kInt64);
  expect_number<unsigned char>(PropertyType::kInt64);
  expect_number<unsigned short>(PropertyType::kInt64);
  expect_number<unsigned>(PropertyType::kInt64);
  expect_number<float>(PropertyType::kDouble);
  expect_number<double>(PropertyType::kDouble);
}

TEST(Values, ATemporaryEntityGivesItsPartsByValue) {
  std::string names;
  for (const Property& property : Entity("p", "r").set("A", 1).add("B", std::string(100, 'b')).properties()) {
    names += property.name;
  }
  EXPECT_EQ(names, "AB");
  const Entity& made = Entity(std::string(100, 'p'), "r").set("A", 1);  // lives as long as `made`
  EXPECT_EQ(made.partition_key(), std::string(100, 'p'));
  const std::string& key = Entity(std::string(100, 'p'), "r").partition_key();
  EXPECT_EQ(key.size(), 100u);
}

TEST(DateTimes, NowIsTheTimeOfTheSystemsClock) {
  const auto before = std::chrono::system_clock::now().time_since_epoch();
  const DateTime now = DateTime::now();
  const auto after = std::chrono::system_clock::now().time_since_epoch();
  using Ticks = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;
  const auto since = static_cast<std::int64_t>(now.ticks - 621'355'968'000'000'000);  // since 1970
  EXPECT_GE(since, std::chrono::floor<Ticks>(before).count());
  EXPECT_LE(since, std::chrono::floor<Ticks>(after).count());
}

TEST(Guids, RandomOnesDifferAndNameTheirVersion) {
  std::set<std::string> texts;
  std::array<int, 128> ones{};
  for (int i = 0; i < 2000; ++i) {
    const Guid guid = Guid::random();
    const std::string text = guid.to_string();
    EXPECT_EQ(text[14], '4');
    EXPECT_NE(std::string("89ab").find(text[19]), std::string::npos) << text;
    texts.insert(text);
    for (std::size_t bit = 0; bit < 128; ++bit) ones[bit] += (guid.bytes[bit / 8] >> (bit % 8)) & 1;
  }
  EXPECT_EQ(texts.size(), 2000u);
  int fixed = 0;
  for (const int count : ones) fixed += count < 700 || count > 1300 ? 1 : 0;  // thirteen deviations from 1000
  EXPECT_EQ(fixed, 6);
}

TEST(Values, CompareByTypeAndValue) {
  EXPECT_EQ(Value(1), Value(1));
  EXPECT_NE(Value(1), Value(std::int64_t{1}));
  EXPECT_NE(Value("1"), Value(Binary{"1"}));
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(Value(not_a_number), Value(not_a_number));
}

TEST(EntityProperties, C02_AbsentIsNotAWrongType) {
  Entity entity("p", "r");
  entity.set("Age", 7).set("Name", "Ann");
  EXPECT_EQ(*entity.get<std::int32_t>("Age"), 7);
  EXPECT_EQ(*entity.get<std::string>("Name"), "Ann");
  EXPECT_EQ(entity.get<std::int64_t>("Age").code(), Code::kInvalidArgument);
  EXPECT_NE(entity.get<std::int64_t>("Age").status().message().find("Edm.Int32"), std::string_view::npos);
  EXPECT_EQ(entity.get<std::int32_t>("age").code(), Code::kNotFound);
  EXPECT_EQ(entity.find("age"), nullptr);
}

TEST(EntityProperties, SetReplacesInPlaceAndAddDoesNotLook) {
  Entity entity("p", "r");
  entity.set("A", 1).set("B", 2).set("A", "one");
  ASSERT_EQ(entity.properties().size(), 2u);
  EXPECT_EQ(entity.properties()[0].name, "A");
  EXPECT_EQ(*entity.get<std::string>("A"), "one");
  entity.add("A", 3);
  EXPECT_EQ(entity.properties().size(), 3u);
  EXPECT_TRUE(entity.remove("A"));
  EXPECT_EQ(*entity.get<std::int32_t>("A"), 3);
  EXPECT_TRUE(entity.remove("A"));
  EXPECT_FALSE(entity.remove("A"));
}

TEST(EntitySize, D61_TheWorkedExampleIsNinetyBytes) {
  Entity entity("Sales", "007");
  entity.set("Name", "Ann").set("Age", 7).set("Since", DateTime{limits::kDateTimeTicksMin});
  EXPECT_EQ(accounted_size_bytes(entity), 90u);
}

TEST(EntitySize, D60_BX01_CountsEveryTypeAndCodeUnitsNotBytes) {
  const auto size_with = [](const Value& value) { return accounted_size_bytes(Entity("", "").set("N", value)); };
  constexpr std::size_t kAround = 4 + 8 + 2;
  EXPECT_EQ(size_with(Binary{"abc"}), kAround + 7);
  EXPECT_EQ(size_with(true), kAround + 1);
  EXPECT_EQ(size_with(DateTime()), kAround + 8);
  EXPECT_EQ(size_with(1.0), kAround + 8);
  EXPECT_EQ(size_with(Guid()), kAround + 16);
  EXPECT_EQ(size_with(LargeValue()), kAround + 40);
  EXPECT_EQ(size_with(1), kAround + 4);
  EXPECT_EQ(size_with(std::int64_t{1}), kAround + 8);
  EXPECT_EQ(size_with("abc"), kAround + 10);
  EXPECT_EQ(size_with("\u00E9"), kAround + 6);
  EXPECT_EQ(size_with("\U0001F600"), kAround + 8);
  EXPECT_EQ(accounted_size_bytes(Entity("\u00E9", "\U0001F600")), 4u + 2 + 4);
  EXPECT_EQ(accounted_size_bytes(Entity("", "").set("\u00E9", true)), 4u + 8 + 2 + 1);
  EXPECT_EQ(accounted_size_bytes(Entity("", "").set("Timestamp", "ignored")), 4u);
}

}  // namespace
}  // namespace varve::types_test
