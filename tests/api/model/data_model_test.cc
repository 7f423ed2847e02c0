// The rules of the data model that concern the whole: tables, partitions, types, nulls, Timestamps.
#include <algorithm>
#include <type_traits>

#include <gtest/gtest.h>

#include "tests/api/store_bench.h"

namespace varve::data_model_test {
namespace {

using namespace test;

class DataModel : public ::testing::Test {
 protected:
  void SetUp() override { table_.emplace(bench_.table()); }
  Table& table() { return *table_; }

  StoreBench bench_;
  std::optional<Table> table_;
};

TEST_F(DataModel, D01_EntitiesOfOneTableNeedHaveNothingInCommonButUniqueKeys) {
  ASSERT_TRUE(table().insert(Entity("p", "1").set("A", 1).set("B", "x")).ok());
  ASSERT_TRUE(table().insert(Entity("p", "2").set("A", "one").set("C", true)).ok());
  ASSERT_TRUE(table().insert(Entity("p", "3")).ok());
  ASSERT_TRUE(table().insert(Entity("q", "1").set("A", 1.5)).ok());
  EXPECT_EQ(said(table().insert(Entity("p", "1").set("D", 1))), kEntityAlreadyExists);
  EXPECT_EQ(read(table(), "p", "1")->find("A")->type(), PropertyType::kInt32);
  EXPECT_EQ(read(table(), "p", "2")->find("A")->type(), PropertyType::kString);
  EXPECT_EQ(read(table(), "q", "1")->find("A")->type(), PropertyType::kDouble);
  EXPECT_TRUE(read(table(), "p", "3")->properties().empty());
}

TEST_F(DataModel, D01_TheSameKeysInAnotherTableOrAccountAreAnotherEntity) {
  Table other = bench_.table("Others");
  ASSERT_TRUE(bench_.store->create_account("second").ok());
  Result<Table> far = bench_.store->create_table("second", "Orders");
  ASSERT_TRUE(far.ok());
  ASSERT_TRUE(table().insert(with_value("p", "r", "here")).ok());
  ASSERT_TRUE(other.insert(with_value("p", "r", "beside")).ok());
  ASSERT_TRUE(far->insert(with_value("p", "r", "far")).ok());
  ASSERT_TRUE(other.remove("p", "r", ETag::any()).ok());
  EXPECT_EQ(value_in(table(), "p", "r"), "here");
  EXPECT_EQ(value_in(other, "p", "r"), "-");
  EXPECT_EQ(value_in(*far, "p", "r"), "far");
}

TEST_F(DataModel, D02_APartitionIsTheEntitiesOfOnePartitionKeyAndTransactionsWorkInIt) {
  EntityGroupTransaction whole;
  whole.insert(with_value("p", "1", "x")).insert(with_value("p", "2", "x"));
  ASSERT_TRUE(table().execute(whole).ok());
  ASSERT_TRUE(table().insert(with_value("P", "1", "x")).ok());
  ASSERT_TRUE(table().insert(with_value("pp", "1", "x")).ok());
  Scan scan;
  scan.range = ScanRange::partition("p");
  EXPECT_EQ(keys_of(*table().scan(scan)), (std::vector<std::string>{"p/1", "p/2"}));
  EntityGroupTransaction across;
  across.insert(with_value("p", "3", "x")).insert(with_value("P", "3", "x"));
  EXPECT_EQ(said(table().execute(across)), kDifferentPartitions);
  EXPECT_EQ(value_in(table(), "p", "3"), "-");
}

TEST_F(DataModel, D05_NoTableIsCalledTablesInAnyCase) {
  for (const std::string_view name : {"tables", "Tables", "TABLES", "tAbLeS"}) {
    EXPECT_EQ(said(bench_.store->create_table(kAccount, name)), kInvalidInput) << name;
    EXPECT_EQ(said(bench_.store->open_table(kAccount, name)), kTableNotFound) << name;
    EXPECT_EQ(said(bench_.store->drop_table(kAccount, name)), kResourceNotFound) << name;
  }
  EXPECT_EQ(said(bench_.store->create_table(kAccount, "tables2")), kFine);
}

TEST_F(DataModel, D15_AControlCharacterSeparatesThePartsOfALongerKeyAndKeepsTheirOrder) {
  const std::vector<std::string> parts = {
      "", " ", "!", "a", "a ", "a!", "aa", "b", "\xC3\xA4", "\xE2\x82\xAC", "\xEF\xBF\xBD"};
  std::vector<std::string> composed;
  for (const std::string& partition : parts) {
    for (const std::string& row : parts) {
      ASSERT_EQ(said(table().insert(Entity(partition, row))), kFine);
      composed.push_back(partition + "\x1F" + row);
    }
  }
  std::sort(composed.begin(), composed.end());
  std::vector<std::string> stored;
  const Result<Page> page = table().scan(Scan{});
  ASSERT_TRUE(page.ok());
  for (const Entity& entity : page->entities) stored.push_back(entity.partition_key() + "\x1F" + entity.row_key());
  EXPECT_EQ(stored, composed);
  for (char separator = 0; separator < 0x20; ++separator) {
    EXPECT_EQ(said(table().insert(Entity("p", std::string("a") + separator))), kOutOfRangeInput) << int{separator};
  }
}

template <typename T>
constexpr bool kIsAValue = std::is_constructible_v<Value, T>;

TEST(ValueTypes, D40_ThereAreEightAndNothingElseBecomesAValue) {
  // The eight types of the service, and LargeValue, which the service shows as a String.
  static_assert(std::variant_size_v<Value::Variant> == 9 && kIsAValue<LargeValue>);
  static_assert(kIsAValue<Binary> && kIsAValue<bool> && kIsAValue<DateTime> && kIsAValue<double> && kIsAValue<Guid> &&
                kIsAValue<std::int32_t> && kIsAValue<std::int64_t> && kIsAValue<std::string>);
  // A number of another width becomes one of the eight without loss, or is refused.
  static_assert(kIsAValue<std::uint32_t> && kIsAValue<float> && !kIsAValue<std::uint64_t> && !kIsAValue<long double>);
  static_assert(!kIsAValue<std::chrono::nanoseconds> && !kIsAValue<const void*> && !kIsAValue<std::nullptr_t>);
  int found = 0;
  for (int number = 0; number < 256; ++number) {
    if (property_type_name(static_cast<PropertyType>(number)).starts_with("Edm.")) ++found;
  }
  EXPECT_EQ(found, 8);
}

TEST_F(DataModel, D45_WhatAWriteDoesNotBringIsKeptByMergesAndGoneAfterReplaces) {
  Entity entity("p", "r");
  entity.set("Kept", 1).set("V", "x");
  ASSERT_TRUE(table().insert(entity).ok());
  entity.remove("Kept");
  ASSERT_TRUE(table().merge(entity, ETag::any()).ok());
  EXPECT_NE(read(table(), "p", "r")->find("Kept"), nullptr);
  ASSERT_TRUE(table().insert_or_merge(entity).ok());
  EXPECT_NE(read(table(), "p", "r")->find("Kept"), nullptr);
  ASSERT_TRUE(table().replace(entity, ETag::any()).ok());
  EXPECT_EQ(read(table(), "p", "r")->find("Kept"), nullptr);
  ASSERT_TRUE(table().merge(Entity("p", "r").set("Kept", 2), ETag::any()).ok());
  ASSERT_TRUE(table().insert_or_replace(entity).ok());
  EXPECT_EQ(read(table(), "p", "r")->find("Kept"), nullptr);
}

TEST_F(DataModel, D46_WhatASelectionNamesAndAnEntityLacksIsNotThere) {
  ASSERT_TRUE(table().insert(Entity("p", "1").set("A", 1).set("B", "")).ok());
  ASSERT_TRUE(table().insert(Entity("p", "2").set("C", 1)).ok());
  Scan scan;
  scan.read.select = {"A", "B", "Never"};
  const Result<Page> page = table().scan(scan);
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(keys_of(*page), (std::vector<std::string>{"p/1", "p/2"}));
  EXPECT_EQ(page->entities[0].properties().size(), 2u);
  EXPECT_EQ(*page->entities[0].find("B"), Value(""));  // an empty value, which is not absent
  EXPECT_EQ(page->entities[0].find("Never"), nullptr);
  EXPECT_TRUE(page->entities[1].properties().empty());
  EXPECT_EQ(page->entities[1].get<std::string>("B").code(), Code::kNotFound);
}

TEST_F(DataModel, D54_TheTimestampIsFilteredOnAsADateTimeByReadingEverything) {
  std::vector<DateTime> written;
  for (int i = 0; i < 5; ++i) {
    const Result<ETag> etag = table().insert(with_value("p", std::to_string(i), "x"));
    ASSERT_TRUE(etag.ok());
    written.push_back(etag->timestamp());
  }
  const auto matches = [&](const std::string& operation) {
    Scan scan;
    scan.filter = "Timestamp " + operation + " datetime'" + written[2].to_string() + "'";
    const Result<Page> page = table().scan(scan);
    EXPECT_TRUE(page.ok()) << page.status().to_string();
    if (!page.ok()) return std::vector<std::string>();
    EXPECT_EQ(page->cost.entities_examined, 5u) << operation;
    return keys_of(*page);
  };
  using Keys = std::vector<std::string>;
  EXPECT_EQ(matches("eq"), (Keys{"p/2"}));
  EXPECT_EQ(matches("ne"), (Keys{"p/0", "p/1", "p/3", "p/4"}));
  EXPECT_EQ(matches("lt"), (Keys{"p/0", "p/1"}));
  EXPECT_EQ(matches("le"), (Keys{"p/0", "p/1", "p/2"}));
  EXPECT_EQ(matches("gt"), (Keys{"p/3", "p/4"}));
  EXPECT_EQ(matches("ge"), (Keys{"p/2", "p/3", "p/4"}));
}

}  // namespace
}  // namespace varve::data_model_test
