// Every limit of an entity, tested below it, at it and above it through the public interface.
#include <gtest/gtest.h>

#include "api/model/entity_codec.h"
#include "format/keys/entity.h"
#include "tests/api/store_bench.h"
#include "tests/support/entity_bytes.h"

namespace varve::entity_limits_test {
namespace {

using namespace test;

class EntityLimits : public ::testing::Test {
 protected:
  void SetUp() override { table_.emplace(bench_.table()); }

  /// Tests every operation that writes an entity. All must give one answer for a new entity.
  void expect_all(const Entity& entity, const Said& expected) {
    ASSERT_EQ(said(table_->insert(entity)), expected);
    if (expected == kFine) {
      const std::optional<Entity> found = read(*table_, entity.partition_key(), entity.row_key());
      ASSERT_TRUE(found.has_value());
      ASSERT_EQ(found->properties().size(), entity.properties().size());
      for (std::size_t i = 0; i < entity.properties().size(); ++i) {
        ASSERT_EQ(found->properties()[i], entity.properties()[i]);
      }
    }
    const Said wanted = expected;
    EXPECT_EQ(said(table_->insert_or_replace(entity)), wanted);
    EXPECT_EQ(said(table_->insert_or_merge(entity)), wanted);
    EXPECT_EQ(said(table_->replace(entity, ETag::any())), wanted);
    EXPECT_EQ(said(table_->merge(entity, ETag::any())), wanted);
    EntityGroupTransaction transaction;
    transaction.insert_or_replace(entity);
    EXPECT_EQ(said(table_->execute(transaction)), wanted);
  }

