// Owns: the proof that an entity is read in place as it was built, and that damage never causes reads outside.
#include "format/keys/entity.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "format/bytes/bytes.h"
#include "format/keys/property_reader.h"
#include "format/keys/sort_key.h"
#include "tests/format/hex_text.h"
#include "tests/format/hostile_text.h"
#include "tests/format/random_values.h"

namespace varve::format::entity_test {
namespace {

constexpr GuidBytes kGuid = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                             0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF};
constexpr std::uint64_t kTicksMax = 3'155'378'975'999'999'999;
constexpr std::size_t kSlotBytes = 8;
constexpr std::size_t kHeadBytes = 4;

struct OwnedProperty {
  std::string name;
  PropertyType type = PropertyType::kString;
  std::string value;
  bool operator==(const OwnedProperty&) const = default;
};

OwnedProperty owned(const PropertyView& view) {
  return {std::string(view.name), view.type, std::string(view.value)};
}

std::string built(const std::vector<OwnedProperty>& properties) {
  EntityBuilder builder;
  for (const OwnedProperty& property : properties) builder.add({property.name, property.type, property.value});
  return builder.finish();
}

EncodedEntity opened(std::string_view bytes) {
  const Result<EncodedEntity> view = EncodedEntity::open(bytes);
  EXPECT_TRUE(view.ok()) << view.status().to_string();
  return view.ok() ? *view : EncodedEntity();
}

std::string one_of_each() {
  EntityBuilder builder;
  builder.add_binary("Binary", std::string_view("\0\xFF\x01", 3));
  builder.add_boolean("Boolean", true);
  builder.add_date_time("DateTime", kTicksMax);
  builder.add_double("Double", -0.25);
  builder.add_guid("Guid", kGuid);
  builder.add_int32("Int32", -2);
  builder.add_int64("Int64", std::numeric_limits<std::int64_t>::min());
  builder.add_string("String", "text");
  builder.add_large_value("LargeValue", {0x0123456789ABCDEF, 1'000'000});
  EXPECT_EQ(builder.property_count(), 9U);
  return builder.finish();
}

/// Reads everything that an accepted entity offers. The address sanitizer detects reads outside.
void read_through(const EncodedEntity& view) {
  for (std::size_t i = 0; i < view.property_count(); ++i) {
    const PropertyView property = view.property(i);
    switch (property.type) {
      case PropertyType::kBoolean: (void)property.as_boolean(); break;
      case PropertyType::kDateTime: (void)property.as_date_time_ticks(); break;
      case PropertyType::kDouble: (void)property.as_double(); break;
      case PropertyType::kGuid: (void)property.as_guid(); break;
      case PropertyType::kInt32: (void)property.as_int32(); break;
      case PropertyType::kInt64: (void)property.as_int64(); break;
      case PropertyType::kLargeValue: (void)property.as_large_value(); break;
      case PropertyType::kBinary:
      case PropertyType::kString: EXPECT_EQ(std::string(property.value).size(), property.value.size()); break;
      default: ADD_FAILURE() << "type " << static_cast<int>(property.type);
    }
    const std::optional<PropertyView> found = view.find(property.name);
    EXPECT_TRUE(!found.has_value() || found->name == property.name);
  }
}

/// Returns all properties as a PropertyReader reads them, or nothing if it refuses one.
std::optional<std::vector<OwnedProperty>> read_in_one_pass(std::string_view bytes) {
  std::vector<OwnedProperty> read;
  PropertyReader reader;
  if (!reader.open(bytes)) return std::nullopt;
  for (std::size_t i = 0; i < reader.property_count(); ++i) {
    PropertyView property;
    if (!reader.next(property)) return std::nullopt;
    read.push_back(owned(property));
  }
  return read;
}

/// Opens a copy whose memory ends with its bytes. An accepted entity is read completely. Since its frame has no gaps,
/// it is also rebuilt to equal bytes, except the hashes of names, which `verify` checks.
Status judge(std::string_view bytes) {
  const std::unique_ptr<char[]> tight(new char[bytes.size()]);
  bytes.copy(tight.get(), bytes.size());
  const Result<EncodedEntity> view = EncodedEntity::open({tight.get(), bytes.size()});
  const std::optional<std::vector<OwnedProperty>> read = read_in_one_pass({tight.get(), bytes.size()});
  EXPECT_EQ(read.has_value(), view.ok()) << to_hex(bytes);
  if (!view.ok()) return view.status();
  if (read) {
    EXPECT_EQ(read->size(), view->property_count());
    for (std::size_t i = 0; i < read->size(); ++i) EXPECT_EQ((*read)[i], owned(view->property(i))) << i;
  }
  read_through(*view);
  const Status verified = view->verify();

  EntityBuilder again;
  for (std::size_t i = 0; i < view->property_count(); ++i) again.add(view->property(i));
  std::string rebuilt = again.finish();
  EXPECT_TRUE(!verified.ok() || rebuilt == bytes) << to_hex(rebuilt) << "\nfrom\n" << to_hex(bytes);
  for (std::size_t i = 0; i < view->property_count() && rebuilt.size() == bytes.size(); ++i) {
    rebuilt.replace(kHeadBytes + i * kSlotBytes, 2, bytes.substr(kHeadBytes + i * kSlotBytes, 2));
  }
  EXPECT_EQ(to_hex(rebuilt), to_hex(bytes));
  return verified;
}

std::string random_value(PropertyType type, RandomValues& random) {
  switch (type) {
    case PropertyType::kBinary: return random.bytes(random.below(40));
    case PropertyType::kBoolean: return {static_cast<char>(random.below(2))};
    case PropertyType::kDateTime: {
      std::string ticks;
      append_u64(ticks, random.below(kTicksMax + 1));
      return ticks;
    }
    case PropertyType::kDouble:
    case PropertyType::kInt64: return random.bytes(8);
    case PropertyType::kGuid:
    case PropertyType::kLargeValue: return random.bytes(16);
    case PropertyType::kInt32: return random.bytes(4);
    case PropertyType::kString: return hostile_text(random);
  }
  return "";
}

std::vector<OwnedProperty> random_properties(RandomValues& random) {
  std::vector<OwnedProperty> properties(random.one_in(20) ? random.below(253) : random.below(8));
  for (std::size_t i = 0; i < properties.size(); ++i) {
    const auto type = static_cast<PropertyType>(1 + random.below(9));
    // The names differ after the last letter. Some are as long as a name may be.
    std::string name = hostile_text(random) + "#" + std::to_string(i);
    if (random.one_in(50)) name.insert(0, 4095 - name.size(), 'n');
    properties[i] = {std::move(name), type, random_value(type, random)};
  }
  return properties;
}

TEST(Entity, EveryTypeIsReadAsItWasGiven) {
  const std::string bytes = one_of_each();
  const EncodedEntity view = opened(bytes);
  ASSERT_EQ(view.property_count(), 9U);
  EXPECT_TRUE(view.verify().ok());
  EXPECT_EQ(view.find("Binary")->value, std::string_view("\0\xFF\x01", 3));
  EXPECT_TRUE(view.find("Boolean")->as_boolean());
  EXPECT_EQ(view.find("DateTime")->as_date_time_ticks(), kTicksMax);
  EXPECT_EQ(view.find("Double")->as_double(), -0.25);
  EXPECT_EQ(view.find("Guid")->as_guid(), kGuid);
  EXPECT_EQ(view.find("Int32")->as_int32(), -2);
  EXPECT_EQ(view.find("Int64")->as_int64(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(view.find("String")->value, "text");
  EXPECT_EQ(view.find("String")->type, PropertyType::kString);
  EXPECT_EQ(view.find("LargeValue")->as_large_value().content, 0x0123456789ABCDEFU);
  EXPECT_EQ(view.find("LargeValue")->as_large_value().length, 1'000'000U);
  EXPECT_FALSE(view.find("string").has_value());
  EXPECT_FALSE(view.find("").has_value());
}

TEST(Entity, ExtremesOfNumbersSurvive) {
  EntityBuilder builder;
  builder.add_boolean("false", false);
  builder.add_date_time("zero", 0);
  builder.add_double("minus zero", -0.0);
  builder.add_double("infinity", -std::numeric_limits<double>::infinity());
  builder.add_double("nan", std::bit_cast<double>(0x7FF8000000000123));
  builder.add_double("tiny", std::numeric_limits<double>::denorm_min());
  builder.add_int32("min", std::numeric_limits<std::int32_t>::min());
  builder.add_int32("max", std::numeric_limits<std::int32_t>::max());
  builder.add_int64("max64", std::numeric_limits<std::int64_t>::max());
  builder.add_int64("-1", -1);
  builder.add_string("empty", "");
  builder.add_binary("none", "");
  const std::string bytes = builder.finish();
  const EncodedEntity view = opened(bytes);
  EXPECT_TRUE(view.verify().ok());
  EXPECT_FALSE(view.find("false")->as_boolean());
  EXPECT_EQ(view.find("zero")->as_date_time_ticks(), 0U);
  EXPECT_TRUE(std::signbit(view.find("minus zero")->as_double()));
  EXPECT_EQ(view.find("infinity")->as_double(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(std::bit_cast<std::uint64_t>(view.find("nan")->as_double()), 0x7FF8000000000123U);
  EXPECT_EQ(view.find("tiny")->as_double(), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(view.find("min")->as_int32(), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(view.find("max")->as_int32(), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(view.find("max64")->as_int64(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(view.find("-1")->as_int64(), -1);
  EXPECT_EQ(view.find("empty")->value, "");
  EXPECT_EQ(view.find("none")->value, "");
}

TEST(Entity, RandomEntitiesRoundTrip) {
  constexpr std::uint64_t kSeed = 81;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  for (int step = 0; step < 3000; ++step) {
    const std::vector<OwnedProperty> properties = random_properties(random);
    const std::string bytes = built(properties);
    ASSERT_TRUE(judge(bytes).ok());
    const EncodedEntity view = opened(bytes);
    ASSERT_EQ(view.property_count(), properties.size());
    for (std::size_t i = 0; i < properties.size(); ++i) {
      ASSERT_EQ(owned(view.property(i)), properties[i]);
      const std::optional<PropertyView> found = view.find(properties[i].name);
      ASSERT_TRUE(found.has_value());
      ASSERT_EQ(found->value.data(), view.property(i).value.data());
    }
    ASSERT_FALSE(view.find("no such name").has_value());
  }
}

TEST(Entity, AnEntityWithoutPropertiesIsFourBytes) {
  EntityBuilder builder;
  const std::string bytes = builder.finish();
  EXPECT_EQ(to_hex(bytes), "01 00 00 00");
  EXPECT_EQ(opened(bytes).property_count(), 0U);
  EXPECT_FALSE(opened(bytes).find("").has_value());
  EXPECT_EQ(EncodedEntity().property_count(), 0U);
  EXPECT_FALSE(EncodedEntity().find("name").has_value());
  EXPECT_TRUE(EncodedEntity().verify().ok());
}

TEST(Entity, TheBuilderIsEmptyAgainWhenItHasFinished) {
  EntityBuilder builder;
  builder.add_int32("first", 1);
  const std::string first = builder.finish();
  EXPECT_EQ(builder.property_count(), 0U);
  builder.add_int32("first", 1);
  EXPECT_EQ(builder.finish(), first);
}

TEST(Entity, MadeInPlaceIsTheSameBehindWhatWasThere) {
  constexpr std::uint64_t kSeed = 83;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  EntityBuilder in_place;
  for (int round = 0; round < 500; ++round) {
    const std::vector<OwnedProperty> properties = random_properties(random);
    std::size_t bytes = 0;
    std::string before(random.below(40), 'b');
    in_place.begin_behind(before, properties.size());
    for (const OwnedProperty& property : properties) {
      in_place.add({property.name, property.type, property.value});
      bytes += property.name.size() + property.value.size();
    }
    const std::string made = in_place.finish_in_place();
    ASSERT_EQ(made, before + built(properties));
    ASSERT_EQ(made.size(), before.size() + EntityBuilder::entity_bytes(properties.size(), bytes));
  }
  EXPECT_EQ(in_place.finish(), built({})) << "it is empty again, and makes entities as before";
}

TEST(Entity, OfANameThatStandsTwiceTheFirstIsFound) {
  EntityBuilder builder;
  builder.add_int32("other", 0);
  builder.add_int32("twice", 1);
  builder.add_string("twice", "second");
  const std::string bytes = builder.finish();
  const EncodedEntity view = opened(bytes);
  EXPECT_EQ(view.property_count(), 3U);
  EXPECT_EQ(view.find("twice")->as_int32(), 1);
}

TEST(Entity, NamesThatShareAHashAreToldApart) {
  // Hashes have sixteen bits, so some of a few hundred names of one length share theirs.
  std::vector<OwnedProperty> properties;
  for (int i = 1000; i < 3000; ++i)
    properties.push_back({std::to_string(i), PropertyType::kString, std::to_string(-i)});
  const std::string bytes = built(properties);
  const EncodedEntity view = opened(bytes);
  std::vector<std::uint16_t> hashes;
  for (std::size_t i = 0; i < properties.size(); ++i) hashes.push_back(load_u16(bytes.data() + kHeadBytes + i * 8));
  std::sort(hashes.begin(), hashes.end());
  ASSERT_NE(std::adjacent_find(hashes.begin(), hashes.end()), hashes.end()) << "no hash is shared: nothing is tested";
  for (const OwnedProperty& property : properties) {
    ASSERT_TRUE(view.find(property.name).has_value());
    ASSERT_EQ(view.find(property.name)->value, property.value);
  }
}

TEST(Entity, FindDoesNotReadValues) {
  // With other values in place of these, and without verification, the answer is the same.
  std::string bytes = built({{"a", PropertyType::kString, "aaaa"}, {"b", PropertyType::kString, "bbbb"}});
  const std::size_t values = kHeadBytes + 2 * kSlotBytes;
  bytes.replace(values + 1, 4, 4, '\xFF');
  const EncodedEntity view = opened(bytes);
  EXPECT_EQ(view.find("b")->value, "bbbb");
  EXPECT_EQ(view.find("a")->value, "\xFF\xFF\xFF\xFF");
  EXPECT_EQ(view.verify().code(), Code::kCorruption);
}

TEST(Entity, TheLongestNameAndTheMostPropertiesFit) {
  EntityBuilder builder;
  const std::string longest(4095, 'n');
  builder.add_int32(longest, 7);
  const std::string bytes = builder.finish();
  EXPECT_EQ(opened(bytes).find(longest)->as_int32(), 7);
  EXPECT_FALSE(opened(bytes).find(std::string(4096, 'n')).has_value());
  EXPECT_FALSE(opened(bytes).find(std::string(4095 + 4096, 'n')).has_value());

  EntityBuilder many;
  for (int i = 0; i < 65'535; ++i) many.add_boolean("", i % 2 == 0);
  const std::string all = many.finish();
  const EncodedEntity view = opened(all);
  ASSERT_EQ(view.property_count(), 65'535U);
  EXPECT_TRUE(view.verify().ok());
  EXPECT_TRUE(view.property(65'534).as_boolean());
  EXPECT_FALSE(view.property(65'533).as_boolean());
}

TEST(Entity, CutAtAnyByteItIsRefusedOrReadsInside) {
  const std::string bytes = one_of_each();
  std::size_t accepted = 0;
  for (std::size_t kept = 0; kept < bytes.size(); ++kept) {
    SCOPED_TRACE(kept);
    const Status status = judge(std::string_view(bytes).substr(0, kept));
    if (status.ok()) {
      ++accepted;
    } else {
      EXPECT_EQ(status.code(), Code::kCorruption);
    }
  }
  EXPECT_EQ(accepted, 0U);  // the last property is a LargeValue, whose length is fixed
}

TEST(Entity, EverySingleChangedByteIsRefusedOrReadsInside) {
  const std::string whole = one_of_each();
  std::size_t accepted = 0;
  for (std::size_t place = 0; place < whole.size(); ++place) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = whole;
      changed[place] = static_cast<char>(byte);
      const Status status = judge(changed);
      accepted += status.ok() ? 1U : 0U;
      ASSERT_TRUE(status.ok() || status.code() == Code::kCorruption || status.code() == Code::kUnsupported);
      if (HasFailure()) FAIL() << "byte " << place << " as " << byte;
    }
  }
  EXPECT_GT(accepted, whole.size());
}

TEST(Entity, RandomDamageIsRefusedOrReadsInside) {
  constexpr std::uint64_t kSeed = 82;
  SCOPED_TRACE(kSeed);
  RandomValues random(kSeed);
  int accepted = 0;
  for (int step = 0; step < 30'000; ++step) {
    std::vector<OwnedProperty> properties(1 + random.below(4));
    for (OwnedProperty& property : properties) {
      property.type = static_cast<PropertyType>(1 + random.below(8));
      property.name = hostile_text(random);
      property.value = random_value(property.type, random);
    }
    std::string bytes = mutated(built(properties), random);
    if (random.one_in(2)) bytes = mutated(bytes, random);
    const Status status = judge(bytes);
    accepted += status.ok() ? 1 : 0;
    ASSERT_TRUE(status.ok() || status.code() == Code::kCorruption || status.code() == Code::kUnsupported);
    if (HasFailure()) FAIL() << to_hex(bytes);
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_LT(accepted, 27'000);
}

TEST(Entity, AnotherEncodingFlagOrTypeIsUnsupported) {
  const std::string whole = built({{"n", PropertyType::kString, "v"}});
  for (int byte = 0; byte < 256; ++byte) {
    SCOPED_TRACE(byte);
    std::string encoding = whole;
    encoding[0] = static_cast<char>(byte);
    EXPECT_EQ(EncodedEntity::open(encoding).code(), byte == 1 ? Code::kOk : Code::kUnsupported);
    std::string flags = whole;
    flags[1] = static_cast<char>(byte);
    EXPECT_EQ(EncodedEntity::open(flags).code(), byte == 0 ? Code::kOk : Code::kUnsupported);
  }
  for (int type = 0; type < 16; ++type) {
    SCOPED_TRACE(type);
    std::string bytes = whole;
    bytes[kHeadBytes + 2] = static_cast<char>((bytes[kHeadBytes + 2] & 0xF0) | type);
    const Code code = EncodedEntity::open(bytes).code();
    if (type == 0 || type > 9) {
      EXPECT_EQ(code, Code::kUnsupported);
    } else {  // one byte is a Binary, a Boolean, a String
      EXPECT_EQ(code, type == 1 || type == 2 || type == 8 ? Code::kOk : Code::kCorruption);
    }
  }
}

TEST(Entity, AFrameThatDoesNotFitIsCorruption) {
  for (const std::string_view hex : {
           "", "01", "01 00", "01 00 00",                                        // less than a head
           "01 00 00 00 00",                                                     // bytes that belong to nothing
           "01 00 01 00",                                                        // no slot
           "01 00 01 00 00 00 18 00 0c 00 00",                                   // half a slot
           "01 00 01 00 00 00 18 00 0c 00 00 00",                                // a name after the end
           "01 00 01 00 00 00 18 00 0d 00 00 00 61 62",                          // a gap before the name
           "01 00 01 00 00 00 18 00 0b 00 00 00 61 62",                          // a name inside its slot
           "01 00 01 00 00 00 18 00 ff ff ff ff 61 62",                          // an offset beyond reason
           "01 00 01 00 00 00 f8 ff 0c 00 00 00 61 62",                          // a name longer than the entity
           "01 00 01 00 00 00 12 00 0c 00 00 00 61",                             // a Boolean without a byte
           "01 00 01 00 00 00 12 00 0c 00 00 00 61 00 00",                       // with two
           "01 00 02 00 00 00 18 00 14 00 00 00 00 00 18 00 13 00 00 00 61 62",  // descending offsets
           "01 00 02 00 00 00 18 00 14 00 00 00 00 00 18 00 17 00 00 00 61 62",  // the second after the end
           "01 00 02 00 00 00 28 00 14 00 00 00 00 00 08 00 15 00 00 00 61 62",  // a name into the next property
       }) {
    SCOPED_TRACE(hex);
    EXPECT_EQ(judge(from_hex(hex)).code(), Code::kCorruption);
    EXPECT_FALSE(EncodedEntity::open(from_hex(hex)).ok());
  }
}

TEST(Entity, VerifyFindsWhatOpenDoesNotLookAt) {
  const auto verify = [](const std::vector<OwnedProperty>& properties) {
    const std::string bytes = built(properties);
    return opened(bytes).verify();
  };
  const auto ticks = [](std::uint64_t value) {
    std::string bytes;
    append_u64(bytes, value);
    return bytes;
  };
  const OwnedProperty good = {"good", PropertyType::kInt32, "1234"};
  EXPECT_TRUE(verify({good}).ok());
  EXPECT_EQ(verify({good, {"b", PropertyType::kBoolean, "\x02"}}).code(), Code::kCorruption);
  EXPECT_TRUE(verify({good, {"b", PropertyType::kBoolean, "\x01"}}).ok());
  EXPECT_EQ(verify({good, {"d", PropertyType::kDateTime, ticks(kTicksMax + 1)}}).code(), Code::kCorruption);
  EXPECT_TRUE(verify({good, {"d", PropertyType::kDateTime, ticks(kTicksMax)}}).ok());
  EXPECT_EQ(verify({good, {"s", PropertyType::kString, "\xED\xA0\x80"}}).code(), Code::kCorruption);
  EXPECT_TRUE(verify({good, {"s", PropertyType::kBinary, "\xED\xA0\x80"}}).ok());
  const Status name = verify({good, {"\xFF", PropertyType::kString, ""}});
  EXPECT_EQ(name.code(), Code::kCorruption);
  EXPECT_NE(name.message().find("property 1"), std::string_view::npos) << name.message();

  std::string bytes = built({good});
  bytes[kHeadBytes] = static_cast<char>(bytes[kHeadBytes] ^ 1);
  EXPECT_EQ(opened(bytes).verify().code(), Code::kCorruption);
}

}  // namespace
}  // namespace varve::format::entity_test