  static std::string times(std::size_t count, std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out.append(text);
    return out;
  }

  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(EntityLimits, D12_KeysOf1024CodeUnits) {
  for (const std::size_t length : {1023u, 1024u, 1025u}) {
    SCOPED_TRACE(length);
    const Said expected = length <= 1024 ? kFine : kPropertyValueTooLarge;
    expect_all(Entity(times(length, "\xE2\x82\xAC"), "r"), expected);
    expect_all(Entity("p", times(length, "\xE2\x82\xAC")), expected);
  }
  expect_all(Entity(times(1024, "\xE2\x82\xAC"), times(512, "\xF0\x9F\x98\x80")), kFine);
}

TEST_F(EntityLimits, D12_APointReadOrDeleteWithATooLongKeyFindsNothing) {
  for (const std::size_t length : {1024u, 1025u, 5000u}) {
    SCOPED_TRACE(length);
    const std::string key(length, 'k');
    EXPECT_EQ(read(*table_, "p", key), std::nullopt);
    EXPECT_EQ(read(*table_, key, "r"), std::nullopt);
    EXPECT_EQ(said(table_->remove("p", key, ETag::any())), kResourceNotFound);
    EXPECT_EQ(said(table_->remove(key, "r", ETag::any())), kResourceNotFound);
  }
  EXPECT_EQ(said(table_->get("p", std::string(1025, '#'))), kOutOfRangeInput);
}

TEST_F(EntityLimits, D20_NamesOf255Characters) {
  expect_all(Entity("p", "254").set(times(254, "n"), 1), kFine);
  expect_all(Entity("p", "255").set(times(255, "\xE5\x90\x8D"), 1), kFine);
  expect_all(Entity("p", "256").set(times(256, "n"), 1), kPropertyNameTooLong);
}

TEST_F(EntityLimits, D22_252CustomProperties) {
  for (const int count : {251, 252, 253}) {
    SCOPED_TRACE(count);
    Entity entity("p", std::to_string(count));
    for (int i = 0; i < count; ++i) entity.add("N" + std::to_string(i), i);
    expect_all(entity, count <= 252 ? kFine : kTooManyProperties);
  }
}

TEST_F(EntityLimits, D22_ATimestampDoesNotCount) {
  Entity entity("p", "r");
  for (int i = 0; i < 252; ++i) entity.add("N" + std::to_string(i), i);
  entity.add("Timestamp", DateTime());
  EXPECT_EQ(said(table_->insert(entity)), kFine);
}

TEST_F(EntityLimits, D22_TheMergedEntityCounts) {
  Entity entity("p", "r");
  for (int i = 0; i < 251; ++i) entity.add("N" + std::to_string(i), i);
  ASSERT_TRUE(table_->insert(entity).ok());
  EXPECT_EQ(said(table_->merge(Entity("p", "r").set("N0", 7).set("A", 1).set("B", 2), ETag::any())),
            kTooManyProperties);
  EXPECT_EQ(said(table_->insert_or_merge(Entity("p", "r").set("A", 1).set("B", 2))), kTooManyProperties);
  EXPECT_EQ(*read(*table_, "p", "r")->get<std::int32_t>("N0"), 0);
  EXPECT_EQ(said(table_->merge(Entity("p", "r").set("N0", 7).set("A", 1), ETag::any())), kFine);
  EXPECT_EQ(said(table_->merge(Entity("p", "r").set("B", 1), ETag::any())), kTooManyProperties);
}

TEST_F(EntityLimits, D23_TheSamePropertyTwice) {
  expect_all(Entity("p", "few").add("A", 1).add("B", 1).add("A", 2), kDuplicateProperties);
  expect_all(Entity("p", "case").add("A", 1).add("a", 2), kFine);
  Entity many("p", "many");
  for (int i = 0; i < 100; ++i) many.add("N" + std::to_string(i), i);
  many.add("N57", 1);
  expect_all(many, kDuplicateProperties);
  Entity twice("p", "timestamps");
  twice.add("Timestamp", 1).add("Timestamp", 2);
  EXPECT_EQ(said(table_->insert(twice)), kFine);
  twice.add("A", 1).add("A", 1);
  EXPECT_EQ(said(table_->insert_or_replace(twice)), kDuplicateProperties);
}

TEST_F(EntityLimits, D34_DateTimesFrom1601To9999) {
  expect_all(Entity("p", "1").set("D", DateTime{limits::kDateTimeTicksMin - 1}), kOutOfRangeInput);
  expect_all(Entity("p", "2").set("D", DateTime{limits::kDateTimeTicksMin}), kFine);
  expect_all(Entity("p", "3").set("D", DateTime{limits::kDateTimeTicksMax}), kFine);
  expect_all(Entity("p", "4").set("D", DateTime{limits::kDateTimeTicksMax + 1}), kOutOfRangeInput);
}

TEST_F(EntityLimits, D38_StringsOf32768CodeUnits) {
  for (const std::size_t length : {32'767u, 32'768u, 32'769u}) {
    SCOPED_TRACE(length);
    const Said expected = length <= 32'768 ? kFine : kPropertyValueTooLarge;
    expect_all(Entity("a", std::to_string(length)).set("S", times(length, "x")), expected);
    expect_all(Entity("e", std::to_string(length)).set("S", times(length, "\xE2\x82\xAC")), expected);
  }
  expect_all(Entity("f", "1").set("S", times(16'384, "\xF0\x9F\x98\x80")), kFine);
  expect_all(Entity("f", "2").set("S", times(16'384, "\xF0\x9F\x98\x80") + "x"), kPropertyValueTooLarge);
}

TEST_F(EntityLimits, D38_BinariesOf65536Bytes) {
  for (const std::size_t length : {65'535u, 65'536u, 65'537u}) {
    SCOPED_TRACE(length);
    expect_all(Entity("p", std::to_string(length)).set("B", Binary{std::string(length, '\xFF')}),
               length <= 65'536 ? kFine : kPropertyValueTooLarge);
  }
}

TEST_F(EntityLimits, D39_StringsMayHoldControlCharactersButMustBeUtf8) {
  expect_all(Entity("p", "control").set("S", std::string("\0\x01\x7F", 3)), kFine);
  expect_all(Entity("p", "stray").set("S", "\xFF"), kInvalidInput);
  expect_all(Entity("p", "surrogate").set("S", "\xED\xA0\x80"), kInvalidInput);
  expect_all(Entity("p", "name").set("\xFF", 1), kInvalidInput);
  expect_all(Entity("\xFF", "r"), kInvalidInput);
  expect_all(Entity("p", "\xFF"), kInvalidInput);
  EXPECT_EQ(said(table_->get("\xFF", "r")), kInvalidInput);
  EXPECT_EQ(said(table_->remove("p", "\xFF", ETag::any())), kInvalidInput);
}

/// Returns an entity of exactly this many bytes as the limit counts.
Entity entity_of(std::string_view row, std::size_t bytes) {
  Entity entity("p", std::string(row));
  int number = 100;
  for (;;) {
    const std::string name = "N" + std::to_string(number++);
    const std::size_t missing = bytes - accounted_size_bytes(entity);
    const std::size_t around = 8 + 2 * name.size() + 4;
    if (missing <= around + 60'000) return entity.add(name, Binary{std::string(missing - around, 'b')});
    entity.add(name, Binary{std::string(60'000 - around, 'b')});
  }
}

TEST_F(EntityLimits, D62_EntitiesOf1048576AccountedBytes) {
  for (const std::size_t bytes : {1'048'575u, 1'048'576u, 1'048'577u}) {
    SCOPED_TRACE(bytes);
    const Entity entity = entity_of(std::to_string(bytes), bytes);
    ASSERT_EQ(accounted_size_bytes(entity), bytes);
    expect_all(entity, bytes <= 1'048'576 ? kFine : kEntityTooLarge);
  }
}

TEST_F(EntityLimits, D62_OfAMergeTheMergedEntityCounts) {
  const Entity entity = entity_of("r", 1'048'000);
  ASSERT_TRUE(table_->insert(entity).ok());
  const auto addition = [](std::size_t bytes) {
    return Entity("p", "r").set("A", Binary{std::string(bytes - 14, 'a')});
  };
  EXPECT_EQ(said(table_->merge(addition(577), ETag::any())), kEntityTooLarge);
  EXPECT_EQ(said(table_->insert_or_merge(addition(577))), kEntityTooLarge);
  EXPECT_EQ(read(*table_, "p", "r")->find("A"), nullptr);
  EXPECT_EQ(said(table_->merge(addition(576), ETag::any())), kFine);
  // A replaced value does not count.
  EXPECT_EQ(said(table_->merge(Entity("p", "r").set("A", Binary{std::string(562, 'z')}), ETag::any())), kFine);
}

TEST(EntityCodec, AccountsForMergedEntitiesAsForWholeOnes) {
  Entity entity("\xE2\x82\xAC", "r");
  entity.set("S", "\xE2\x82\xAC\xF0\x9F\x98\x80")
      .set("B", Binary{"abc"})
      .set("T", true)
      .set("D", DateTime{limits::kDateTimeTicksMin});
  entity.set("F", 1.0).set("G", Guid()).set("I", 1).set("L", std::int64_t{1}).set("\xE5\x90\x8D", 1);
  const std::string stored = test::encoded_properties(entity);
  const std::size_t size = accounted_size_bytes(entity);
  const std::size_t keys = accounted_key_bytes("\xE2\x82\xAC", "r");
  const std::size_t room = limits::kEntityBytesMax - (size - keys);
  EXPECT_TRUE(merge_properties(stored, test::encoded_properties(Entity()), room).ok());
  EXPECT_EQ(said(merge_properties(stored, test::encoded_properties(Entity()), room + 1)), kEntityTooLarge);

  StoreLimits small;
  small.entity_bytes_max = static_cast<std::uint32_t>(size);
  CheckedProperties learned;
  EXPECT_TRUE(check_properties(entity, small, &learned).ok());
  EXPECT_EQ(learned.size.bytes, stored.size());
  EXPECT_EQ(learned.size.properties, entity.properties().size());
  small.entity_bytes_max = static_cast<std::uint32_t>(size - 1);
  EXPECT_EQ(said(check_properties(entity, small)), kEntityTooLarge);
}

TEST(EntityCodec, DamagedBytesAreToldWithTheKey) {
  const Result<Entity> entity = test::decoded_entity("part", "row", 7, "\x07\x07");
  EXPECT_FALSE(entity.ok());
  EXPECT_NE(entity.status().message().find("'part', 'row'"), std::string_view::npos);
  const std::string good = test::encoded_properties(Entity().set("A", 1));
  for (std::size_t kept = 0; kept < good.size(); ++kept) {
    EXPECT_FALSE(test::decoded_entity("p", "r", 7, std::string_view(good).substr(0, kept)).ok()) << kept;
    EXPECT_FALSE(merge_properties(std::string_view(good).substr(0, kept), good, 4).ok()) << kept;
  }
}

}  // namespace
}  // namespace varve::entity_limits_test
